/*
 * timer_create with SIGEV_SIGNAL: si_code SI_TIMER, the value given, the timer's id; default is
 * SIGALRM.
 */
#include "guest.h"
#include <time.h>

static volatile int hits, code, value;

static void handler(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)uc;
	hits++;
	code = si->si_code;
	value = si->si_value.sival_int;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL,
			       .sigev_signo = SIGRTMIN,
			       .sigev_value.sival_int = 4711 };
	struct itimerspec its = { .it_value.tv_nsec = 20000000 }, left;
	int clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME };
	timer_t id;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	sigaction(SIGRTMIN, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	for (int i = 0; i < 3; i++) {
		hits = 0;
		SHOW(timer_create(clocks[i], &ev, &id));
		SHOW(timer_settime(id, 0, &its, NULL));
		while (!hits)
			pause();
		printf("code timer %d, value %d, hits %d\n", code == SI_TIMER, value, hits);
		SHOW(timer_gettime(id, &left));
		printf("left %ld.%ld\n", left.it_value.tv_sec, left.it_value.tv_nsec);
		SHOW(timer_delete(id));
	}
	alarm(0);
	hits = 0;
	timer_create(CLOCK_MONOTONIC, NULL, &id);
	timer_settime(id, 0, &its, NULL);
	while (!hits)
		pause();
	printf("default: code timer %d\n", code == SI_TIMER);
	timer_delete(id);
	return 0;
}
