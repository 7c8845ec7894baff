/* exec ends all other threads: those parked in calls, sleeping, on a futex, and running. */
#include "guest.h"
#include <dirent.h>
#include <poll.h>
#include <pthread.h>

static int gate[2];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static volatile long spins;
static pthread_barrier_t ready;

static void *work(void *arg)
{
	long kind = (long)arg;
	char c;

	pthread_barrier_wait(&ready);
	if (kind < 2)
		(void)!read(gate[0], &c, 1);
	else if (kind < 4)
		sleep(100);
	else if (kind == 4)
		pthread_mutex_lock(&held);
	else if (kind == 5)
		poll(NULL, 0, -1);
	else
		for (;;)
			spins++;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1) {
		int n = 0;
		DIR *d = opendir("/proc/self/task");
		for (struct dirent *e; d && (e = readdir(d));)
			n += e->d_name[0] != '.';
		printf("%s: tasks %d, pid kept %d\n", argv[1], n, getpid() == atoi(argv[2]));
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	for (int round = 0; round < 5; round++) {
		pid_t pid = xfork();
		if (pid == 0) {
			char num[16], name[16];
			(void)!pipe(gate);
			pthread_mutex_lock(&held);
			pthread_barrier_init(&ready, NULL, 9);
			for (long i = 0; i < 8; i++)
				pthread_create(&t, NULL, work, (void *)i);
			pthread_barrier_wait(&ready);
			usleep(round * 10000);
			snprintf(num, sizeof(num), "%d", getpid());
			snprintf(name, sizeof(name), "round %d", round);
			execl("/proc/self/exe", "self", name, num, (char *)NULL);
			_exit(127);
		}
		show_status("exec", xwait(pid));
	}
	return 0;
}
