/* The errors of POSIX timers; an absolute time in the past fires at once. */
#include "guest.h"
#include <sys/syscall.h>
#include <time.h>

int main(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN };
	struct itimerspec its = { .it_value = { .tv_sec = 1 } },
			  wrong = { .it_value = { .tv_nsec = 1000000000 } }, now;
	char *volatile bad = (char *)8;
	sigset_t set;
	timer_t id;

	SHOW(timer_create(99, &ev, &id));
	ev.sigev_signo = 65;
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &id));
	ev.sigev_signo = SIGRTMIN;
	ev.sigev_notify = 17;
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &id));
	ev.sigev_notify = SIGEV_SIGNAL;
	SHOW(timer_create(CLOCK_MONOTONIC, &ev, &id));
	SHOW(timer_settime(id, 0, &wrong, NULL));
	SHOW(syscall(SYS_timer_settime, 12345, 0, &its, NULL));
	SHOW(syscall(SYS_timer_gettime, 12345, &now));
	SHOW(syscall(SYS_timer_delete, 12345));
	SHOW(syscall(SYS_timer_getoverrun, 12345));
	SHOW(syscall(SYS_timer_create, CLOCK_MONOTONIC, bad, &id));
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	its.it_value = (struct timespec){ .tv_nsec = 1 };
	SHOW(timer_settime(id, TIMER_ABSTIME, &its, NULL));
	CHECK(sigwaitinfo(&set, NULL) == SIGRTMIN);
	SHOW(timer_delete(id));
	return 0;
}
