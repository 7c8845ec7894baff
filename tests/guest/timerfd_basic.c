/* timerfd: one shot, interval, absolute, remaining time, expirations missed, errors. */
#include "guest.h"
#include <poll.h>
#include <sys/timerfd.h>
#include <time.h>

static uint64_t ticks(int fd)
{
	uint64_t n = 0;
	if (read(fd, &n, sizeof(n)) != sizeof(n))
		return 0;
	return n;
}

int main(void)
{
	int t = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), b = timerfd_create(CLOCK_REALTIME, 0);
	struct itimerspec it = { .it_value = { 0, 20000000 } }, old;
	struct pollfd p = { .fd = t, .events = POLLIN };
	struct timespec now;

	SHOW(timerfd_gettime(t, &old));
	SHOW(old.it_value.tv_sec == 0 && old.it_value.tv_nsec == 0);
	SHOW(ticks(t) == 0 && errno == EAGAIN);
	SHOW(timerfd_settime(t, 0, &it, NULL));
	SHOW(poll(&p, 1, 0));
	SHOW(timerfd_gettime(t, &old));
	SHOW(old.it_value.tv_nsec > 0 && old.it_value.tv_nsec <= 20000000);
	SHOW(poll(&p, 1, 2000));
	SHOW(ticks(t));
	SHOW(ticks(t));
	it.it_interval.tv_nsec = 10000000;
	SHOW(timerfd_settime(t, 0, &it, &old));
	usleep(95000);
	SHOW(ticks(t) >= 5);
	it.it_interval.tv_nsec = 0;
	clock_gettime(CLOCK_REALTIME, &now);
	it.it_value = now;
	it.it_value.tv_sec -= 10;
	SHOW(timerfd_settime(b, TFD_TIMER_ABSTIME, &it, NULL));
	SHOW(ticks(b));
	it.it_value = now;
	it.it_value.tv_sec += 1;
	SHOW(timerfd_settime(b, TFD_TIMER_ABSTIME, &it, NULL));
	SHOW(timerfd_gettime(b, &old));
	SHOW(old.it_value.tv_sec == 0 || old.it_value.tv_sec == 1);
	it.it_value.tv_sec = 0;
	it.it_value.tv_nsec = 0;
	SHOW(timerfd_settime(b, 0, &it, &old));
	SHOW(timerfd_gettime(b, &old));
	SHOW(old.it_value.tv_sec + old.it_value.tv_nsec);
	it.it_value.tv_nsec = 1000000000;
	SHOW(timerfd_settime(b, 0, &it, NULL));
	it.it_value.tv_nsec = 30000000;
	SHOW(timerfd_settime(b, 64, &it, NULL));
	SHOW(timerfd_settime(b, 0, &it, NULL));
	SHOW(ticks(b)); /* waits */
	SHOW(timerfd_create(77, 0));
	SHOW(timerfd_create(CLOCK_MONOTONIC, 1));
	SHOW(timerfd_settime(0, 0, &it, NULL));
	SHOW(timerfd_settime(99, 0, &it, NULL));
	SHOW(write(t, &it, 8));
	SHOW(read(t, &it, 4));
	return 0;
}
