/* Dispatch: finds the task and the row, runs the handler, answers.
 *
 * A thread that is not in our tables can only announce itself; whatever else it asks for, it is
 * ended: it was made behind our back. The rows are dense up to the last number; HC_ numbers have a
 * table of their own. Both are bounds-checked before they are indexed. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "host/child.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/dispatch.h"
#include "kernel/sys/exec.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/post.h"
#include "kernel/sys/rest.h"
#include "kernel/sys/seed.h"
#include "kernel/task/call.h"
#include "kernel/task/detach.h"
#include "kernel/task/gate.h"
#include "kernel/task/heldsig.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"

typedef int64_t (*handler_fn)(struct task *t, const struct sysargs *a);

enum row_status { NO_ROW, KERNEL, NATIVE, STUB, REFUSED, NONE };

struct row {
	enum row_status status;
	handler_fn handler;
};

/* What a trace prints. Apart from the rows, and without pointers: only what has pointers is private
 * memory of each kernel. */
struct row_text {
	char name[24];
	char format[8];
};

#define MAX_NR 512

/* Handlers are in memory that is read-only once the program is loaded, and the rest of a row is
 * constant. */
static const handler_fn handlers[MAX_NR] = {
#define SYSCALL(nr, name, status, format) [nr] = sys_##name,
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL
};

static const uint8_t statuses[MAX_NR] = {
#define SYSCALL(nr, name, status, format) [nr] = status,
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL
};

static const struct row_text texts[MAX_NR] = {
#define SYSCALL(nr, name, status, format) [nr] = { #name, format },
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL
};

#define HYPER(nr) [(nr)-HC_BASE]

static const struct {
	struct row_text text;
	struct row row;
} hypers[HC_LAST - HC_BASE + 1] = {
	HYPER(HC_CLONE_PREP) = { { "viv_clone_prep", "xd" }, { KERNEL, hc_clone_prep } },
	HYPER(HC_CLONE_CANCEL) = { { "viv_clone_cancel", "x" }, { KERNEL, hc_clone_cancel } },
	HYPER(HC_EXEC_PREP) = { { "viv_exec_prep", "fsxx" }, { KERNEL, hc_exec_prep } },
	HYPER(HC_EXEC_CANCEL) = { { "viv_exec_cancel", "" }, { KERNEL, hc_exec_cancel } },
	HYPER(HC_EXEC_BOOT) = { { "viv_exec_boot", "p" }, { KERNEL, hc_exec_boot } },
	HYPER(HC_EXEC_DONE) = { { "viv_exec_done", "p" }, { KERNEL, hc_exec_done } },
	HYPER(HC_MMAP) = { { "viv_mmap", "puxxfx" }, { KERNEL, hc_mmap } },
	HYPER(HC_SIGACTION) = { { "viv_sigaction", "dx" }, { KERNEL, hc_sigaction } },
	HYPER(HC_REROUTE) = { { "viv_reroute", "dp" }, { KERNEL, hc_reroute } },
	HYPER(HC_TAKEN) = { { "viv_taken", "d" }, { KERNEL, hc_taken } },
	HYPER(HC_HOLD) = { { "viv_hold", "dp" }, { KERNEL, hc_hold } },
	HYPER(HC_PSELECT6) = { { "pselect6", "dpppp" }, { STUB, sys_pselect6 } },
	HYPER(HC_SHMAT) = { { "shmat", "dpx" }, { KERNEL, hc_shmat } },
	HYPER(HC_SHMAT_DONE) = { { "viv_shmat_done", "p" }, { KERNEL, hc_shmat_done } },
	HYPER(HC_SHMDT) = { { "shmdt", "p" }, { KERNEL, hc_shmdt } },
	HYPER(HC_IO_SETUP) = { { "io_setup", "dp" }, { KERNEL, hc_io_setup } },
	HYPER(HC_IO_DESTROY) = { { "io_destroy", "p" }, { KERNEL, hc_io_destroy } },
	HYPER(HC_SECCOMP) = { { "seccomp", "xxp" }, { KERNEL, hc_seccomp } },
	HYPER(HC_SECCOMP_DONE) = { { "viv_seccomp_done", "d" }, { KERNEL, hc_seccomp_done } },
	HYPER(HC_SECCOMP_ASK) = { { "viv_seccomp_ask", "p" }, { KERNEL, hc_seccomp_ask } },
	HYPER(HC_POST) = { { "viv_post", "" }, { KERNEL, hc_post } },
	HYPER(HC_REST) = { { "viv_rest", "p" }, { KERNEL, hc_rest } },
	HYPER(HC_THAWED) = { { "viv_thawed", "" }, { KERNEL, hc_thawed } },
	HYPER(HC_SIGSYS_DIE) = { { "viv_sigsys_die", "" }, { KERNEL, hc_sigsys_die } },
};

static struct row row_find(int nr)
{
	if (nr >= 0 && nr < MAX_NR)
		return (struct row){ statuses[nr], handlers[nr] };
	if (nr > HC_BASE && nr <= HC_LAST)
		return hypers[nr - HC_BASE].row;
	return (struct row){ NO_ROW, NULL };
}

static const struct row_text *text_find(int nr)
{
	if (row_find(nr).status == NO_ROW)
		return NULL;
	return nr < MAX_NR ? &texts[nr] : &hypers[nr - HC_BASE].text;
}

const char *syscall_name(int nr)
{
	const struct row_text *x = text_find(nr);

	return x ? x->name : NULL;
}

