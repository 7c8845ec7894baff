/* pidfd_open and pidfd_send_signal, which takes an open directory /proc/PID as well;
 * waitid(P_PIDFD) is in wait.c, CLONE_PIDFD in clone.c. */
#include <errno.h>
#include <signal.h>

#include "kernel/abi/signal.h"
#include "kernel/fs/pidfd/pidfd.h"
#include "kernel/fs/proc/proc.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/signal.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"

#define PIDFD_NONBLOCK_ O_NONBLOCK

int64_t sys_pidfd_open(struct task *t, const struct sysargs *a)
{
	pid_t pid = ARG_INT(a, 0);
	unsigned flags = ARG_UINT(a, 1);
	struct pidref *r;
	struct proc *p;
	struct file *f;
	int ret;

	if (flags & ~(unsigned)PIDFD_NONBLOCK_)
		return -EINVAL;
	if (pid <= 0)
		return -EINVAL;
	p = proc_find(pid);
	if (!p && pid != INIT_PID)
		return task_find(pid) ? -EINVAL : births_wait(t);
	r = p ? pidref_of(p) : pidref_of_init();
	if (!r)
		return -ENFILE;
	ret = pidfd_make(r, flags, &f);
	return ret < 0 ? ret : fd_give(t, f, true);
}

/* The process that a descriptor stands for; NULL: it is gone (*ret_gone), or it is init. 0, -EBADF,
 * or WAITING. */
static int64_t process_of_fd(struct task *t, int fd, struct proc **ret_, bool *ret_gone)
{
	struct file *f = fd_file(t, fd);
	const struct pidref *r = f ? pidfd_of(f) : NULL;
	pid_t pid;

	if (r && r->unborn)
		return births_wait(t);
	if (r) {
		*ret_ = r->proc;
		*ret_gone = pidref_is_gone(r);
		return 0;
	}
	pid = f ? procfs_pid_of(f, ret_) : 0;
	*ret_gone = !*ret_ && pid != INIT_PID;
	return pid ? 0 : -EBADF;
}

int64_t sys_pidfd_send_signal(struct task *t, const struct sysargs *a)
{
	int sig = ARG_INT(a, 1);
	struct linux_siginfo si = { .signo = sig,
				    .u.rt = { .pid = t->proc->pid, .uid = t->cred.uid } };
	struct proc *p = NULL;
	bool gone = false;
	int64_t err;

	if (ARG_UINT(a, 3))
		return -EINVAL;
	err = process_of_fd(t, ARG_INT(a, 0), &p, &gone);
	if (err)
		return err;
	if (a->a[2]) {
		if (guest_get(t->tid, &si, a->a[2]) < 0)
			return -EFAULT;
		if (si.signo != sig)
			return -EINVAL;
		if (p != t->proc && (si.code >= 0 || si.code == SI_TKILL))
			return -EPERM;
	}
	if (gone)
		return -ESRCH;
	if (sig < 0 || sig > LINUX_NSIG)
		return -EINVAL;
	if (!p) /* the cell's init takes no signals */
		return cred_has_cap(&t->cred, 5 /* CAP_KILL */) ? 0 : -EPERM;
	if (!may_signal(t, p, sig))
		return -EPERM;
	return sig ? signal_send_proc(p, sig, &si) : 0;
}
