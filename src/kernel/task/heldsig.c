/* Signals kept for signalfd.
 *
 * Pending signals live in the host's queues of the runner, where only the runner itself can take
 * them out. So a signal that is in the mask of one of the process's signalfds (proc.sigfd_mask) and
 * that every thread blocks is not sent on: it waits here and a read of the signalfd takes it. It is
 * sent on after all when a thread does not block it any more or when the last signalfd for it is
 * closed; that is looked at whenever the process makes a call that reaches the kernel.
 *
 * What was pending before the signalfd was made or widened is fetched by the stub of the thread
 * that does so (signal_collect()).
 *
 * Differences from Linux: what was pending before for another thread alone is not read; what is
 * held is not seen by sigpending and sigtimedwait, and a thread that unblocks it gets it with its
 * next call. SIGCONT and SIGSTOP are never held. */
#include "kernel/task/heldsig.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "base/arena.h"
#include "host/child.h"
#include "kernel/platform/cell.h"
#include "kernel/task/proc.h"
#include "kernel/task/ptimer.h"
#include "stub/stub.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"

#define HELD_MAX 4096 /* of one process */

struct held {
	struct list link;
	pid_t tid; /* 0: for the process */
	struct linux_siginfo info;
};
OBJ_TYPE(held_type, struct held, 65536);

/* A thread inside the stub blocks everything for the moment: what it will do is found out at its
 * next call. */
static bool is_blocked(const struct proc *p, const struct task *only, int sig)
{
	struct host_sigs hs;
	struct task *t;

	if (cell.proc_fd < 0)
		return true;
	list_for_each(t, &p->threads, thread_link) {
		if (only && t != only)
			continue;
		if (host_thread_sigs_of(cell.proc_fd, p->pid, t->tid, sig, &hs) == 0 &&
		    !(hs.blocked & SIGBIT(sig)))
			return false;
	}
	return true;
}

int held_add(struct proc *p, const struct task *only, int sig, const struct linux_siginfo *info)
{
	pid_t tid = only ? only->tid : 0;
	uint64_t max = MIN(p->limits[RLIMIT_SIGPENDING].cur, (uint64_t)HELD_MAX);
	uint32_t count = 0;
	struct held *h;

	list_for_each(h, &p->held, link) {
		if (h->tid == tid && h->info.signo == sig && sig < 32)
			return 1; /* a standard signal is pending once */
		count++;
	}
	h = sig >= 32 && count >= max ? NULL : obj_new(&held_type);
	if (!h)
		return sig >= 32 ? -EAGAIN : 1;
	h->tid = tid;
	h->info = *info;
	h->info.signo = sig;
	list_append(&p->held, &h->link);
	p->held_set |= SIGBIT(sig);
	waitq_wake(&p->sigfd_q, POLLIN | POLLRDNORM);
	return 1;
}

int held_take(struct proc *p, const struct task *only, int sig, const struct linux_siginfo *info)
{
	return is_blocked(p, only, sig) ? held_add(p, only, sig, info) : 0;
}

/* Out of the list; the caller frees it. */
static void held_unlink(struct proc *p, struct held *h)
{
	struct held *o;

	list_remove(&h->link);
	list_for_each(o, &p->held, link)
		/* The analyzer takes the head of another list for an entry.
		 * NOLINTNEXTLINE(clang-analyzer-core.*) */
		if (o->info.signo == h->info.signo)
			return;
	p->held_set &= ~SIGBIT(h->info.signo);
}

static void held_drop(struct proc *p, struct held *h)
{
	held_unlink(p, h);
	obj_free(&held_type, h);
}

uint64_t held_pending(const struct task *t)
{
	uint64_t set = 0;
	struct held *h;

	list_for_each(h, &t->proc->held, link)
		if (!h->tid || h->tid == t->tid)
			set |= SIGBIT(h->info.signo);
	return set;
}

bool held_next(struct task *t, uint64_t mask, struct linux_siginfo *out)
{
	struct held *h, *best = NULL;

	list_for_each(h, &t->proc->held, link) {
		if ((h->tid && h->tid != t->tid) || !(mask & SIGBIT(h->info.signo)))
			continue;
		if (!best || (h->tid && !best->tid) ||
		    (!h->tid == !best->tid && h->info.signo < best->info.signo))
			best = h;
	}
	if (!best)
		return false;
	*out = best->info;
	held_drop(t->proc, best);
	if (out->code == SI_TIMER) { /* what it missed is known only now */
		int missed = ptimer_taken(t->proc, out->u.timer.tid, out->u.timer.seq);

		out->u.timer.overrun = MAX(missed, 0);
	}
	return true;
}

void held_pass_on(struct task *t)
{
	struct list batch = LIST_INIT(batch);
	struct proc *p = t->proc;
	struct host_sigs hs = { .blocked = ~0UL };
	struct held *h, *tmp;
	uint64_t out;

	/* One look at the caller: it is the threads that unblock something which make calls
	 * afterwards. */
	if ((p->held_set & p->sigfd_mask) && cell.proc_fd >= 0)
		(void)host_thread_sigs_of(cell.proc_fd, p->pid, t->tid, p->held_set >> 31 ? 64 : 1,
					  &hs);
	out = p->held_set & ~(hs.blocked & p->sigfd_mask);
	if (!out)
		return;
	list_for_each_safe(h, tmp, &p->held, link) {
		if (!(out & SIGBIT(h->info.signo)) ||
		    (h->tid && h->tid != t->tid && (p->sigfd_mask & SIGBIT(h->info.signo))))
			continue;
		held_unlink(p, h);
		list_append(&batch, &h->link);
	}
	while (!list_is_empty(&batch)) {
		struct task *to;

		h = list_first(&batch, struct held, link);
		to = h->tid ? task_find(h->tid) : NULL;
		if (to && to->proc == p)
			(void)signal_send_task(to, h->info.signo, &h->info);
		else if (!h->tid)
			(void)signal_send_proc(p, h->info.signo, &h->info);
		list_remove(&h->link);
		obj_free(&held_type, h);
	}
}

void held_free(struct proc *p)
{
	struct held *h, *tmp;

	list_for_each_safe(h, tmp, &p->held, link) {
		list_remove(&h->link);
		obj_free(&held_type, h);
	}
	p->held_set = 0;
}
