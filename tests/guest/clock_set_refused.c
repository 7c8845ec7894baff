/*
 * An ordinary user cannot set the clock: EPERM; a wrong time is EINVAL, a clock that cannot be set
 * EINVAL.
 */
#include "guest.h"
#include <sys/time.h>
#include <time.h>

static void as_user(void)
{
	struct timespec t = { .tv_sec = 1000000000 }, wrong = { .tv_nsec = -5 };
	struct timeval tv = { .tv_sec = 1000000000 };

	drop_to_user();
	SHOW(clock_settime(CLOCK_REALTIME, &t));
	SHOW(settimeofday(&tv, NULL));
	SHOW(clock_settime(CLOCK_REALTIME, &wrong));
	SHOW(clock_settime(CLOCK_MONOTONIC, &t));
	SHOW(clock_settime(99, &t));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("user", in_child(as_user));
	return 0;
}
