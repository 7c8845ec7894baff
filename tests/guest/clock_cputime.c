/*
 * CPU clocks advance with work and not with sleep; a thread's counts its own; times() and clock()
 * agree roughly.
 */
#include "guest.h"
#include <pthread.h>
#include <sys/times.h>
#include <time.h>

static long ms(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void burn(long until)
{
	while (ms(CLOCK_THREAD_CPUTIME_ID) < until)
		;
}

static void *thread(void *arg)
{
	CHECK(ms(CLOCK_THREAD_CPUTIME_ID) < 100);
	burn(150);
	return arg;
}

int main(void)
{
	struct tms first, tms;
	pthread_t t;

	/* Whoever was this process before exec may have waited for children. */
	times(&first);
	long p = ms(CLOCK_PROCESS_CPUTIME_ID);
	usleep(300000);
	CHECK(ms(CLOCK_PROCESS_CPUTIME_ID) - p < 100);
	long mine = ms(CLOCK_THREAD_CPUTIME_ID);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	CHECK(ms(CLOCK_THREAD_CPUTIME_ID) - mine < 100);
	CHECK(ms(CLOCK_PROCESS_CPUTIME_ID) - p >= 140);
	CHECK(times(&tms) != (clock_t)-1);
	long ticks = sysconf(_SC_CLK_TCK);
	CHECK((tms.tms_utime + tms.tms_stime) * 1000 / ticks >= 100);
	CHECK(tms.tms_cutime == first.tms_cutime && tms.tms_cstime == first.tms_cstime);
	CHECK(clock() >= CLOCKS_PER_SEC / 10);
	clockid_t id;
	CHECK(clock_getcpuclockid(0, &id) == 0 && ms(id) >= 140);
	return 0;
}
