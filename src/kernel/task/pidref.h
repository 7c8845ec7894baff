/* A counted handle on one process, for those who must not mix it up with a later one of the same
 * number (pidfd). It outlives the struct proc: once the process has been waited for, proc is NULL
 * and stays so. A handle can be made before the process is there (CLONE_PIDFD): it is unborn until
 * pidref_attach() or pidref_cancel(). */
#ifndef VIV_KERNEL_TASK_PIDREF_H
#define VIV_KERNEL_TASK_PIDREF_H

#include <sys/types.h>

#include "kernel/task/waitq.h"

struct proc;

struct pidref {
	uint32_t refs;
	pid_t pid; /* 0: unborn */
	struct proc *proc; /* NULL: unborn, waited for, or the cell's init */
	bool unborn;
	struct waitq q; /* woken when it ends and when it is waited for */
};

/* The handle of p (one for each process); returns ref, NULL: no memory. */
struct pidref *pidref_of(struct proc *p);
/* The handle of process 1, the kernel itself; returns ref. */
struct pidref *pidref_of_init(void);
/* One for a process that is to be made; returns ref or NULL. */
struct pidref *pidref_new_unborn(void);
void pidref_attach(struct pidref *r, struct proc *p);
void pidref_cancel(struct pidref *r); /* it will never be; harmless for one that was born */
struct pidref *pidref_get(struct pidref *r);
void pidref_put(struct pidref *r);
bool pidref_has_ended(const struct pidref *r);
bool pidref_is_gone(const struct pidref *r); /* waited for */

/* For task.c: p ended; the last trace of p goes. */
void pidref_proc_ended(struct proc *p);
void pidref_proc_forget(struct proc *p);

#endif
