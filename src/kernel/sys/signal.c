/* Sending signals, and the stub's questions about them. Dispositions, masks and pending sets are
 * the host's; see src/stub/signal.c and src/kernel/task/signal.c. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "kernel/abi/signal.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/signal.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/gate.h"
#include "kernel/task/heldsig.h"
#include "kernel/task/proc.h"
#include "kernel/task/ptimer.h"
#include "stub/stub.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"

#define SI_TKILL_ (-6)

bool may_signal_user(const struct task *t, uint32_t uid, uint32_t suid, pid_t sid, int sig)
{
	const struct cred *c = &t->cred;

	if (cred_has_cap(c, 5 /* CAP_KILL */))
		return true;
	if (c->euid == suid || c->euid == uid || c->uid == suid || c->uid == uid)
		return true;
	return sig == SIGCONT && sid == t->proc->sid;
}

bool may_signal(const struct task *t, struct proc *p, int sig)
{
	const struct task *o = proc_leader(p);

	return p == t->proc || may_signal_user(t, o ? o->cred.uid : p->last_uid,
					       o ? o->cred.suid : p->last_uid, p->sid, sig);
}

static struct linux_siginfo from(const struct task *t, int sig, int code)
{
	return (struct linux_siginfo){ .signo = sig,
				       .code = code,
				       .u.rt = { .pid = t->proc->pid, .uid = t->cred.uid } };
}

/* A number nobody has may belong to a child on its way: wait for it. */
static int64_t missing(struct task *t)
{
	return births_wait(t);
}

static int64_t kill_many(struct task *t, pid_t pgid, int sig)
{
	struct linux_siginfo si = from(t, sig, 0);
	struct proc *p, *next;
	int64_t ret = -ESRCH;
	bool self = false;

	for (p = proc_next(NULL); p; p = next) {
		next = proc_next(p);
		if (pgid ? p->pgid != pgid : p == t->proc)
			continue;
		if (sig < 0 || sig > LINUX_NSIG)
			return -EINVAL;
		if (!may_signal(t, p, sig)) {
			if (ret == -ESRCH)
				ret = -EPERM;
			continue;
		}
		ret = 0;
		if (p == t->proc)
			self = true;
		else if (sig)
			signal_send_one_of(p, sig, &si);
	}
	if (sig >= 0 && sig <= LINUX_NSIG && births_signal(pgid, t, sig, &si))
		ret = 0;
	/* The caller last: it may be its end. */
	if (self && sig)
		signal_send_proc(t->proc, sig, &si);
	return ret;
}

/* Those that the kernel itself has to do with. */
#define NOT_NATIVE                                                                                 \
	(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP) | SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU) | \
	 SIGBIT(SIGCONT) | SIGBIT(SIGSYS) | SIGBIT(STUB_SIG))
#define RUNNER_UID 0 /* in the cell's user namespace */

/* A signal that t sends to itself and catches: the host carries the call out, and all of it is as
 * it is to be: the order, the mask, what the handler is told of the sender. Only registers count,
 * so the guest has no part in it. */
static bool self_is_native(const struct task *t, int sig)
{
	const struct proc *p = t->proc;

	return sig >= 1 && sig <= LINUX_NSIG &&
	       (p->sig_caught & ~(p->sigfd_mask | NOT_NATIVE) & SIGBIT(sig)) && !t->sig_inflight &&
	       t->cred.uid == RUNNER_UID && !calls_are_watched();
}

int64_t sys_kill(struct task *t, const struct sysargs *a)
{
	pid_t pid = (pid_t)a->a[0];
	int sig = (int)a->a[1];
	struct linux_siginfo si = from(t, sig, 0);
	struct proc *p;

	/* Of several threads the host might choose one that waits for us. */
	if (pid == t->proc->pid && t->proc->nthreads == 1 && !births_has_thread(t->proc) &&
	    self_is_native(t, sig))
		return CALL_NATIVE;
	if (pid == INT32_MIN)
		return -ESRCH;
	if (pid == -1)
		return kill_many(t, 0, sig);
	if (pid <= 0) {
		int64_t ret = kill_many(t, pid == 0 ? t->proc->pgid : -pid, sig);

		return ret == -ESRCH && pid < 0 ? missing(t) : ret;
	}
	p = proc_find(pid);
	if (!p && task_find(pid))
		p = task_find(pid)->proc;
	if (pid == 1 && (sig < 0 || sig > LINUX_NSIG))
		return -EINVAL;
	if (pid == 1)
		return cred_has_cap(&t->cred, 5) ? 0
						 : -EPERM; /* the cell's init takes no signals */
	if (!p)
		return missing(t);
	if (sig < 0 || sig > LINUX_NSIG)
		return -EINVAL;
	if (!may_signal(t, p, sig))
		return -EPERM;
	return sig ? signal_send_proc(p, sig, &si) : 0;
}

static int64_t do_tkill(struct task *t, pid_t tgid, pid_t tid, int sig,
			const struct linux_siginfo *si)
{
	struct task *o;

	if (tid <= 0 || (tgid != -1 && tgid <= 0))
		return -EINVAL;
	o = task_find(tid);
	if (!o) /* a leader that has left its threads behind is still a number */
		return proc_find(tid) ? 0 : missing(t);
	if (tgid != -1 && o->proc->pid != tgid)
		return -ESRCH;
	if (sig < 0 || sig > LINUX_NSIG)
		return -EINVAL;
	if (!may_signal(t, o->proc, sig))
		return -EPERM;
	return sig ? signal_send_task(o, sig, si) : 0;
}

int64_t sys_tkill(struct task *t, const struct sysargs *a)
{
	struct linux_siginfo si = from(t, (int)a->a[1], SI_TKILL_);

	return do_tkill(t, -1, (pid_t)a->a[0], (int)a->a[1], &si);
}

