/*
 * A periodic timer whose signal stays pending queues one signal; timer_getoverrun and si_overrun
 * count the rest.
 */
#include "guest.h"
#include <time.h>

int main(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec its = { .it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000 },
			  old;
	sigset_t set;
	siginfo_t si;
	timer_t id;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	timer_create(CLOCK_MONOTONIC, &ev, &id);
	timer_settime(id, 0, &its, NULL);
	usleep(100000);
	CHECK(sigwaitinfo(&set, &si) == SIGRTMIN);
	CHECK(si.si_overrun >= 50);
	CHECK(timer_getoverrun(id) >= 50);
	memset(&its, 0, sizeof(its));
	SHOW(timer_settime(id, 0, &its, &old));
	CHECK(old.it_interval.tv_nsec == 1000000);
	/* Disarmed: at most the one that was pending is left. */
	sigtimedwait(&set, &si, &(struct timespec){ 0 });
	SHOW(sigtimedwait(&set, &si, &(struct timespec){ .tv_nsec = 30000000 }));
	SHOW(timer_delete(id));
	return 0;
}
