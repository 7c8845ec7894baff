/* Who is sent what, and how it reaches the runner.
 *
 * A signal without a handler goes to the host as it is: it ends the process, is ignored or stays
 * pending there, as its mask and dispositions (which are the host's) say. A signal with a handler
 * travels inside the reserved signal to exactly one thread; see src/stub/signal.c. A stop is the
 * host's SIGSTOP, as a thread that waits for our answer takes no other; a stop signal that is
 * blocked is left to the host, which stops the process when it is unblocked (docs/decisions/0035).
 *
 * Which signals have a handler: p->sig_caught is a superset that the stub reports; the host's own
 * sets (/proc/PID/task/TID/status) are read only for those. Without a /proc every thread is assumed
 * to have the signal unblocked; the stub sends it back (HC_REROUTE) where that is wrong. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/arena.h"
#include "host/child.h"
#include "host/procmem.h"
#include "kernel/abi/signal.h"
#include "kernel/platform/cell.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/heldsig.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/task/upcalls.h"

#define STOPS (SIGBIT(SIGTSTP) | SIGBIT(SIGTTIN) | SIGBIT(SIGTTOU))
#define IGNORED (SIGBIT(SIGCHLD) | SIGBIT(SIGURG) | SIGBIT(SIGWINCH)) /* by default */
/* Signals that end a process with a core: the host makes a thread that waits for our answer see
 * them only after it. */
#define CORES                                                                                    \
	(SIGBIT(SIGQUIT) | SIGBIT(SIGILL) | SIGBIT(SIGTRAP) | SIGBIT(SIGABRT) | SIGBIT(SIGFPE) | \
	 SIGBIT(SIGSEGV) | SIGBIT(SIGBUS) | SIGBIT(SIGXCPU) | SIGBIT(SIGXFSZ))
#define SI_QUEUE_ (-1)
#define SI_KERNEL_ 0x80
#define TRAVEL_MAX 1024 /* to one thread */
#define UNBORN_MAX 16 /* real-time signals to a process on its way */

/* What a reserved signal carries, until the stub has taken it out. */
struct travel {
	struct list link; /* in task.travelling, in the order of sending */
	bool shared; /* meant for the process, not for the thread */
	struct linux_siginfo info;
};
OBJ_TYPE(travel_type, struct travel, 65536);

static bool is_travelling(const struct task *t, int sig, bool shared)
{
	struct travel *v;

	if (sig < 32 && !(t->sig_sent & SIGBIT(sig)))
		return false;
	list_for_each(v, &t->travelling, link)
		if (v->info.signo == sig && v->shared == shared)
			return true;
	return false;
}

/* False: there is no room. */
static bool travel_add(struct list *to, int sig, bool shared, const struct linux_siginfo *info)
{
	struct travel *v = obj_new(&travel_type);

	if (!v)
		return false;
	v->shared = shared;
	v->info = *info;
	v->info.signo = sig;
	list_append(to, &v->link);
	return true;
}

/* One that is not noted (no room, or far too many of those that queue) only cannot be saved when
 * its thread ends. */
static void travel_note(struct task *t, int sig, bool shared, const struct linux_siginfo *info)
{
	if (sig < 32 || t->sig_inflight <= TRAVEL_MAX)
		(void)travel_add(&t->travelling, sig, shared, info);
}

static void travel_free(struct travel *v)
{
	list_remove(&v->link);
	obj_free(&travel_type, v);
}

/* The siginfo for a signal that goes to the host directly: its code must be SI_QUEUE; the real one
 * rides in si_errno for sigtimedwait. */
static void pack_direct(struct linux_siginfo *out, int sig, const struct linux_siginfo *info)
{
	memset(out, 0, sizeof(*out));
	out->signo = sig;
	out->err = (int32_t)SIG_PACK(sig, 0, info->code);
	out->code = SI_QUEUE_;
	memcpy(out->u.payload, info->u.payload, sizeof(out->u.payload));
}

