/* wait4 and waitid: what became of my children. Threads of a process share its children. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "kernel/abi/resource.h"
#include "kernel/abi/signal.h"
#include "kernel/fs/pidfd/pidfd.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/cputime.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

#define WAIT_OPTIONS (WNOHANG | WUNTRACED | WCONTINUED | __WALL | __WCLONE | __WNOTHREAD)

struct found {
	struct proc *child;
	int code, status; /* CLD_*, and exit code or signal */
	int wait_status;
};

/* Of several threads one has made the child; when it is gone, the process's main thread counts as
 * that. */
static bool is_own(const struct proc *c, struct task *t)
{
	struct task *maker = task_find(c->maker);

	if (!maker || maker->proc != t->proc)
		maker = proc_leader(t->proc);
	return maker == t;
}

static bool is_wanted(const struct proc *c, struct task *t, idtype_t type, pid_t id, int options)
{
	if (type == P_PID && c->pid != id)
		return false;
	if (type == P_PGID && c->pgid != id)
		return false;
	/* A clone child is one that does not end with SIGCHLD. */
	if (!(options & __WALL) && ((c->exit_signal != SIGCHLD) != !!(options & __WCLONE)))
		return false;
	return !(options & __WNOTHREAD) || is_own(c, t);
}

/* True: *f says what happened to a child that is asked for. *any: there are such children at
 * all. */
static bool child_find(struct task *t, idtype_t type, pid_t id, int options, struct found *f,
		       bool *any)
{
	struct proc *c;

	*any = false;
	list_for_each(c, &t->proc->children, sibling_link) {
		if (!is_wanted(c, t, type, id, options))
			continue;
		/* One that has ended will neither stop nor go on. */
		if (c->state == PROC_ZOMBIE && !(options & WEXITED))
			continue;
		*any = true;
		f->child = c;
		if (c->state == PROC_ZOMBIE && (options & WEXITED)) {
			f->wait_status = c->wait_status;
			if (WIFEXITED(c->wait_status)) {
				f->code = CLD_EXITED;
				f->status = WEXITSTATUS(c->wait_status);
			} else {
				f->code = WCOREDUMP(c->wait_status) ? CLD_DUMPED : CLD_KILLED;
				f->status = WTERMSIG(c->wait_status);
			}
			return true;
		}
		if (c->state == PROC_STOPPED && c->stop_sig && (options & WSTOPPED)) {
			f->code = CLD_STOPPED;
			f->status = c->stop_sig;
			f->wait_status = c->stop_sig << 8 | 0x7f;
			return true;
		}
		if (c->cont_pending && (options & WCONTINUED)) {
			f->code = CLD_CONTINUED;
			f->status = SIGCONT;
			f->wait_status = 0xffff;
			return true;
		}
	}
	return false;
}

static void child_consume(const struct found *f, int options)
{
	if (options & WNOWAIT)
		return;
	if (f->code == CLD_STOPPED)
		f->child->stop_sig = 0;
	else if (f->code == CLD_CONTINUED)
		f->child->cont_pending = false;
	else
		proc_reap(f->child);
}

/* 0: *f is filled; -ECHILD; WAITING; 1: nothing now (WNOHANG). */
static int64_t child_wait(struct task *t, idtype_t type, pid_t id, int options, struct found *f)
{
	struct waitq *q;
	bool any;

	if (child_find(t, type, id, options, f, &any))
		return 0;
	q = t->proc->pending_births ? births_pending() : NULL;
	if (!any && !q)
		return -ECHILD;
	if (options & WNOHANG)
		return 1; /* a child on its way has not ended */
	if (!any) {
		/* Only a child that has not announced itself. It may never come: its maker was
		 * killed before the host's clone. */
		call_set_timeout(t, BIRTH_WAIT);
		if (call_is_expired(t))
			return -ECHILD;
		call_wait(t, q, ~0u, PARK_RESTART);
	} else {
		t->call.has_deadline = false;
	}
	(void)call_wait(t, &t->proc->wait_q, ~0u, PARK_RESTART);
	return WAITING;
}