const char *syscall_format(int nr)
{
	const struct row_text *x = text_find(nr);

	return x ? x->format : NULL;
}

static int64_t row_run(struct task *t, struct row r, const struct sysargs *a)
{
	if (r.status == NONE || r.status == NO_ROW) {
		cell.unknown++;
		return -ENOSYS;
	}
	if (r.status == REFUSED)
		return refused_call(t, t->call.nr, a);
	if (r.status == NATIVE) /* a form of it that the filter does not let through */
		return t->call.nr == SYS_madvise ? -EINVAL : -EPERM;
	if (!r.handler) {
		cell.unknown++;
		return -ENOSYS;
	}
	return r.handler(t, a);
}

/* Calls that carry a signal mask wait in the stub, not here. */
static bool is_armed_form(int nr, const struct sysargs *a)
{
	return (nr == HC_PSELECT6 || nr == SYS_ppoll || nr == SYS_epoll_pwait || nr == 441) &&
	       a->a[5] == STUB_MAGIC;
}

/* What a guest's own filters say of the call. The host's copies of them may have seen another
 * number. */
static bool is_permitted(const struct task *t)
{
	const struct call *c = &t->call;

	if (!t->seccomp)
		return true;
	return c->renumbered ? seccomp_allows(t, c->nr, c->ip, &c->args)
			     : seccomp_may_ask(t, c->nr, &c->args);
}

static int64_t handle(struct task *t)
{
	const struct call *c = &t->call;
	int64_t ret;

	task_current = t;
	ret = is_permitted(t) ? row_run(t, row_find(c->nr), &c->args) : -EPERM;
	task_current = NULL;
	return c->parked && ret < 0 && ret > WAITING ? WAITING : ret;
}

/* The call waits: whether something is on its way that ends the wait, and where its thread
 * waits. */
static void waits(struct task *t)
{
	struct call *c = &t->call;

	if (is_armed_form(c->nr, &c->args)) {
		call_divert(t, WAY_ARMED);
		return;
	}
	if (t->proc->stop_request) {
		/* It parked while a stop was on its way: see deliver_stop. */
		proc_stopped(t->proc, t->proc->stop_request);
	} else if ((t->sig_inflight || rest_is_wanted()) && c->kind != PARK_NOINTR &&
		   c->nr < HC_BASE) {
		/* A signal is about to arrive, or the one that brings it to rest: the call is made
		 * again after its handler. */
		call_interrupt(t);
	}
	call_listed(t);
}

void dispatch_run(struct task *t)
{
	int64_t ret;

	if (t->call.way == WAY_ARMED) {
		signal_wake_armed(t); /* the stub asks again */
		return;
	}
	ret = handle(t);
	if (ret == WAITING)
		waits(t);
	else
		call_leave(t, ret);
}

int64_t dispatch_posted(struct task *t, const struct host_call *in)
{
	int64_t ret;

	/* Whatever is going on with it, a call of the usual kind sees to. */
	if (t->call.active || t->sig_inflight || t->proc->stop_request ||
	    t->proc->state != PROC_RUNNING || t->proc->held_set || t->seccomp)
		return WAITING;
	call_enter(t, in, in->nr, WAY_POST);
	ret = handle(t);
	call_leave(t, ret);
	return ret;
}

/* Which call it is: not always what the host saw. */
static int nr_of(const struct task *t, const struct host_call *in)
{
	if (in->nr >= HC_FORWARD && in->nr < HC_FORWARD_END)
		return in->nr - HC_FORWARD;
	return in->nr < SITE_ODD ? in->nr : fast_site_nr(t, in->ip);
}

/* The thread is in this call already, and waits for its end in the stub: armed (a guest can ask
 * again without having been woken), or detached, and it did not come to waiting. */
static bool is_again(const struct task *t, const struct host_call *in)
{
	const struct call *c = &t->call;

	if (!c->active || memcmp(c->args.a, in->args, sizeof(c->args.a)) != 0)
		return false;
	if (c->way == WAY_ARMED)
		return c->nr == in->nr;
	return call_is_detached(c) && c->raw_nr == in->nr && c->ip == in->ip;
}

/* By a thread that has no task. */
static int64_t stranger_call(const struct host_call *in)
{
	int64_t ret = in->nr == HC_CHILD ? hc_child(in) : seed_call(in);

	if (ret != CALL_LOST)
		return ret;
	log_debug("call %d by unknown thread %d: ended", in->nr, in->tid);
	(void)host_kill(in->tid, SIGKILL);
	return -EPERM;
}

void dispatch_call(const struct host_call *in)
{
	struct task *t = task_find(in->tid);

	/* A new thread with the number of one that died unseen, which only unannounced threads make
	 * possible. */
	if (t && in->nr == HC_CHILD && !host_is_thread(t->proc->pid, t->tid)) {
		task_free(t);
		t = NULL;
	}
	if (in->nr == HC_EXEC_BOOT)
		t = exec_survivor(in->tid, t);
	if (!t) {
		int64_t ret = stranger_call(in);

		if (ret != WAITING)
			call_reply(in->id, ret);
		return;
	}
	calls_notified++;
	if (in->nr == HC_WAIT_END) {
		call_ask(t, in->id, in->args[0]);
		return;
	}
	if (is_again(t, in))
		call_enter_again(t, in);
	else
		call_enter(t, in, nr_of(t, in), WAY_NOTIFY);
	if (t->proc->held_set)
		held_pass_on(t);
	posts_missed(t);
	dispatch_run(t);
}
