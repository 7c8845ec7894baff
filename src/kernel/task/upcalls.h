/* What tasks and calls ask of the layers above them. cell/upcalls.c sets these at the start; after
 * program_seal() they are read-only. */
#ifndef VIV_KERNEL_TASK_UPCALLS_H
#define VIV_KERNEL_TASK_UPCALLS_H

#include <sys/types.h>

#include "base/base.h"

struct call_kept;
struct linux_siginfo;
struct proc;
struct question;
struct task;

extern struct task_upcalls {
	/* What dispatch does with a call: runs its handler. */
	void (*call_run)(struct task *t);
	/* Releases what a call kept; of every kind but KEPT_NOTHING. */
	void (*call_release)(const struct call_kept *kept);
	/* Releases the question that a call waited for. */
	void (*question_put)(struct question *q);
	/* A thread goes. */
	void (*task_gone)(struct task *t);
	/* A process goes: at its exit, before it is a zombie. */
	void (*proc_gone)(struct proc *p);
	/* Keeps a signal for those of a group (0: for all) that have not announced themselves yet;
	 * from NULL: the kernel sends it. True: there are such that may be sent it. */
	bool (*signal_unborn)(pid_t pgid, const struct task *from, int sig,
			      const struct linux_siginfo *info);
	/* The first process ended: the cell ends with this wait status. */
	void (*cell_ended)(int wait_status);
	/* The first process has stopped because viv asked for it. */
	void (*cell_stopped)(void);
} task_upcalls;

#endif