static int send_reserved(struct task *t, int sig, unsigned flags, const struct linux_siginfo *info)
{
	struct linux_siginfo si = { .signo = STUB_SIG, .code = SI_QUEUE_ };
	int ret;

	si.err = (int32_t)SIG_PACK(sig, flags, info ? info->code : 0);
	if (info)
		memcpy(si.u.payload, info->u.payload, sizeof(si.u.payload));
	ret = host_tgsigqueue(t->proc->pid, t->tid, STUB_SIG, &si);
	if (ret == 0 && sig) {
		t->sig_inflight++;
		if (sig < 32)
			t->sig_sent |= SIGBIT(sig);
		travel_note(t, sig, !(flags & SIGF_THREAD), info);
	}
	return ret;
}

/* A reserved signal without a signal in it: the thread comes by the stub. Queues can be full; then
 * SIGSYS, of which the host delivers one without its siginfo. */
static void nudge(struct task *t, unsigned flags)
{
	if (send_reserved(t, 0, flags, NULL) == -EAGAIN)
		signal_nudge(t);
}

void signal_wake_armed(struct task *t)
{
	nudge(t, SIGF_WAKE);
}

void signal_rest(struct task *t)
{
	const struct linux_siginfo si = { .code = STUB_CODE_REST };

	(void)send_reserved(t, 0, 0, &si);
}

int signal_travelling(const struct task *t, int (*fn)(const struct task *t, bool shared,
						      const struct linux_siginfo *info))
{
	struct travel *v;
	uint32_t n = 0;
	int ret = 0;

	list_for_each(v, &t->travelling, link) {
		ret = fn(t, v->shared, &v->info);
		if (ret)
			return ret;
		n++;
	}
	return n == t->sig_inflight ? 0 : -E2BIG;
}

static int send_wait(struct task *t, unsigned flags, const struct stub_wait *w)
{
	struct linux_siginfo si = { 0 };

	_Static_assert(sizeof(*w) == sizeof(si.u.payload), "fits");
	memcpy(si.u.payload, w, sizeof(*w));
	return send_reserved(t, 0, flags, &si);
}

int signal_detach(struct task *t, const struct stub_wait *w)
{
	return send_wait(t, SIGF_WAIT, w);
}

int signal_return(struct task *t, const struct stub_wait *w)
{
	return send_wait(t, SIGF_WAIT | SIGF_WAKE, w);
}

void signal_nudge(struct task *t)
{
	const struct linux_siginfo si = { .signo = SIGSYS, .code = SI_QUEUE_ };

	(void)host_tgsigqueue(t->proc->pid, t->tid, SIGSYS, &si);
}

void signal_collect(struct task *t, uint64_t mask)
{
	struct linux_siginfo si = { .signo = STUB_SIG, .code = SI_QUEUE_ };
	struct host_status st;
	uint64_t sets[2];

	if (cell.proc_fd < 0 || host_task_status(cell.proc_fd, t->proc->pid, t->tid, &st) < 0)
		return;
	mask &= ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP) | SIGBIT(SIGCONT) | SIGBIT(SIGSYS) |
		  SIGBIT(STUB_SIG));
	sets[0] = st.sig_pnd & mask;
	sets[1] = st.shd_pnd & mask;
	if (!sets[0] && !sets[1])
		return;
	si.err = (int32_t)SIG_PACK(0, SIGF_COLLECT, 0);
	memcpy(si.u.payload, sets, sizeof(sets));
	t->errand = true;
	(void)host_tgsigqueue(t->proc->pid, t->tid, STUB_SIG, &si);
}

void signal_patch(struct task *t, uint64_t ip, bool single, uint32_t post)
{
	const struct stub_patch what = { .ip = ip, .single = single, .post = post };
	struct linux_siginfo si = { 0 };

	memcpy(si.u.payload, &what, sizeof(what));
	t->errand = true;
	(void)send_reserved(t, 0, SIGF_PATCH, &si);
}

void signal_taken(struct task *t, int sig)
{
	struct travel *v;

	if (t->sig_inflight)
		t->sig_inflight--;
	list_for_each(v, &t->travelling, link)
		if (v->info.signo == sig) {
			travel_free(v);
			break;
		}
	if (sig >= 1 && sig < 32 && !is_travelling(t, sig, false) && !is_travelling(t, sig, true))
		t->sig_sent &= ~SIGBIT(sig);
}

void signal_raised(struct task *t, int sig)
{
	signal_taken(t, sig);
	t->raising = sig;
}

