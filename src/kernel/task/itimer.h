/* The three interval timers of a process: ITIMER_REAL (also alarm), ITIMER_VIRTUAL and ITIMER_PROF.
 * They survive exec; fork does not copy them. Times in ns. */
#ifndef VIV_KERNEL_TASK_ITIMER_H
#define VIV_KERNEL_TASK_ITIMER_H

#include "base/base.h"

struct proc;

struct itimer_ns {
	int64_t value, interval; /* value 0: not running */
};

/* which is one of the three. */
void itimer_get(struct proc *p, int which, struct itimer_ns *out);
/* -ENOMEM when there are too many timers; nothing has changed then. */
int itimer_set(struct proc *p, int which, const struct itimer_ns *value);

/* The process ends: all its timers are stopped and freed, the POSIX timers too. */
void timers_free(struct proc *p);

#endif
