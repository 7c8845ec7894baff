/* The clock as the kernel sees it: the main loop calls now_update() before each event, and whatever
 * the event asks first reads the host's clock, once. All that happens in one event happens at one
 * time, and an event that does not ask costs nothing. */
#include <time.h>

#include "host/host.h"
#include "kernel/task/clock.h"

static int64_t mono, real;
static bool mono_valid, real_valid;

int64_t now_mono(void)
{
	if (!mono_valid) {
		mono = host_clock(CLOCK_MONOTONIC);
		mono_valid = true;
	}
	return mono;
}

int64_t now_real(void)
{
	if (!real_valid) {
		real = host_clock(CLOCK_REALTIME);
		real_valid = true;
	}
	return real;
}

bool turn_is_long(void)
{
#ifdef ARENA_TIGHT
	/* In the fuzzer's kernel any moment may be the end of a turn. */
	static uint32_t seed = 1;

	seed = seed * 1664525 + 1013904223;
	if (seed >> 30 == 0)
		return true;
#endif
	return host_clock(CLOCK_MONOTONIC) - now_mono() > TURN_LONG;
}

void now_update(void)
{
	mono_valid = false;
	real_valid = false;
}
