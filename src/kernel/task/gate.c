/* See gate.h. No other file answers a notification. */
#include "kernel/task/gate.h"

#include <string.h>

#include "kernel/platform/cell.h"
#include "stub/stub.h"
#include "kernel/task/detach.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/task/upcalls.h"

/* What the host knows of it. */
static void call_fill(struct call *c, const struct host_call *in, int nr, enum call_way way)
{
	c->id = in->id;
	c->nr = nr;
	c->raw_nr = in->nr;
	c->renumbered = nr != in->nr;
	c->ip = in->ip;
	memcpy(c->args.a, in->args, sizeof(c->args.a));
	c->way = way;
	c->listed = false;
}

/* Of a thread that makes a call. */
static void task_enters(struct task *t)
{
	const struct call *c = &t->call;

	cell.calls++;
	t->syscalls++;
	t->raising = 0; /* that is done */
	call_returned(t);
	if (c->nr < HC_BASE && c->args.a[5] != STUB_MAGIC)
		t->errand = false;
}

void call_enter(struct task *t, const struct host_call *in, int nr, enum call_way way)
{
	struct call *c = &t->call;

	if (call_is_detached(c))
		call_cut(t); /* in a handler of the stub's: what it does next is to wait */
	if (c->active)
		call_leave(t, CALL_LOST); /* what it waited for was interrupted */
	c->active = true;
	c->resumed = false;
	c->has_deadline = false;
	c->may_wait = false;
	c->missed = false;
	c->wait_since = 0;
	c->done = 0;
	c->asked.at = 0;
	if (!c->asked.stays)
		c->asked.count = 0;
	call_fill(c, in, nr, way);
	task_enters(t);
}

void call_enter_again(struct task *t, const struct host_call *in)
{
	call_resume(t);
	call_fill(&t->call, in, t->call.nr, WAY_NOTIFY);
	task_enters(t);
}

static void answer(struct task *t, enum call_way way, uint64_t id, int64_t ret)
{
	struct proc *p = t->proc;

	switch (ret) {
	case CALL_LOST:
	case WAITING:
		return;
	case CALL_EXIT:
		task_free(t);
		signal_resend(p, p);
		(void)notify_continue(id);
		return;
	case CALL_NATIVE:
		(void)notify_continue(id);
		return;
	default:
		break;
	}
	if (way == WAY_NOTIFY)
		(void)notify_answer(id, ret);
	else if (way == WAY_SIGNAL || way == WAY_ASKED)
		call_return(t, way, ret);
}

void call_leave(struct task *t, int64_t ret)
{
	struct call *c = &t->call;
	const struct call_kept kept = c->kept;
	const enum call_way way = c->way;
	const uint64_t id = c->id;

	if (!c->active)
		return;
	if (calls_are_watched() && ret != WAITING)
		hooks_leave(t, ret);
	call_unpark(t);
	call_unlisted(t);
	list_remove(&t->interrupt_link);
	c->kept.kind = KEPT_NOTHING;
	c->asked.stays = ret == WAITING;
	if (c->asked.question)
		task_upcalls.question_put(c->asked.question);
	c->asked.question = NULL;
	c->active = false;
	c->way = WAY_NOTIFY;
	if (ret != CALL_LOST && ret != WAITING)
		t->restart.valid = false;
	if (kept.kind != KEPT_NOTHING)
		task_upcalls.call_release(&kept);
	answer(t, way, id, ret);
}

void call_divert(struct task *t, enum call_way way)
{
	call_reply(t->call.id, way == WAY_ARMED ? STUB_ARMED : STUB_AGAIN);
	t->call.way = way;
}

void call_reply(uint64_t id, int64_t ret)
{
	(void)notify_answer(id, ret);
}
