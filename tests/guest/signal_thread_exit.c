/*
 * Signals to a process whose threads come and go: one that was on its way to a thread that ends
 * goes to somebody else. All are counted, as real-time signals queue.
 */
#include "guest.h"
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#define COUNT 2000

static volatile int seen, stop;

static void handler(int sig)
{
	(void)sig;
	__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED);
}

static void *short_lived(void *arg)
{
	sigset_t set;

	(void)arg;
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	syscall(SYS_getppid);
	syscall(SYS_exit, 0); /* not pthread_exit, which blocks all signals first */
	return NULL;
}

int main(void)
{
	static char stacks[64][65536];
	sigset_t set;
	pid_t sender, me = getpid();
	int st, n = 0;

	signal(SIGRTMIN + 3, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sender = fork();
	if (sender == 0) {
		union sigval v = { 0 };

		for (int i = 0; i < COUNT; i++) {
			while (sigqueue(me, SIGRTMIN + 3, v) < 0)
				usleep(100);
			if (i % 8 == 0)
				usleep(20);
		}
		_exit(0);
	}
	while (waitpid(sender, &st, WNOHANG) == 0) {
		pthread_t t;
		pthread_attr_t attr;

		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stacks[n++ % 64], sizeof(stacks[0]));
		if (pthread_create(&t, &attr, short_lived, NULL) == 0)
			pthread_join(t, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	for (int i = 0; i < 100 && seen < COUNT; i++)
		usleep(10000);
	printf("seen %d\n", seen);
	return 0;
}