void signal_task_gone(struct task *t)
{
	struct travel *v, *tmp;

	list_for_each_safe(v, tmp, &t->travelling, link) {
		if (!v->shared) {
			travel_free(v);
			continue;
		}
		list_remove(&v->link);
		list_append(&t->proc->stranded, &v->link);
	}
}

bool signal_strand(struct proc *p, int sig, const struct linux_siginfo *info)
{
	const struct linux_siginfo kernel_info = { .signo = sig, .code = SI_KERNEL_ };
	uint32_t count = 0;
	struct travel *v;

	list_for_each(v, &p->stranded, link) {
		/* As Linux does it where a queue is full: what is pending already is not pending
		 * twice. */
		if (v->info.signo == sig && (sig < 32 || count >= UNBORN_MAX))
			return true;
		count++;
	}
	return travel_add(&p->stranded, sig, true, info ? info : &kernel_info);
}

void signal_forget(struct proc *p)
{
	list_remove(&p->late_link);
	while (!list_is_empty(&p->stranded))
		travel_free(list_first(&p->stranded, struct travel, link));
}

/* To this thread, which has it unblocked or is somewhere in the stub. */
static int send_caught(struct task *t, int sig, unsigned how, const struct linux_siginfo *info)
{
	bool parked = call_is_parked(&t->call) && t->call.kind != PARK_NOINTR;
	unsigned flags = !parked ? 0 : t->call.kind == PARK_RESTART ? SIGF_RESTART : SIGF_EINTR;
	int ret = send_reserved(t, sig, flags | how, info);

	if (ret == 0 && parked)
		call_interrupt(t);
	return ret;
}

static bool is_parked(const struct task *t)
{
	return call_is_parked(&t->call);
}

/* Parked, and nothing happens on the host before we answer. A detached call's thread takes signals
 * and stops as if it ran. */
static bool is_held(const struct task *t)
{
	return is_parked(t) && t->call.way != WAY_SIGNAL;
}

/* As host_thread_sigs_of(): what a detached call's thread blocks is known, and it may be on its way
 * to where it blocks that. */
static int task_sigs(const struct task *t, int sig, struct host_sigs *out)
{
	if (is_parked(t) && t->call.way == WAY_SIGNAL) {
		*out = (struct host_sigs){ .blocked = t->call.sigmask };
		return 0;
	}
	return cell.proc_fd < 0 ? -EBADF
				: host_thread_sigs_of(cell.proc_fd, t->proc->pid, t->tid, sig, out);
}

/* The thread to which a signal of this number travels, of those that queue: the next must not
 * overtake it on another way. */
static struct task *travels_to(struct proc *p, const struct task *only, int sig)
{
	struct task *t;

	if (sig >= 32)
		list_for_each(t, &p->threads, thread_link)
			if ((!only || t == only) &&
			    (t->raising == sig || is_travelling(t, sig, !only)))
				return t;
	return NULL;
}

static int deliver_caught(struct proc *p, struct task *only, int sig,
			  const struct linux_siginfo *info, struct task *not_this)
{
	struct task *t, *open = NULL, *in_stub = NULL, *running = NULL;
	const unsigned how = only ? SIGF_THREAD : 0;
	struct linux_siginfo direct;
	struct host_sigs hs;
	int ret;

	/* A standard signal that is already on its way is not sent twice. */
	if (sig < 32)
		list_for_each(t, &p->threads, thread_link)
			if ((!only || t == only) && is_travelling(t, sig, !only))
				return 0;
	/* There is no choice, and the thread runs: it takes it or makes it pending itself. What its
	 * mask is costs more to find out than all the rest. */
	t = only ? only : p->nthreads == 1 ? proc_leader(p) : NULL;
	if (t && !is_parked(t)) {
		ret = send_reserved(t, sig, how, info);
		if (ret != -EAGAIN || sig >= 32)
			return ret;
	}
	/* The analyzer takes not_this for an entry also where it is none.
	 * NOLINTNEXTLINE(clang-analyzer-core.*) */
	list_for_each(t, &p->threads, thread_link) {
		if ((only && t != only) || t == not_this)
			continue;
		ret = task_sigs(t, sig, &hs);
		if (ret == -ENOENT || ret == -ESRCH)
			continue; /* it has just ended */
		if (ret < 0)
			memset(&hs, 0, sizeof(hs));
		if (!is_parked(t) && !running)
			running = t;
		if (hs.blocked & SIGBIT(STUB_SIG)) {
			if (!in_stub)
				in_stub = t;
		} else if (!(hs.blocked & SIGBIT(sig))) {
			open = t;
			break;
		}
	}
	if (open || in_stub) {
		ret = send_caught(open ? open : in_stub, sig, how, info);
		if (ret != -EAGAIN || sig >= 32)
			return ret;
		running = NULL; /* a standard signal never fails for want of room */
	}
	/* Blocked everywhere. A thread that runs makes it pending itself, with its true siginfo; a
	 * parked one is not disturbed. */
	if (running)
		return send_reserved(running, sig, how, info);
	pack_direct(&direct, sig, info);
	return only ? host_tgsigqueue(p->pid, only->tid, sig, &direct)
		    : host_sigqueue(p->pid, sig, &direct);
}

