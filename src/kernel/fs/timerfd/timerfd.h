/* timerfd: timers that are read and polled. */
#ifndef VIV_KERNEL_FS_TIMERFD_TIMERFD_H
#define VIV_KERNEL_FS_TIMERFD_TIMERFD_H

#include "base/base.h"

struct file;
struct timerfd;

/* clock: CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_BOOTTIME and the _ALARM ones (checked by the
 * caller). returns ref. */
int must_check timerfd_make(int clock, uint32_t flags, struct file **ret_);
/* The timer of an open file, borrowed; NULL when it is none. */
struct timerfd *timerfd_of(const struct file *f);
/* What remains and the interval, in ns (0: not armed). */
void timerfd_get(struct timerfd *tf, int64_t *ret_left, int64_t *ret_interval);
/* value 0 stops it. -ENOMEM when the cell has too many timers. */
int must_check timerfd_set(struct timerfd *tf, bool absolute, int64_t value, int64_t interval);

#endif
