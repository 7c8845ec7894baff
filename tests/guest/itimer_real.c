/* ITIMER_REAL: periodic SIGALRM, the remaining time, the old value returned; shared with alarm. */
#include "guest.h"
#include <sys/time.h>

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	struct itimerval it = { .it_value.tv_usec = 10000, .it_interval.tv_usec = 10000 }, old;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	alarm(0);
	signal(SIGALRM, handler);
	SHOW(setitimer(ITIMER_REAL, &it, &old));
	printf("was off %d\n", old.it_value.tv_sec == 0 && old.it_value.tv_usec == 0);
	while (hits < 5)
		pause();
	SHOW(getitimer(ITIMER_REAL, &old));
	CHECK(old.it_interval.tv_usec == 10000 && old.it_value.tv_sec == 0 &&
	      old.it_value.tv_usec <= 10000);
	it = (struct itimerval){ .it_value.tv_sec = 500, .it_interval.tv_sec = 3 };
	SHOW(setitimer(ITIMER_REAL, &it, &old));
	CHECK(old.it_interval.tv_usec == 10000);
	unsigned left = alarm(0);
	CHECK(left > 400 && left <= 500);
	getitimer(ITIMER_REAL, &old);
	printf("off %d, interval kept %d\n", old.it_value.tv_sec == 0, (int)old.it_interval.tv_sec);
	it.it_value.tv_usec = 1000000;
	SHOW(setitimer(ITIMER_REAL, &it, NULL));
	SHOW(setitimer(9, &it, NULL));
	SHOW(getitimer(9, &it));
	return 0;
}
