/*
 * A signal for a process that blocks it in all threads, while the first thread waits and another
 * runs: it is pending for the process, and whoever waits for it gets it.
 */
#include "guest.h"
#include <pthread.h>
#include <time.h>

static int back[2];
static sigset_t set;

static void handler(int sig)
{
	(void)sig;
}

static void *runs(void *arg)
{
	struct timespec from, now;
	sigset_t pending;

	(void)arg;
	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		sigpending(&pending);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (!sigismember(&pending, SIGUSR1) && now.tv_sec - from.tv_sec < 4);
	printf("pending %d\n", sigismember(&pending, SIGUSR1));
	if (write(back[1], "x", 1) != 1)
		_exit(9);
	return NULL;
}

int main(void)
{
	struct timespec ts = { 1, 0 };
	siginfo_t si;
	pthread_t t;
	char c;

	if (pipe(back) < 0)
		return 1;
	signal(SIGUSR1, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 3; i++) {
		pid_t parent = getpid(), pid = xfork();

		if (pid == 0) {
			usleep(100000); /* main waits in read, the thread runs */
			kill(parent, SIGUSR1);
			_exit(0);
		}
		pthread_create(&t, NULL, runs, NULL);
		if (read(back[0], &c, 1) != 1)
			return 9;
		int sig = sigtimedwait(&set, &si, &ts);
		printf("%s, from the child %d\n", sig > 0 ? signame(sig) : ename(errno),
		       sig > 0 && si.si_code == SI_USER && si.si_pid == pid);
		pthread_join(t, NULL);
		xwait(pid);
	}
	return 0;
}
