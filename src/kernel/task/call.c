/* The life of a system call that cannot be answered at once.
 *
 * Parking puts the call's waiters on queues; a wake-up or the deadline puts the task on the ready
 * list; the main loop then runs the handler again. A signal that the guest catches puts the task on
 * the interrupt list: after the ready calls have had their chance (a child's end both answers wait4
 * and sends SIGCHLD), what is still parked ends. The answer is the host's ERESTARTSYS in all cases:
 * the stub, which knows the handler's flags, makes it a restart or EINTR. */
#include <errno.h>
#include <poll.h>

#include "base/arena.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/gate.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/task/upcalls.h"

struct task *task_current;

static struct list ready = LIST_INIT(ready);
static struct list interrupts = LIST_INIT(interrupts);

static void call_wake(struct task *t)
{
	struct call *c = &t->call;

	if (!c->parked || c->ready)
		return;
	c->ready = true;
	list_append(&ready, &c->ready_link);
}

static void waiter_fired(struct waiter *w, uint32_t events)
{
	(void)events;
	call_wake(w->owner);
}

static void timer_fired(struct ktimer *timer)
{
	call_wake(container_of(timer, struct task, call.timer));
}

static void more_free(struct call *c)
{
	for (uint32_t i = 0; i < c->more_count; i++)
		waiter_remove(&c->more[i]);
	if (c->more)
		blob_free(c->more, c->more_count * sizeof(*c->more));
	c->more = NULL;
	c->more_count = c->more_used = 0;
}

void call_unpark(struct task *t)
{
	struct call *c = &t->call;

	more_free(c);
	if (!c->parked)
		return;
	c->parked = false;
	for (int i = 0; i < CALL_WAITERS; i++)
		waiter_remove(&c->waiters[i]);
	ktimer_stop(&c->timer);
	if (c->ready)
		list_remove(&c->ready_link);
	c->ready = false;
}

static void park(struct task *t, enum park_kind kind)
{
	struct call *c = &t->call;

	c->kind = kind;
	if (c->parked)
		return;
	c->parked = true;
	c->ready = false;
	list_init(&c->ready_link);
	for (int i = 0; i < CALL_WAITERS; i++) {
		waiter_init(&c->waiters[i], 0, waiter_fired);
		c->waiters[i].owner = t;
	}
	ktimer_init(&c->timer, timer_fired);
	if (c->has_deadline && ktimer_start(&c->timer, c->deadline) < 0)
		call_wake(t);
}

int call_wait(struct task *t, struct waitq *q, uint32_t events, enum park_kind kind)
{
	struct call *c = &t->call;

	park(t, kind);
	for (int i = 0; q && i < CALL_WAITERS; i++) {
		struct waiter *w = &c->waiters[i];

		if (!list_is_empty(&w->link))
			continue;
		w->events = events;
		waitq_add(q, w);
		break;
	}
	return WAITING;
}

int call_wait_outside(struct task *t, struct waitq *q)
{
	struct call *c = &t->call;

	if (c->parked)
		return WAITING;
	c->has_deadline = false;
	if (!c->wait_since)
		c->wait_since = now_mono();
	return call_wait(t, q, POLLIN, PARK_NOINTR);
}

int call_wait_turn(struct task *t)
{
	struct call *c = &t->call;

	if (c->parked)
		return WAITING;
	c->has_deadline = true;
	c->deadline = now_mono();
	return call_wait(t, NULL, 0, PARK_NOINTR);
}

int call_reserve(struct task *t, uint32_t n)
{
	struct call *c = &t->call;

	more_free(c);
	c->more = n ? blob_new(n * sizeof(*c->more)) : NULL;
	if (n && !c->more)
		return -ENOMEM;
	c->more_count = n;
	for (uint32_t i = 0; i < n; i++) {
		waiter_init(&c->more[i], 0, waiter_fired);
		c->more[i].owner = t;
	}
	return 0;
}

void call_wait_more(struct task *t, struct waitq *q, uint32_t events)
{
	struct call *c = &t->call;

	for (uint32_t i = c->more_used; i < c->more_count; i++) {
		c->more[i].events = events;
		waitq_add(q, &c->more[i]);
		c->more_used = i + 1;
		return;
	}
}

void call_set_deadline(struct task *t, int64_t abs_ns)
{
	struct call *c = &t->call;
	const struct call_restart *r = &t->restart;

	if (c->resumed || abs_ns == TIME_NEVER)
		return;
	/* The same call again, right after a signal cut it short: its time goes on. */
	if (r->valid && r->nr == c->nr && !__builtin_memcmp(&r->args, &c->args, sizeof(r->args)))
		abs_ns = r->deadline;
	c->has_deadline = true;
	c->deadline = abs_ns;
}

void call_set_timeout(struct task *t, int64_t rel_ns)
{
	int64_t now = now_mono();

	call_set_deadline(t, rel_ns >= TIME_NEVER - now ? TIME_NEVER : now + rel_ns);
}

bool call_is_expired(const struct task *t)
{
	return t->call.has_deadline && t->call.deadline <= now_mono();
}

void call_resume(struct task *t)
{
	call_unpark(t);
	t->call.resumed = true;
	t->call.asked.at = 0;
}

bool calls_are_ready(void)
{
	return !list_is_empty(&ready);
}

void calls_run_ready(void)
{
	/* What becomes ready while this runs is for the next round: two calls that wake each other
	 * do not starve the rest. */
	struct list batch = LIST_INIT(batch);

	while (!list_is_empty(&ready)) {
		struct list *l = ready.next;

		list_remove(l);
		list_append(&batch, l);
	}
	while (!list_is_empty(&batch)) {
		struct task *t = list_first(&batch, struct task, call.ready_link);

		/* A stopped process takes nothing out of a pipe or terminal: it stays ready until
		 * it is continued. */
		if (t->proc->state == PROC_STOPPED) {
			list_remove(&t->call.ready_link);
			continue;
		}
		call_resume(t);
		task_upcalls.call_run(t);
		if (turn_is_long()) { /* the rest is first in the next one */
			while (!list_is_empty(&batch)) {
				struct list *l = batch.prev;

				list_remove(l);
				list_append(ready.next, l);
			}
			return;
		}
	}
}

void calls_continue(struct proc *p)
{
	struct task *t;

	list_for_each(t, &p->threads, thread_link)
		if (t->call.parked && t->call.ready && list_is_empty(&t->call.ready_link))
			list_append(&ready, &t->call.ready_link);
}

void call_interrupt(struct task *t)
{
	if (list_is_empty(&t->interrupt_link))
		list_append(&interrupts, &t->interrupt_link);
}

void call_cut(struct task *t)
{
	const struct call *c = &t->call;

	if (c->done > 0) {
		call_leave(t, c->done);
		return;
	}
	call_leave(t, -ERESTARTSYS);
	if (c->has_deadline)
		t->restart = (struct call_restart){
			.valid = true, .nr = c->nr, .args = c->args, .deadline = c->deadline
		};
}

void calls_run_interrupts(void)
{
	while (!list_is_empty(&interrupts)) {
		struct task *t = list_first(&interrupts, struct task, interrupt_link);
		struct call *c = &t->call;

		list_remove(&t->interrupt_link);
		if (!call_is_parked(c) || c->kind == PARK_NOINTR)
			continue;
		call_cut(t);
	}
}
