/* Process groups and sessions, and the parent's number. The cell's init (process 1) is the kernel
 * itself: it leads its own session and group and cannot be changed. */
#include <errno.h>

#include "kernel/sys/handlers.h"
#include "kernel/sys/target.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

int64_t sys_getppid(struct task *t, const struct sysargs *a)
{
	(void)a;
	return proc_ppid(t->proc);
}

int64_t sys_getpgrp(struct task *t, const struct sysargs *a)
{
	(void)a;
	return t->proc->pgid;
}

int64_t sys_getpgid(struct task *t, const struct sysargs *a)
{
	struct proc *p;
	int64_t err;

	if ((pid_t)a->a[0] == INIT_PID)
		return INIT_PID;
	err = target_proc(t, (pid_t)a->a[0], &p);
	return err ? err : p->pgid;
}

int64_t sys_getsid(struct task *t, const struct sysargs *a)
{
	struct proc *p;
	int64_t err;

	if ((pid_t)a->a[0] == INIT_PID)
		return INIT_PID;
	err = target_proc(t, (pid_t)a->a[0], &p);
	return err ? err : p->sid;
}

int64_t sys_setpgid(struct task *t, const struct sysargs *a)
{
	pid_t pid = (pid_t)a->a[0], pgid = (pid_t)a->a[1];
	struct proc *self = t->proc, *p;
	int64_t err;

	if (pid == 0)
		pid = self->pid;
	if (pgid == 0)
		pgid = pid;
	if (pgid < 0)
		return -EINVAL;
	if (pid == INIT_PID)
		return -ESRCH;
	err = target_proc(t, pid, &p);
	if (err)
		return err;
	if (p->pid != pid) /* the number of a thread */
		return -EINVAL;
	if (p->parent == self) {
		if (p->sid != self->sid)
			return -EPERM;
		if (p->did_exec)
			return -EACCES;
	} else if (p != self) {
		return -ESRCH;
	}
	if (p->sid == p->pid)
		return -EPERM;
	if (pgid != pid && !pgrp_exists(pgid, self->sid))
		return -EPERM;
	p->pgid = pgid;
	return 0;
}

int64_t sys_setsid(struct task *t, const struct sysargs *a)
{
	struct proc *p = t->proc;

	(void)a;
	/* Not for a session leader, and not while any process is in a group of this number. */
	if (p->sid == p->pid || pgrp_exists(p->pid, 0))
		return -EPERM;
	p->sid = p->pid;
	p->pgid = p->pid;
	p->tty_detached = false;
	return p->sid;
}