/* In an orphaned group nobody could continue it: Linux does not stop it. */
bool pgrp_is_orphaned(pid_t pgid)
{
	for (struct proc *q = proc_next(NULL); q; q = proc_next(q))
		if (q->pgid == pgid && q->state != PROC_ZOMBIE && q->parent &&
		    q->parent->pgid != pgid && q->parent->sid == q->sid)
			return false;
	return true;
}

void pgrp_hangup_if_orphaned(pid_t pgid)
{
	bool stopped = false;

	if (!pgrp_is_orphaned(pgid))
		return;
	for (struct proc *q = proc_next(NULL); q; q = proc_next(q))
		stopped |= q->pgid == pgid && q->state == PROC_STOPPED;
	if (!stopped)
		return;
	(void)signal_send_pgrp(pgid, SIGHUP, NULL);
	(void)signal_send_pgrp(pgid, SIGCONT, NULL);
}

/* A parked thread that was told to stop has its host's pending mark set already, so the host does
 * not wake it for a later signal, not even a fatal one. If something is pending that it does not
 * block, the call is cut short: the host then acts on it. What is pending for the process may be
 * another thread's by then, so the thread gets a signal of its own: without any, the host would
 * show our ERESTARTSYS to the guest. */
static void parked_nudge(struct proc *p, int sig)
{
	struct host_status st;
	struct task *t;

	if ((!p->was_stopped && !(CORES & SIGBIT(sig))) || p->state != PROC_RUNNING ||
	    cell.proc_fd < 0)
		return;
	list_for_each(t, &p->threads, thread_link)
		if (is_held(t) && host_task_status(cell.proc_fd, p->pid, t->tid, &st) == 0 &&
		    ((st.sig_pnd | st.shd_pnd) & ~st.sig_blk)) {
			nudge(t, 0);
			call_interrupt(t);
		}
}

static void task_stop(struct task *t)
{
	const struct linux_siginfo si = { .signo = SIGSTOP, .code = SI_QUEUE_ };

	(void)host_tgsigqueue(t->proc->pid, t->tid, SIGSTOP, &si);
}

/* The host hands a stop to one thread, which stops the others. It may choose one that waits for our
 * answer, and that does nothing before it has it: the others would run on. So they are told
 * themselves; what of that is left over goes with SIGCONT. */
static int proc_stop(struct proc *p)
{
	int ret = host_kill(p->pid, SIGSTOP);
	struct task *t;

	if (p->nthreads > 1)
		list_for_each(t, &p->threads, thread_link)
			if (!is_held(t))
				task_stop(t);
	return ret;
}

void signal_born(struct task *t)
{
	if (t->proc->state == PROC_STOPPED || t->proc->stop_request)
		task_stop(t);
}

/* What a stop signal other than SIGSTOP does to the process, or to one of its threads. */
enum stop { STOP_NOTHING, STOP_NOW, STOP_LATER };

static enum stop stop_does(struct proc *p, const struct task *only, int sig)
{
	struct host_sigs hs;
	struct task *t;

