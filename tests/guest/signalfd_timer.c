/* Timers whose signals are read from a signalfd: POSIX timers with their value and overrun,
 * ITIMER_REAL, realtime order. */
#include "guest.h"
#include <sys/signalfd.h>
#include <sys/time.h>
#include <time.h>

int main(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 2, .sigev_value.sival_int = 5 };
	struct itimerspec its = { .it_value.tv_nsec = 1000000, .it_interval.tv_nsec = 1000000 };
	struct signalfd_siginfo si;
	timer_t timer;
	sigset_t m;

	sigemptyset(&m);
	sigaddset(&m, SIGRTMIN + 2);
	sigaddset(&m, SIGALRM);
	sigprocmask(SIG_BLOCK, &m, NULL);
	int fd = signalfd(-1, &m, 0);
	CHECK(timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0);
	SHOW(timer_settime(timer, 0, &its, NULL));
	usleep(30000);
	SHOW(read(fd, &si, sizeof(si)));
	printf("signal %d timer %d value %d missed some %d\n", si.ssi_signo == (uint32_t)SIGRTMIN + 2,
	       si.ssi_code == SI_TIMER, si.ssi_int, si.ssi_overrun > 5);
	SHOW(read(fd, &si, sizeof(si)));
	printf("signal %d timer %d value %d\n", si.ssi_signo == (uint32_t)SIGRTMIN + 2,
	       si.ssi_code == SI_TIMER, si.ssi_int);
	timer_delete(timer);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (read(fd, &si, sizeof(si)) > 0)
		;
	fcntl(fd, F_SETFL, 0);

	struct itimerval it = { .it_value.tv_usec = 10000 };
	SHOW(setitimer(ITIMER_REAL, &it, NULL));
	SHOW(read(fd, &si, sizeof(si)));
	printf("signal %d code %d\n", si.ssi_signo == SIGALRM, si.ssi_code == SI_KERNEL);
	return 0;
}
