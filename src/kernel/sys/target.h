/* Finding the process or thread that a call names by number. */
#ifndef VIV_KERNEL_SYS_TARGET_H
#define VIV_KERNEL_SYS_TARGET_H

#include <sys/types.h>

#include "base/base.h"

struct proc;
struct task;

/* 0 and the process (0: the caller's own; a thread's number finds its process), or -ESRCH, or
 * WAITING while a new process that may have this number has not announced itself. Borrows. */
int64_t target_proc(struct task *t, pid_t pid, struct proc **ret_);
/* The same for a thread; a process that is a zombie has none. */
int64_t target_task(struct task *t, pid_t tid, struct task **ret_);

/* The process with this number, if it has ended and is still known. Borrowed; NULL: it is not so.
 */
struct proc *zombie_find(pid_t pid);

#endif
