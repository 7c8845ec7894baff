/* Dispatch: finds the task and the row, runs the handler, answers.
 *
 * A thread that is not in our tables can only announce itself; whatever else it asks for, it is ended: it was made behind our back.
 * The rows are dense up to the last number; HC_ numbers have a table of their own. Both are bounds-checked before they are indexed. */
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
#include "kernel/sys/seed.h"
#include "kernel/task/heldsig.h"
#include "stub/stub.h"

typedef int64_t (*handler_fn)(struct task *t, const struct sysargs *a);

enum row_status { NO_ROW, KERNEL, NATIVE, STUB, REFUSED, NONE };

struct row {
	const char *name;
	const char *format;
	handler_fn handler;
	enum row_status status;
};

#define MAX_NR 512

static struct row rows[MAX_NR];

static void rows_init(void)
{
	static const struct {
		int nr;
		struct row row;
	} table[] = {
#define SYSCALL(nr, name, status, format) { nr, { #name, format, sys_##name, status } },
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].nr < MAX_NR)
			rows[table[i].nr] = table[i].row;
}

static const struct row hyper_rows[HC_LAST - HC_BASE + 1] = {
	[HC_CLONE_PREP - HC_BASE] = { "viv_clone_prep", "xd", hc_clone_prep, KERNEL },
	[HC_CLONE_CANCEL - HC_BASE] = { "viv_clone_cancel", "x", hc_clone_cancel, KERNEL },
	[HC_EXEC_PREP - HC_BASE] = { "viv_exec_prep", "fsxx", hc_exec_prep, KERNEL },
	[HC_EXEC_CANCEL - HC_BASE] = { "viv_exec_cancel", "", hc_exec_cancel, KERNEL },
	[HC_EXEC_BOOT - HC_BASE] = { "viv_exec_boot", "p", hc_exec_boot, KERNEL },
	[HC_EXEC_DONE - HC_BASE] = { "viv_exec_done", "p", hc_exec_done, KERNEL },
	[HC_MMAP - HC_BASE] = { "viv_mmap", "puxxfx", hc_mmap, KERNEL },
	[HC_SIGACTION - HC_BASE] = { "viv_sigaction", "dx", hc_sigaction, KERNEL },
	[HC_REROUTE - HC_BASE] = { "viv_reroute", "dp", hc_reroute, KERNEL },
	[HC_TAKEN - HC_BASE] = { "viv_taken", "d", hc_taken, KERNEL },
	[HC_HOLD - HC_BASE] = { "viv_hold", "dp", hc_hold, KERNEL },
	[HC_PSELECT6 - HC_BASE] = { "pselect6", "dpppp", sys_pselect6, STUB },
	[HC_SHMAT - HC_BASE] = { "shmat", "dpx", hc_shmat, KERNEL },
	[HC_SHMAT_DONE - HC_BASE] = { "viv_shmat_done", "p", hc_shmat_done, KERNEL },
	[HC_SHMDT - HC_BASE] = { "shmdt", "p", hc_shmdt, KERNEL },
	[HC_IO_SETUP - HC_BASE] = { "io_setup", "dp", hc_io_setup, KERNEL },
	[HC_IO_DESTROY - HC_BASE] = { "io_destroy", "p", hc_io_destroy, KERNEL },
	[HC_SECCOMP - HC_BASE] = { "seccomp", "xxp", hc_seccomp, KERNEL },
	[HC_SECCOMP_DONE - HC_BASE] = { "viv_seccomp_done", "d", hc_seccomp_done, KERNEL },
	[HC_SECCOMP_ASK - HC_BASE] = { "viv_seccomp_ask", "p", hc_seccomp_ask, KERNEL },
	[HC_POST - HC_BASE] = { "viv_post", "", hc_post, KERNEL },
	[HC_SIGSYS_DIE - HC_BASE] = { "viv_sigsys_die", "", hc_sigsys_die, KERNEL },
};

static const struct row *row_find(int nr)
{
	if (nr >= 0 && nr < MAX_NR)
		return rows[nr].name ? &rows[nr] : NULL;
	if (nr > HC_BASE && nr <= HC_LAST)
		return hyper_rows[nr - HC_BASE].name ? &hyper_rows[nr - HC_BASE] : NULL;
	return NULL;
}

const char *syscall_name(int nr)
{
	const struct row *r = row_find(nr);

	return r ? r->name : NULL;
}

const char *syscall_format(int nr)
{
	const struct row *r = row_find(nr);

	return r ? r->format : NULL;
}

static int64_t row_run(struct task *t, const struct row *r, const struct sysargs *a)
{
	if (!r || r->status == NONE || r->status == NO_ROW) {
		cell.unknown++;
		return -ENOSYS;
	}
	if (r->status == REFUSED)
		return refused_call(t, t->call.nr, a);
	if (r->status == NATIVE)
		return -EPERM; /* a form of it that the filter does not let through */
	if (!r->handler) {
		cell.unknown++;
		return -ENOSYS;
	}
	return r->handler(t, a);
}

