/* What the kernel waits for: notifications from runners, and host descriptors that somebody
 * watches.
 *
 * Notifications are by far the most frequent, so the loop polls two descriptors only: the listener,
 * and one epoll that holds all the others. */
#ifndef VIV_KERNEL_PLATFORM_LOOP_H
#define VIV_KERNEL_PLATFORM_LOOP_H

#include "base/program.h"

/* Interest in a host descriptor. One-shot: after fn was called it is armed again by whoever still
 * waits; or lasting, then fn is called for every change. */
struct hostwatch {
	int fd;
	bool added;
	bool armed;
	bool lasting;
	uint32_t events;
	void (*const *fn)(struct hostwatch *w, uint32_t events);
};

int must_check loop_init(void);
#define hostwatch_init(w, fd, function) hostwatch_init_with(w, fd, CALLBACK(function))
void hostwatch_init_with(struct hostwatch *w, int fd,
			 void (*const *fn)(struct hostwatch *, uint32_t));
/* events: POLLIN, POLLOUT. 0; -EPERM when the descriptor is always ready (a regular file). */
int hostwatch_arm(struct hostwatch *w, uint32_t events);
/* From now on and for ever, instead of hostwatch_arm(). */
int hostwatch_last(struct hostwatch *w, uint32_t events);
/* Before the descriptor is closed. */
void hostwatch_fini(struct hostwatch *w);

/* Waits until deadline (CLOCK_MONOTONIC ns); calls the watches that fired. True: a notification can
 * be received. */
bool loop_wait(int64_t now, int64_t deadline);

/* How long others wait for the loop: the CPU time of its turns, each from the end of a wait to the
 * next. Taken only where it is asked for, as it costs two calls of the host for each turn. */
void loop_measure(bool on); /* from now on, or no longer; what was measured is forgotten */
bool loop_is_measured(void);
int64_t loop_longest_turn(void); /* ns, since then */

#endif
