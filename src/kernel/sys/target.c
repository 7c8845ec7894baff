/* Finding the process or thread that a call names (target.h). A parent learns its child's number
 * from the host, possibly before the child's first message to us: then the call waits for the
 * message instead of failing. */
#include <errno.h>

#include "kernel/sys/birth.h"
#include "kernel/sys/target.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

static int64_t not_found(struct task *t, pid_t pid)
{
	return pid > 0 ? births_wait(t) : -ESRCH;
}

int64_t target_proc(struct task *t, pid_t pid, struct proc **ret_)
{
	struct task *thread;

	*ret_ = NULL;
	if (pid == 0)
		*ret_ = t->proc;
	else if (pid > 0)
		*ret_ = proc_find(pid);
	if (!*ret_ && pid > 0) {
		thread = task_find(pid);
		if (thread)
			*ret_ = thread->proc;
	}
	return *ret_ ? 0 : not_found(t, pid);
}

int64_t target_task(struct task *t, pid_t tid, struct task **ret_)
{
	struct proc *p;

	*ret_ = NULL;
	if (tid == 0)
		*ret_ = t;
	else if (tid > 0)
		*ret_ = task_find(tid);
	if (!*ret_ && tid > 0) {
		p = proc_find(tid);
		if (p)
			*ret_ = proc_leader(p);
	}
	return *ret_ ? 0 : not_found(t, tid);
}

struct proc *zombie_find(pid_t pid)
{
	struct proc *p = pid > 0 ? proc_find(pid) : NULL;

	return p && !proc_leader(p) ? p : NULL;
}
