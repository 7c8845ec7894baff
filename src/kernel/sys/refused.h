/* Answers to the calls that a cell does not have (status REFUSED in the table). */
#ifndef VIV_KERNEL_SYS_REFUSED_H
#define VIV_KERNEL_SYS_REFUSED_H

#include "base/base.h"

struct sysargs;
struct task;

/* The answer to a REFUSED call: what an unprivileged caller gets on Linux. Some have a harmless
 * form that works. */
int64_t refused_call(struct task *t, int nr, const struct sysargs *a);
/* Why, for documentation and traces; NULL: nr is not in the list. */
const char *refused_reason(int nr);

/* sys/numa.c: the calls about memory nodes, as a machine with one node answers them. */
int64_t numa_call(struct task *t, int nr, const struct sysargs *a);

#endif