	list_for_each(t, &p->threads, thread_link) {
		if (only && t != only)
			continue;
		if (cell.proc_fd < 0 || host_thread_sigs(cell.proc_fd, p->pid, t->tid, &hs) < 0)
			return STOP_NOW;
		/* In the stub everything is blocked, which says nothing of the guest's mask. The
		 * host can be left to find out unless another thread waits for our answer: see
		 * proc_stop(). */
		if ((hs.blocked & SIGBIT(sig)) &&
		    (!(hs.blocked & SIGBIT(STUB_SIG)) || p->nthreads == 1))
			continue;
		return hs.ignored & SIGBIT(sig) ? STOP_NOTHING : STOP_NOW;
	}
	return STOP_LATER;
}

static bool stop_is_spared(const struct proc *p)
{
	return !p->stop_asked && pgrp_is_orphaned(p->pgid);
}

static int deliver_stop(struct proc *p, struct task *t, int sig, const struct linux_siginfo *info)
{
	enum stop does = sig == SIGSTOP ? STOP_NOW : stop_does(p, t, sig);
	struct linux_siginfo direct;
	int ret;

	if (does == STOP_LATER) {
		pack_direct(&direct, sig, info);
		return t ? host_tgsigqueue(p->pid, t->tid, sig, &direct)
			 : host_sigqueue(p->pid, sig, &direct);
	}
	if (does == STOP_NOTHING || (sig != SIGSTOP && stop_is_spared(p)))
		return 0;
	p->stop_request = sig;
	ret = proc_stop(p);
	/* A thread that waits for our answer does not stop on the host before it gets it, so the
	 * host would not report a stop: we say it ourselves. */
	list_for_each(t, &p->threads, thread_link)
		if (is_parked(t)) {
			proc_stopped(p, sig);
			break;
		}
	return ret;
}

/* The host's SIGCONT that continues p and that the guest does not see. It would take back stop
 * signals that are pending. */
static void proc_resume(const struct proc *p)
{
	const struct linux_siginfo direct = { .signo = SIGCONT,
					      .code = SI_QUEUE_,
					      .err = (int32_t)SIG_PACK(SIGCONT, SIGF_RESUME, 0) };
	struct host_status st = { 0 };

	if (cell.proc_fd >= 0)
		(void)host_task_status(cell.proc_fd, p->pid, p->pid, &st);
	if (!(p->sig_caught & SIGBIT(SIGCONT)) || host_sigqueue(p->pid, SIGCONT, &direct) < 0)
		(void)host_kill(p->pid, SIGCONT);
	for (int sig = SIGTSTP; sig <= SIGTTOU; sig++)
		if (st.shd_pnd & SIGBIT(sig))
			(void)host_kill(p->pid, sig);
}

bool signal_stop_counts(struct proc *p, int sig)
{
	if (p->stop_request || p->state != PROC_RUNNING || !(STOPS & SIGBIT(sig)) ||
	    !stop_is_spared(p))
		return true;
	proc_resume(p);
	return false;
}

/* Would it take the signal now? Then nothing but SIGCONT can come between that and its end. */
static bool is_open(struct proc *p, const struct task *only, int sig)
{
	struct host_sigs hs;
	struct task *t;

	list_for_each(t, &p->threads, thread_link)
		if ((!only || t == only) &&
		    (cell.proc_fd < 0 || host_thread_sigs(cell.proc_fd, p->pid, t->tid, &hs) < 0 ||
		     !((hs.blocked | hs.ignored) & SIGBIT(sig))))
			return true;
	return false;
}

/* To the host as it is. A stopped process takes it after SIGCONT; but what we call stopped may not
 * be so on the host yet (see deliver_stop()), which would end it at once. */
static int deliver_default(struct proc *p, struct task *t, int sig,
			   const struct linux_siginfo *info)
{
	struct linux_siginfo direct;
	struct task *same = travels_to(p, t, sig);
	int ret;

	if (same) /* it had a handler before an exec */
		return send_caught(same, sig, t ? SIGF_THREAD : 0, info);
	if (p->state == PROC_STOPPED && !(IGNORED & SIGBIT(sig)) && is_open(p, t, sig)) {
		p->stop_held |= SIGBIT(sig);
		return 0;
	}
	pack_direct(&direct, sig, info);
	ret = t ? host_tgsigqueue(p->pid, t->tid, sig, &direct)
		: host_sigqueue(p->pid, sig, &direct);
	parked_nudge(p, sig);
	return ret;
}

