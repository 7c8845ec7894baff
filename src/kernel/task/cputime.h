/* CPU time and other figures of processes, from the host that runs them. */
#ifndef VIV_KERNEL_TASK_CPUTIME_H
#define VIV_KERNEL_TASK_CPUTIME_H

#include <sys/resource.h>

#include "base/base.h"

struct proc;
struct task;

/* Of all its threads, the ended ones too, in ns; of a zombie, what it used. Neither ever goes
 * back. */
void proc_cputime(struct proc *p, int64_t *ret_utime, int64_t *ret_stime);
/* getrusage(RUSAGE_SELF) of p; getrusage(RUSAGE_THREAD) of t. Block counts are not kept and are
 * 0. */
void proc_rusage(struct proc *p, struct rusage *out);
void task_rusage(struct task *t, struct rusage *out);
/* CPU time of one thread in ns, in steps of a host's tick. */
int64_t task_cputime(struct task *t);
/* *sum gets more of what one ended. ru_maxrss is the larger one. */
void rusage_add(struct rusage *sum, const struct rusage *more);
/* When to look at a CPU clock again that has remaining ns to go: no earlier than it can be there,
 * within bounds. */
int64_t cputime_poll_delay(int64_t remaining, bool one_thread);

struct mem_figures {
	uint64_t total; /* that the cell sees */
	uint64_t used; /* sum of the processes' resident memory, at most total */
	uint64_t available; /* total - used, and no more than the host has free */
};
/* Reads at most once in a tenth of a second. */
void mem_figures_get(struct mem_figures *out);

#endif