int64_t sys_wait4(struct task *t, const struct sysargs *a)
{
	pid_t want = (pid_t)a->a[0], pid;
	int options = (int)a->a[2];
	idtype_t type = P_PID;
	struct rusage usage;
	struct found f;
	int64_t ret;

	if (options & ~WAIT_OPTIONS)
		return -EINVAL;
	if (want == INT32_MIN)
		return -ESRCH;
	if (want == -1)
		type = P_ALL;
	else if (want <= 0) {
		type = P_PGID;
		want = want == 0 ? t->proc->pgid : -want;
	}
	options |= WEXITED;
	ret = child_wait(t, type, want, options, &f);
	if (ret)
		return ret == 1 ? 0 : ret;
	pid = f.child->pid;
	usage = f.child->usage;
	rusage_add(&usage, &f.child->child_usage);
	child_consume(&f, options);
	if (a->a[1] && guest_put(t->tid, a->a[1], &f.wait_status) < 0)
		return -EFAULT;
	if (a->a[3] && guest_write(t->tid, a->a[3], &usage, LINUX_RUSAGE_SIZE) < 0)
		return -EFAULT;
	return pid;
}

/* P_PIDFD as P_PID: the number in *id, the file in *ret_f. A process that was waited for is
 * nobody's child any more; for one that has not announced itself yet the call waits. */
static int64_t pidfd_target(struct task *t, int fd, pid_t *id, struct file **ret_f)
{
	struct file *f = fd < 0 ? NULL : file_of_call(t, fd);
	const struct pidref *r = f ? pidfd_of(f) : NULL;

	if (fd < 0)
		return -EINVAL;
	if (!r)
		return -EBADF;
	*ret_f = f;
	if (r->unborn) {
		int64_t ret = births_wait(t);

		return ret == -ESRCH ? -ECHILD : ret;
	}
	t->call.has_deadline = false; /* that of births_wait */
	*id = r->pid;
	return r->proc ? 0 : -ECHILD;
}

int64_t sys_waitid(struct task *t, const struct sysargs *a)
{
	idtype_t type = (idtype_t)a->a[0];
	pid_t id = (pid_t)a->a[1];
	int options = (int)a->a[3];
	struct linux_siginfo si = { 0 };
	struct rusage usage = { 0 };
	struct file *pidfd = NULL;
	bool eagain = false;
	struct found f;
	int64_t ret;

	if (options & ~(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WALL | __WCLONE |
			__WNOTHREAD))
		return -EINVAL;
	if (!(options & (WEXITED | WSTOPPED | WCONTINUED)))
		return -EINVAL;
	if (type == P_PIDFD) {
		ret = pidfd_target(t, (int)a->a[1], &id, &pidfd);
		if (ret < 0)
			return ret;
		type = P_PID;
		if ((pidfd->flags & O_NONBLOCK) && !(options & WNOHANG)) {
			options |= WNOHANG;
			eagain = true;
		}
	}
	if (type != P_ALL && type != P_PID && type != P_PGID)
		return -EINVAL;
	if ((type == P_PID && id <= 0) || (type == P_PGID && id < 0))
		return -EINVAL;
	if (type == P_PGID && id == 0)
		id = t->proc->pgid;
	ret = child_wait(t, type, id, options, &f);
	if (ret == WAITING && pidfd)
		file_keep(t, pidfd); /* whatever becomes of the descriptor */
	if (ret == 1 && eagain)
		return -EAGAIN;
	if (ret < 0)
		return ret;
	if (ret == 0) {
		si.signo = SIGCHLD;
		si.code = f.code;
		si.u.chld.pid = f.child->pid;
		si.u.chld.uid =
			proc_leader(f.child) ? proc_leader(f.child)->cred.uid : f.child->last_uid;
		si.u.chld.status = f.status;
		usage = f.child->usage;
		rusage_add(&usage, &f.child->child_usage);
		child_consume(&f, options);
	}
	if (a->a[2] && guest_put(t->tid, a->a[2], &si) < 0)
		return -EFAULT;
	if (a->a[4] && ret == 0 && guest_write(t->tid, a->a[4], &usage, LINUX_RUSAGE_SIZE) < 0)
		return -EFAULT;
	return 0;
}