static void send_held(struct proc *p)
{
	for (; p->stop_held; p->stop_held &= p->stop_held - 1)
		(void)host_kill(p->pid, __builtin_ctzll(p->stop_held) + 1);
}

/* Always the host's own: it continues the whole process. Sent to one thread if there is a handler,
 * so that we know whose parked call the host will restart or end; the stub's handler (stub_cont)
 * finds the real code in it, and whether the call ends. */
static int deliver_cont(struct proc *p, struct task *t, bool caught,
			const struct linux_siginfo *info)
{
	struct linux_siginfo direct;
	struct host_sigs hs = { 0 };
	unsigned flags = 0;
	bool ends;
	int ret;

	p->stop_request = 0;
	p->stop_asked = false;
	send_held(p);
	if (!t)
		t = proc_leader(p);
	if (!caught || !t) {
		ret = host_kill(p->pid, SIGCONT);
		proc_continued(p);
		parked_nudge(p, SIGCONT);
		return ret;
	}
	(void)task_sigs(t, SIGCONT, &hs);
	pack_direct(&direct, SIGCONT, info);
	ends = is_parked(t) && t->call.kind != PARK_NOINTR && !(hs.blocked & SIGBIT(SIGCONT));
	if (ends && t->call.kind == PARK_EINTR)
		flags |= SIGF_EINTR;
	if (ends && !is_held(t))
		flags |= SIGF_WAIT;
	direct.err = (int32_t)SIG_PACK(SIGCONT, flags, info->code);
	ret = host_tgsigqueue(p->pid, t->tid, SIGCONT, &direct);
	if (ret == 0 && ends)
		call_interrupt(t);
	proc_continued(p);
	parked_nudge(p, SIGCONT);
	return ret;
}

/* sig_caught remembers handlers that are gone (a shell's child resets what the shell caught). For a
 * stop the difference counts: only we can stop a process. */
static bool stop_is_caught(struct proc *p, int sig)
{
	struct task *t = proc_leader(p);
	struct host_sigs hs;

	return !t || cell.proc_fd < 0 || host_thread_sigs(cell.proc_fd, p->pid, t->tid, &hs) < 0 ||
	       (hs.caught & SIGBIT(sig));
}

static int deliver(struct proc *p, struct task *t, int sig, const struct linux_siginfo *info)
{
	struct linux_siginfo kernel_info = { .signo = sig, .code = SI_KERNEL_ };
	bool caught;
	int ret;

	/* What a clone asked for at its end may be any number. */
	if (sig < 1 || sig > LINUX_NSIG || p->state == PROC_ZOMBIE)
		return 0;
	caught = p->sig_caught & SIGBIT(sig);
	if (!info &&
	    t) { /* what a call does to its caller looks like its own doing: SIGPIPE, SIGXFSZ */
		kernel_info.code = 0;
		kernel_info.u.rt.pid = p->pid;
		kernel_info.u.rt.uid = t->cred.uid;
	}
	if (!info)
		info = &kernel_info;
	if (sig == SIGKILL || (sig == SIGSYS && !caught) || sig == STUB_SIG) {
		/* The last two are ours in the runner; by default they end a process. A SIGSYS with
		 * a handler reaches it by the stub's. */
		proc_kill(p, sig == SIGKILL ? 0 : sig);
		return 0;
	}
	if (sig == SIGCONT)
		return deliver_cont(p, t, caught, info);
	if ((p->sigfd_mask & SIGBIT(sig)) && sig != SIGSTOP) {
		ret = held_take(p, t, sig, info);
		if (ret)
			return ret > 0 ? 0 : ret;
	}
	if (sig == SIGSTOP || ((STOPS & SIGBIT(sig)) && (!caught || !stop_is_caught(p, sig))))
		return deliver_stop(p, t, sig, info);
	if (caught)
		return deliver_caught(p, t, sig, info, NULL);
	return deliver_default(p, t, sig, info);
}

/* Those who have yet to get a signal that was sent to many. Who they are is decided when it is
 * sent; before anything else happens to one of them, it gets it. */
static struct list late = LIST_INIT(late);
/* One of them is just getting its signals. What that makes others send (a child stops, its parent
 * hears of it) waits with what they have to get themselves, or a chain of parents would be a chain
 * of calls here. */