/* Calls that carry a signal mask wait in the stub, not here. */
static bool is_armed_form(int nr, const struct sysargs *a)
{
	return (nr == HC_PSELECT6 || nr == SYS_ppoll || nr == SYS_epoll_pwait || nr == 441) &&
	       a->a[5] == STUB_MAGIC;
}

static void run(struct task *t)
{
	struct call *c = &t->call;
	int64_t ret;

	if (!c->active) {
		/* Armed and woken: the stub asks again. */
		if (t->armed)
			signal_wake_armed(t);
		return;
	}
	task_current = t;
	c->waits = false;
	ret = t->seccomp && !seccomp_may_ask(t, c->nr, &c->args)
		      ? -EPERM
		      : row_run(t, row_find(c->nr), &c->args);
	task_current = NULL;
	if (ret == ANSWERED_GONE)
		return;
	/* What failed for want of an answer from outside is tried again when that is there. */
	if (ret < 0 && ret != ANSWERED && c->waits)
		ret = PARKED;
	if (ret == PARKED) {
		if (is_armed_form(c->nr, &c->args)) {
			(void)notify_answer(c->id, STUB_ARMED);
			c->active = false;
			t->armed = true;
		} else if (t->proc->stop_request) {
			/* It parked while a stop was on its way: see deliver_stop. */
			proc_stopped(t->proc, t->proc->stop_request);
		} else if (t->sig_inflight && c->kind != PARK_NOINTR && c->nr < HC_BASE) {
			/* A signal is about to arrive: the call is made again after its handler. */
			call_interrupt(t);
		}
		return;
	}
	t->restart.valid = false;
	if (trace_is_on())
		trace_call(t, ret);
	call_finish(t, ret);
}

/* A fresh call of t's. */
static void call_begin(struct task *t)
{
	struct call *c = &t->call;

	c->posted = false;
	c->resumed = false;
	c->has_deadline = false;
	c->may_wait = false;
	c->wait_since = 0;
	c->done = 0;
	c->aux = NULL;
	c->aux_free = NULL;
}

int64_t dispatch_posted(struct task *t, int nr, const struct sysargs *a, uint64_t ip)
{
	struct call *c = &t->call;
	int64_t ret;

	/* Whatever is going on with it, a call of the usual kind sees to. */
	if (c->active || t->armed || c->aux || t->sig_inflight || t->proc->stop_request ||
	    t->proc->state != PROC_RUNNING || t->proc->held_set || t->seccomp || trace_is_on())
		return PARKED;
	cell.calls++;
	t->syscalls++;
	call_begin(t);
	c->posted = true;
	c->id = 0; /* there is no notification to answer */
	c->nr = nr;
	c->ip = ip;
	c->args = *a;
	c->active = true;
	c->waits = false;
	task_current = t;
	ret = row_run(t, row_find(nr), a);
	task_current = NULL;
	if (c->waits && ret < 0)
		ret = PARKED;
	if (ret != PARKED)
		t->restart.valid = false;
	call_drop(t);
	return ret;
}

void dispatch_call(const struct host_call *in)
{
	struct task *t = task_find(in->tid);
	struct call *c;

	cell.calls++;
	/* A new thread with the number of one that died unseen, which only unannounced threads make possible. */
	if (t && in->nr == HC_CHILD && !host_is_thread(t->proc->pid, t->tid)) {
		task_free(t);
		t = NULL;
	}
	if (in->nr == HC_EXEC_BOOT)
		t = exec_survivor(in->tid, t);
	if (!t) {
		if (in->nr == HC_CHILD) {
			(void)notify_answer(in->id, hc_child(in));
			return;
		}
		if (seed_call(in))
			return;
		log_debug("call %d by unknown thread %d: ended", in->nr, in->tid);
		(void)host_kill(in->tid, SIGKILL);
		(void)notify_answer(in->id, -EPERM);
		return;
	}
	c = &t->call;
	t->syscalls++;
	if (t->armed && c->nr == in->nr &&
	    is_armed_form(in->nr, (const struct sysargs *)in->args) &&
	    !memcmp(c->args.a, in->args, sizeof(c->args.a))) {
		call_resume(t); /* a guest can ask again without having been woken */
	} else {
		if (c->active || t->armed || c->aux)
			call_drop(t); /* what it waited for was interrupted */
		call_begin(t);
	}
	t->armed = false;
	t->raising = 0; /* that is done */
	c->id = in->id;
	c->nr = in->nr < SITE_ODD ? in->nr : fast_site_nr(t, in->ip);
	c->ip = in->ip;
	memcpy(c->args.a, in->args, sizeof(c->args.a));
	c->active = true;
	if (t->proc->held_set)
		held_pass_on(t);
	posts_missed(t);
	run(t);
}

void dispatch_init(void)
{
	rows_init();
	call_run = run;
}
