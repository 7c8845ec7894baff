/* Timers of the kernel: one heap, ordered by the host's CLOCK_MONOTONIC in nanoseconds.
 * The main loop sleeps until the first one. The function is called from the main loop, never from
 * inside a system call, with the timer already stopped (it may start it again). */
#ifndef VIV_KERNEL_TASK_TIMER_H
#define VIV_KERNEL_TASK_TIMER_H

#include "base/program.h"

#define TIME_NEVER INT64_MAX

struct ktimer {
	int64_t expires;
	uint32_t slot; /* place in the heap plus one; 0: not started */
	void (*const *fn)(struct ktimer *timer);
};

#define ktimer_init(timer, function) ktimer_init_with(timer, CALLBACK(function))
/* The same of a file's own timer, at its definition. */
#define KTIMER(timer, function)                                      \
	static void (*const timer##_fn)(struct ktimer *) = function; \
	static struct ktimer timer = { .fn = &timer##_fn }
void ktimer_init_with(struct ktimer *timer, void (*const *fn)(struct ktimer *));
/* Starts it, or moves it when it runs already. -ENOMEM when there are too many timers. */
int ktimer_start(struct ktimer *timer, int64_t expires);
void ktimer_stop(struct ktimer *timer);
bool ktimer_is_started(const struct ktimer *timer);

/* For the main loop. */
int64_t ktimer_next(void); /* TIME_NEVER when there is none */
void ktimer_run(int64_t now);

#endif
