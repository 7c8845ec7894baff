/* Resource limits of a process. */
#ifndef VIV_KERNEL_SYS_LIMITS_H
#define VIV_KERNEL_SYS_LIMITS_H

#include "base/base.h"

struct proc;
struct task;

/* The limits of the cell's first process; fork copies them. */
void limits_init(struct proc *p);

/* Those that the operator gave, here and on the host, where the process need not be there yet. */
void limits_given(struct proc *p);

/* Those that p has, on the host. */
void limits_thawed(struct proc *p);

/* Another number of processes and threads for the whole cell. Those that had the old one as their
 * own limit get the new one. */
void limits_tasks_set(uint32_t max);
/* Another number of CPUs; mask: where they are on the host, NULL: anywhere. */
void sched_cpus_set(uint32_t cpus, const uint64_t *mask_or_NULL);
/* A thread that was cloned before a change, or by one that was: it has what the others have. */
void limits_born(struct task *t);
void sched_born(struct task *t);

#endif