int64_t sys_tgkill(struct task *t, const struct sysargs *a)
{
	struct linux_siginfo si = from(t, (int)a->a[2], SI_TKILL_);

	if ((pid_t)a->a[0] <= 0)
		return -EINVAL;
	if ((pid_t)a->a[0] == t->proc->pid && (pid_t)a->a[1] == t->tid &&
	    self_is_native(t, (int)a->a[2]))
		return CALL_NATIVE;
	return do_tkill(t, (pid_t)a->a[0], (pid_t)a->a[1], (int)a->a[2], &si);
}

/* Copies the siginfo of a sender; to another process only codes that do not claim to be the
 * kernel's. */
static int siginfo_get(struct task *t, uaddr_t addr, int sig, bool self, struct linux_siginfo *out)
{
	if (guest_get(t->tid, out, addr) < 0)
		return -EFAULT;
	out->signo = sig;
	if (!self && (out->code >= 0 || out->code == SI_TKILL_))
		return -EPERM;
	return 0;
}

int64_t sys_rt_sigqueueinfo(struct task *t, const struct sysargs *a)
{
	pid_t pid = (pid_t)a->a[0];
	int sig = (int)a->a[1], ret;
	struct linux_siginfo si;
	struct proc *p;

	if (a->a[5] == STUB_MAGIC && pid == t->proc->pid) {
		/* The stub makes a travelling signal pending for its own process: natively, only
		 * registers count. */
		signal_raised(t, sig);
		return CALL_NATIVE;
	}
	if (sig < 0 || sig > LINUX_NSIG)
		return -EINVAL;
	p = pid > 0 ? proc_find(pid) : NULL;
	if (!p && pid > 0 && task_find(pid))
		p = task_find(pid)->proc;
	ret = siginfo_get(t, a->a[2], sig, p == t->proc, &si);
	if (ret < 0)
		return ret;
	if (!p)
		return pid > 1 ? missing(t) : -ESRCH;
	if (!may_signal(t, p, sig))
		return -EPERM;
	return sig ? signal_send_proc(p, sig, &si) : 0;
}

int64_t sys_rt_tgsigqueueinfo(struct task *t, const struct sysargs *a)
{
	pid_t tgid = (pid_t)a->a[0], tid = (pid_t)a->a[1];
	int sig = (int)a->a[2], ret;
	struct linux_siginfo si;

	if (a->a[5] == STUB_MAGIC && tgid == t->proc->pid && tid == t->tid) {
		signal_raised(t, sig);
		return CALL_NATIVE;
	}
	if (tgid <= 0 || tid <= 0)
		return -EINVAL;
	ret = siginfo_get(t, a->a[3], sig, tgid == t->proc->pid, &si);
	if (ret < 0)
		return ret;
	return do_tkill(t, tgid, tid, sig, &si);
}

int64_t sys_pause(struct task *t, const struct sysargs *a)
{
	(void)a;
	return call_wait(t, NULL, 0, PARK_EINTR);
}

int64_t hc_sigaction(struct task *t, const struct sysargs *a)
{
	int sig = (int)a->a[0];
	uint64_t handler = a->a[1], flags = a->a[2];
	struct proc *p = t->proc;

	if (sig < 1 || sig > LINUX_NSIG)
		return -EINVAL;
	if (handler > LINUX_SIG_IGN)
		p->sig_caught |= SIGBIT(sig);
	if (a->a[3] == 1)
		p->sig_guarded |= SIGBIT(sig);
	else
		p->sig_guarded &= ~SIGBIT(sig);
	if (sig == SIGCHLD) {
		p->chld_ignore = handler == LINUX_SIG_IGN || (flags & SA_NOCLDWAIT);
		p->chld_nowait = handler != LINUX_SIG_IGN && (flags & SA_NOCLDWAIT);
		p->chld_nostop = flags & SA_NOCLDSTOP;
	}
	return 0;
}

int64_t hc_reroute(struct task *t, const struct sysargs *a)
{
	int sig = (int)a->a[0];
	struct linux_siginfo si;

	if (sig < 1 || sig >= STUB_SIG)
		return -EINVAL;
	if (guest_get(t->tid, &si, a->a[1]) < 0)
		return -EFAULT;
	return signal_reroute(t, sig, &si) ? 0 : 1;
}

int64_t hc_hold(struct task *t, const struct sysargs *a)
{
	int sig = (int)a->a[0];
	struct linux_siginfo si;

	if (sig < 1 || sig >= STUB_SIG || !(t->proc->sigfd_mask & SIGBIT(sig)))
		return -EINVAL;
	if (guest_get(t->tid, &si, a->a[1]) < 0)
		return -EFAULT;
	return held_add(t->proc, a->a[2] ? t : NULL, sig, &si) > 0 ? 0 : -EAGAIN;
}

int64_t hc_taken(struct task *t, const struct sysargs *a)
{
	if (a->a[1]) /* a timer's, by its number plus one */
		return ptimer_taken(t->proc, (int)((uint32_t)a->a[1] - 1), (uint32_t)a->a[2]);
	signal_taken(t, (int)a->a[0]);
	return 0;
}

int64_t sys_exit(struct task *t, const struct sysargs *a)
{
	struct proc *p = t->proc;

	(void)a;
	/* A thread that it made may not have announced itself: then this one is not the last. */
	if (p->nthreads == 1 && births_has_thread(p) && births_wait(t) == WAITING)
		return WAITING;
	/* The last thread's exit is the process's: the host will tell. */
	return p->nthreads > 1 ? CALL_EXIT : CALL_NATIVE;
}
