/*
 * nanosleep cut short gives EINTR and the rest; with that rest the whole time is slept; sleep
 * returns whole seconds left.
 */
#include "guest.h"
#include <time.h>

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static long ms(struct timespec a, struct timespec b)
{
	return (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	struct timespec want = { .tv_nsec = 300000000 }, rem = { 0 }, a, b;
	int rounds = 0, shrinking = 1;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	pid_t pid = xfork();
	if (pid == 0)
		for (;;) {
			usleep(20000);
			kill_parent(SIGUSR1);
		}
	clock_gettime(CLOCK_MONOTONIC, &a);
	while (nanosleep(&want, &rem) < 0) {
		if (errno != EINTR)
			printf("unexpected %s\n", ename(errno));
		shrinking &= ms(rem, want) >= 0 && rem.tv_sec == 0;
		want = rem;
		rounds++;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("interrupted %d, rest shrinks %d, slept enough %d\n", rounds > 0, shrinking,
	       ms(a, b) >= 299);
	unsigned left = sleep(100);
	printf("sleep gave %d\n", left >= 90 && left <= 100);
	SHOW(usleep(10000000));
	want = (struct timespec){ .tv_sec = 100 };
	int rc = clock_nanosleep(CLOCK_MONOTONIC, 0, &want, &rem);
	printf("clock_nanosleep: %s, rest %d\n", ename(rc), rem.tv_sec >= 90 && rem.tv_sec < 100);
	kill(pid, SIGKILL);
	xwait(pid);
	return 0;
}
