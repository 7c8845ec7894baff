/*
 * What a periodic timer missed while its signal was pending comes with that signal, also if the
 * timer is due again in the moment in which the signal is taken.
 */
#include "guest.h"
#include <time.h>

#define ROUNDS 400
#define EVERY 100000 /* ns */

int main(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec its = { .it_value.tv_nsec = EVERY, .it_interval.tv_nsec = EVERY };
	const struct itimerspec off = { 0 };
	const struct timespec none = { 0 };
	int got = 0, few = 0, other = 0;
	sigset_t set;
	siginfo_t si;
	timer_t id;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	timer_create(CLOCK_MONOTONIC, &ev, &id);
	for (int i = 0; i < ROUNDS; i++) {
		int missed;

		timer_settime(id, 0, &its, NULL);
		usleep(1000 + i % 97);
		got += sigwaitinfo(&set, &si) == SIGRTMIN;
		missed = timer_getoverrun(id);
		few += si.si_overrun < 8;
		other += missed != si.si_overrun;
		timer_settime(id, 0, &off, NULL);
		while (sigtimedwait(&set, &si, &none) > 0)
			;
	}
	printf("taken %d, missed too few %d, told otherwise %d\n", got, few, other);
	return 0;
}
