/*
 * The clocks: never backwards, resolutions, realtime agrees with time and gettimeofday, unknown
 * ones are EINVAL.
 */
#include "guest.h"
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>

static bool before(struct timespec a, struct timespec b)
{
	return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

int main(void)
{
	static const struct {
		const char *name;
		clockid_t id;
	} c[] = {
		{ "REALTIME", CLOCK_REALTIME },
		{ "MONOTONIC", CLOCK_MONOTONIC },
		{ "PROCESS", CLOCK_PROCESS_CPUTIME_ID },
		{ "THREAD", CLOCK_THREAD_CPUTIME_ID },
		{ "MONOTONIC_RAW", CLOCK_MONOTONIC_RAW },
		{ "REALTIME_COARSE", CLOCK_REALTIME_COARSE },
		{ "MONOTONIC_COARSE", CLOCK_MONOTONIC_COARSE },
		{ "BOOTTIME", CLOCK_BOOTTIME },
		{ "TAI", CLOCK_TAI },
	};
	struct timespec a, b, r;
	struct timeval tv;

	for (unsigned i = 0; i < sizeof(c) / sizeof(*c); i++) {
		int back = 0, odd = 0;
		clock_gettime(c[i].id, &a);
		for (int k = 0; k < 2000; k++) {
			/* By the vdso and by the call, in turn. */
			int rc = k % 100 ? clock_gettime(c[i].id, &b)
					 : syscall(SYS_clock_gettime, c[i].id, &b);
			odd += rc != 0 || b.tv_nsec < 0 || b.tv_nsec >= 1000000000;
			back += before(b, a);
			a = b;
		}
		int rc = clock_getres(c[i].id, &r);
		printf("%s: back %d, odd %d, getres %d, within 10 ms %d\n", c[i].name, back, odd,
		       rc, r.tv_sec == 0 && r.tv_nsec > 0 && r.tv_nsec <= 10000000);
	}
	SHOW(clock_gettime(99, &a));
	SHOW(clock_getres(99, &r));
	clock_gettime(CLOCK_REALTIME, &a);
	gettimeofday(&tv, NULL);
	time_t t = syscall(SYS_time, NULL);
	/* time() is that of the last tick, so its second may be the one before. */
	printf("agree %d %d\n", tv.tv_sec - a.tv_sec >= 0 && tv.tv_sec - a.tv_sec < 5,
	       t - a.tv_sec >= -1 && t - a.tv_sec < 5);
	CHECK(a.tv_sec > 1600000000);
	return 0;
}
