/*
 * exit in one thread ends the process at once, whatever the others wait for; its code is the
 * process's.
 */
#include "guest.h"
#include <poll.h>
#include <pthread.h>
#include <sys/select.h>

static int gate[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t free_one = PTHREAD_MUTEX_INITIALIZER;

static void *park(void *arg)
{
	char c;
	sigset_t set;

	switch ((long)arg) {
	case 0:
		(void)!read(gate[0], &c, 1);
		break;
	case 1:
		pthread_mutex_lock(&held);
		break;
	case 2:
		sleep(1000);
		break;
	case 3:
		poll(NULL, 0, -1);
		break;
	case 4:
		pause();
		break;
	case 5:
		select(0, NULL, NULL, NULL, NULL);
		break;
	case 6:
		pthread_mutex_lock(&free_one);
		pthread_cond_wait(&never, &free_one);
		break;
	case 7:
		sigemptyset(&set);
		sigaddset(&set, SIGUSR2);
		sigwaitinfo(&set, NULL);
		break;
	}
	return NULL;
}

static void *leave(void *arg)
{
	usleep(50000);
	exit((int)(long)arg);
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	for (int round = 0; round < 4; round++) {
		pid_t pid = xfork();
		if (pid == 0) {
			pthread_t t;
			sigset_t set;
			(void)!pipe(gate);
			sigfillset(&set);
			pthread_sigmask(SIG_BLOCK, &set, NULL);
			pthread_mutex_lock(&held);
			for (long i = 0; i < 8; i++)
				pthread_create(&t, NULL, park, (void *)i);
			if (round & 1) {
				pthread_create(&t, NULL, leave, (void *)(long)(20 + round));
				park((void *)0);
			}
			usleep(round * 20000);
			_exit(20 + round);
		}
		show_status("round", xwait(pid));
	}
	return 0;
}