static bool hurrying;

void signal_resend(struct proc *from, struct proc *to)
{
	list_remove(&from->late_link);
	while (!list_is_empty(&from->stranded)) {
		struct travel *v = list_first(&from->stranded, struct travel, link);

		/* First, because what happens now may come back to this list. */
		list_remove(&v->link);
		(void)deliver(to, NULL, v->info.signo, &v->info);
		travel_free(v);
	}
}

void signal_hurry(struct proc *p)
{
	if (hurrying || list_is_empty(&p->late_link))
		return;
	hurrying = true;
	signal_resend(p, p);
	hurrying = false;
}

static void late_send(struct ktimer *timer)
{
	while (!list_is_empty(&late)) {
		if (turn_is_long() && ktimer_start(timer, now_mono() + 1) == 0)
			return;
		signal_hurry(list_first(&late, struct proc, late_link));
	}
}
KTIMER(late_timer, late_send);

void signal_send_one_of(struct proc *p, int sig, const struct linux_siginfo *info)
{
	if (!p->nthreads) /* it has ended, or is just about to: nobody is there to get it */
		return;
	if (sig == SIGKILL || !turn_is_long() ||
	    (!ktimer_is_started(&late_timer) && ktimer_start(&late_timer, now_mono() + 1) < 0)) {
		(void)signal_send_proc(p, sig, info);
		return;
	}
	if (!signal_strand(p, sig, info))
		(void)signal_send_proc(p, sig, info);
	else if (list_is_empty(&p->late_link))
		list_append(&late, &p->late_link);
}

int signal_send_proc(struct proc *p, int sig, const struct linux_siginfo *info)
{
	signal_hurry(p);
	if (!list_is_empty(&p->late_link) && sig != SIGKILL && signal_strand(p, sig, info))
		return 0;
	return deliver(p, NULL, sig, info) == -EAGAIN ? -EAGAIN : 0;
}

int signal_send_task(struct task *t, int sig, const struct linux_siginfo *info)
{
	signal_hurry(t->proc);
	return deliver(t->proc, t, sig, info) == -EAGAIN ? -EAGAIN : 0;
}

int signal_send_pgrp(pid_t pgid, int sig, const struct linux_siginfo *info)
{
	struct proc *p, *next;
	int ret = -ESRCH;

	for (p = proc_next(NULL); p; p = next) {
		next = proc_next(p);
		if (p->pgid == pgid && p->state != PROC_ZOMBIE) {
			signal_send_one_of(p, sig, info);
			ret = 0;
		}
	}
	if (task_upcalls.signal_unborn && task_upcalls.signal_unborn(pgid, NULL, sig, info))
		ret = 0;
	return ret;
}

bool signal_reroute(struct task *t, int sig, const struct linux_siginfo *info)
{
	struct proc *p = t->proc;
	struct task *o;
	struct host_sigs hs;

	list_for_each(o, &p->threads, thread_link) {
		if (o == t || task_sigs(o, sig, &hs) < 0)
			continue;
		if ((hs.blocked & SIGBIT(STUB_SIG)) || (hs.blocked & SIGBIT(sig)))
			continue;
		if (send_caught(o, sig, 0, info) < 0)
			return false;
		signal_taken(t, sig);
		return true;
	}
	if ((p->sigfd_mask & SIGBIT(sig)) && held_add(p, NULL, sig, info) > 0) {
		signal_taken(t, sig);
		return true;
	}
	return false;
}

void proc_kill(struct proc *p, int wait_status)
{
	/* One that was killed already fails at whatever it was about, as its memory is gone. */
	if (!p->exiting)
		p->kill_status = wait_status;
	p->exiting = true;
	(void)host_kill(p->pid, SIGKILL);
}

/* ---- pausing ---- */

/* Neither stopped already nor about to be: what the host is told is ours to take back. */
static bool is_running(const struct proc *p)
{
	return p->state == PROC_RUNNING && !p->stop_request && !p->exiting;
}

void procs_pause(void)
{
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (is_running(p))
			(void)proc_stop(p);
}

void procs_resume(void)
{
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		if (is_running(p))
			proc_resume(p);
}
