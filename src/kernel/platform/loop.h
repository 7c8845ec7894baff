/* What the kernel waits for: notifications from runners, and host descriptors that somebody watches.
 *
 * Notifications are by far the most frequent, so the loop polls two descriptors only: the listener, and one epoll that holds
 * all the others. */
#ifndef VIV_KERNEL_PLATFORM_LOOP_H
#define VIV_KERNEL_PLATFORM_LOOP_H

#include "base/base.h"

/* Interest in a host descriptor. One-shot: after fn was called it is armed again by whoever still waits. */
struct hostwatch {
	int fd;
	bool added;
	bool armed;
	uint32_t events;
	void (*fn)(struct hostwatch *w, uint32_t events);
};

int must_check loop_init(void);
void hostwatch_init(struct hostwatch *w, int fd, void (*fn)(struct hostwatch *, uint32_t));
/* events: POLLIN, POLLOUT. 0; -EPERM when the descriptor is always ready (a regular file). */
int hostwatch_arm(struct hostwatch *w, uint32_t events);
/* Before the descriptor is closed. */
void hostwatch_fini(struct hostwatch *w);

/* Waits until deadline (CLOCK_MONOTONIC ns); calls the watches that fired. True: a notification can be received. */
bool loop_wait(int64_t now, int64_t deadline);

#endif
