/*
 * clock_nanosleep: until an absolute time, never early; a time past returns at once; interrupted it
 * is EINTR.
 */
#include "guest.h"
#include <time.h>

static void handler(int sig)
{
	(void)sig;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler };
	int clocks[] = { CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME };
	struct timespec t, now, rem = { .tv_sec = 77 };

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	for (int i = 0; i < 3; i++) {
		clock_gettime(clocks[i], &t);
		t.tv_nsec += 50000000;
		if (t.tv_nsec >= 1000000000) {
			t.tv_sec++;
			t.tv_nsec -= 1000000000;
		}
		int rc = clock_nanosleep(clocks[i], TIMER_ABSTIME, &t, NULL);
		clock_gettime(clocks[i], &now);
		printf("%s, early %d\n", ename(rc),
		       now.tv_sec < t.tv_sec ||
			       (now.tv_sec == t.tv_sec && now.tv_nsec < t.tv_nsec));
	}
	t = (struct timespec){ .tv_sec = 1 };
	printf("past: %s\n", ename(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL)));
	t = (struct timespec){ .tv_nsec = 1000000000 };
	printf("bad nanoseconds: %s\n", ename(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL)));
	SHOW(nanosleep(&t, NULL));
	t = (struct timespec){ .tv_sec = -1 };
	printf("negative: %s\n", ename(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL)));
	printf("thread clock: %s\n", ename(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &t, NULL)));
	printf("no clock: %s\n", ename(clock_nanosleep(99, 0, &t, NULL)));
	sigaction(SIGUSR1, &sa, NULL);
	pid_t pid = xfork();
	if (pid == 0)
		for (;;) {
			usleep(20000);
			kill_parent(SIGUSR1);
		}
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += 100;
	int rc = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, &rem);
	kill(pid, SIGKILL);
	xwait(pid);
	printf("interrupted: %s, rest untouched %d\n", ename(rc), rem.tv_sec == 77);
	return 0;
}
