/*
 * SIGKILL and other fatal signals end a process at once, whatever its 8 threads wait for; the
 * status names the signal.
 */
#include "guest.h"
#include <poll.h>
#include <pthread.h>

static int gate[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *park(void *arg)
{
	long kind = (long)arg;
	char c;

	for (;;) {
		switch (kind % 5) {
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
			waitpid(-1, NULL, 0);
			break;
		}
	}
	return NULL;
}

int main(void)
{
	int sigs[] = { SIGKILL, SIGTERM, SIGRTMIN + 2, SIGKILL, SIGUSR2 };
	int ready[2];
	char c;

	signal(SIGRTMIN + 2, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(ready);
	for (int i = 0; i < 5; i++) {
		pid_t pid = xfork();
		if (pid == 0) {
			pthread_t t;
			(void)!pipe(gate);
			pthread_mutex_lock(&held);
			for (long k = 0; k < 8; k++)
				pthread_create(&t, NULL, park, (void *)k);
			(void)!write(ready[1], "x", 1);
			park((void *)(long)i);
		}
		(void)!read(ready[0], &c, 1);
		usleep(20000);
		kill(pid, sigs[i]);
		int status = xwait(pid);
		printf("killed by the right signal %d\n",
		       WIFSIGNALED(status) && WTERMSIG(status) == sigs[i]);
		SHOW(kill(pid, 0));
	}
	return 0;
}
