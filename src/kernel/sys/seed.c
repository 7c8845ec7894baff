/* The seed and the orders that it is given; see seed.h.
 *
 * An order waits in the queue, is sent when the seed asks, has its words written, and then is about
 * to be born until a process announces itself with its token. A seed or a child that the host ended
 * before that is noticed by the clock. */
#include "kernel/sys/seed.h"

#include <errno.h>
#include <signal.h>

#include "host/child.h"
#include "host/host.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/gate.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"

#define ORDERS_MAX 1024
#define ORDER_AGE (10 * NSEC_PER_SEC)

static struct {
	pid_t pid; /* 0: there is none, or a new one has yet to announce itself */
	pid_t splitter; /* the first process, which has yet to make it */
	uint64_t announce; /* the token of a new one; 0: none is expected */
	bool fresh; /* the first order splits it */
	bool waits; /* in HC_SEED, with this id and place for the order */
	uint64_t call_id;
	uaddr_t order_at;
	struct seed_order *current; /* sent; its words are not written yet */
	uint32_t norders, nbirths;
} seed;

static struct list queue = LIST_INIT(queue);
static struct list births = LIST_INIT(births);
static struct waitq announced = WAITQ_INIT(announced);

static uint64_t token_new(void)
{
	uint64_t token;

	host_random(&token, sizeof(token));
	return (token & INT64_MAX) | 1UL << 40;
}

static void order_end(struct seed_order *o, int err)
{
	list_remove(&o->link);
	seed.norders--;
	seed.nbirths -= o->cloned;
	if (seed.current == o)
		seed.current = NULL;
	if (err)
		(*CHECKED(o->failed))(o, err);
}

static int64_t list_expire(struct list *list, int64_t next)
{
	struct seed_order *o, *tmp;

	list_for_each_safe(o, tmp, list, link) {
		if (now_mono() - o->since >= ORDER_AGE)
			order_end(o, -ENOMEM);
		else
			next = MIN(next, o->since + ORDER_AGE);
	}
	return next;
}

static void orders_expire(struct ktimer *timer)
{
	int64_t next = list_expire(&births, list_expire(&queue, TIME_NEVER));

	if (next != TIME_NEVER)
		(void)ktimer_start(timer, next);
}
KTIMER(order_timer, orders_expire);

/* Sends the next order, if somebody waits for it. */
static void seed_next(void)
{
	struct seed_order *o;
	struct stub_order out;

	if (!seed.waits || list_is_empty(&queue) || seed.current)
		return;
	o = list_first(&queue, struct seed_order, link);
	o->token = token_new();
	out = (struct stub_order){
		.token = o->token, .size = o->size, .envp = o->envp, .split = seed.fresh
	};
	if (seed.fresh)
		out.seed_token = token_new();
	seed.waits = false;
	seed.current = o;
	if (guest_put(seed.pid, seed.order_at, &out) < 0) {
		order_end(o, -EIO);
		return;
	}
	if (seed.fresh)
		seed.announce = out.seed_token;
	call_reply(seed.call_id, 0);
}

void seed_init(pid_t pid)
{
	seed.pid = pid;
	seed.fresh = true;
}

void seed_init_split(pid_t pid)
{
	seed.splitter = pid;
}

void seed_init_waiting(pid_t pid, const struct host_call *in)
{
	seed.pid = pid;
	seed.waits = true;
	seed.call_id = in->id;
	seed.order_at = in->args[0];
}

int seed_start(struct seed_order *o)
{
	if (!seed.pid && !seed.announce && !seed.splitter)
		return -ENOSYS;
	if (seed.norders >= ORDERS_MAX)
		return -EAGAIN;
	list_init(&o->link);
	o->cloned = false;
	o->since = now_mono();
	seed.norders++;
	list_append(&queue, &o->link);
	if (!ktimer_is_started(&order_timer))
		(void)ktimer_start(&order_timer, now_mono() + ORDER_AGE);
	seed_next();
	return 0;
}

bool seed_is(pid_t pid)
{
	return pid > 0 && pid == seed.pid;
}

pid_t seed_pid(void)
{
	return seed.pid;
}

uint32_t seed_births(void)
{
	return seed.nbirths + (seed.announce != 0);
}

void seed_gone(void)
{
	struct seed_order *o, *tmp;

	seed.pid = 0;
	seed.waits = false;
	list_for_each_safe(o, tmp, &queue, link)
		order_end(o, -EIO);
}

void seed_resumed(void)
{
	struct seed_order *o;

	list_for_each(o, &queue, link)
		o->since = now_mono();
	list_for_each(o, &births, link)
		o->since = now_mono();
}

/* ---- calls ---- */

static int64_t seed_asks(const struct host_call *in)
{
	if (!seed.pid && seed.announce && in->args[1] == seed.announce &&
	    host_is_thread(in->tid, in->tid)) {
		seed.pid = in->tid;
		seed.announce = 0;
		waitq_wake(&announced, ~0u);
	}
	if (in->tid != seed.pid)
		return -EPERM;
	seed.waits = true;
	seed.call_id = in->id;
	seed.order_at = in->args[0];
	seed_next();
	return WAITING;
}

static int64_t seed_fill(const struct host_call *in)
{
	struct seed_order *o = seed.current;
	int ret;

	if (in->tid != seed.pid || !o || in->args[0] != o->token)
		return -EPERM;
	ret = (*CHECKED(o->fill))(o, in->tid, in->args[1]);
	if (ret < 0)
		return ret; /* it comes back as HC_SEED_FAIL */
	seed.current = NULL;
	o->cloned = true;
	o->since = now_mono();
	seed.nbirths++;
	list_remove(&o->link);
	list_append(&births, &o->link);
	if (seed.fresh) {
		/* This one is to be the process; the seed will be its child. */
		seed.fresh = false;
		seed.splitter = in->tid;
		seed.pid = 0;
	}
	return 0;
}

static struct seed_order *order_find(uint64_t token)
{
	struct seed_order *o;

	if (seed.current && seed.current->token == token)
		return seed.current;
	list_for_each(o, &births, link)
		if (o->token == token)
			return o;
	return NULL;
}

static int64_t seed_fails(const struct host_call *in)
{
	struct seed_order *o = order_find(in->args[0]);
	int64_t err = (int64_t)in->args[1];

	if ((in->tid != seed.pid && in->tid != seed.splitter) || !o)
		return -EPERM;
	if (in->tid == seed.splitter) { /* it did not split: it stays what it was */
		seed.pid = in->tid;
		seed.splitter = 0;
		seed.announce = 0;
		seed.fresh = true;
	}
	order_end(o, err < 0 && err >= -4095 ? (int)err : -EIO);
	return 0;
}

static int64_t seed_born(const struct host_call *in)
{
	struct seed_order *o = order_find(in->args[0]);
	struct proc *old = proc_find(in->tid);

	/* A process, not a thread of one; and never the seed itself. */
	if (!o || !o->cloned || in->tid == seed.pid || !host_is_thread(in->tid, in->tid))
		return -EPERM;
	if (old && old->state != PROC_ZOMBIE)
		return -EPERM;
	if (old)
		proc_reap(old);
	if (in->tid == seed.splitter)
		seed.splitter = 0;
	order_end(o, 0);
	return (*CHECKED(o->born))(o, in->tid);
}

int64_t seed_call(const struct host_call *in)
{
	int64_t ret;

	switch (in->nr) {
	case HC_EXEC_BOOT:
		return seed_is(in->tid) ? STUB_BE_SEED : CALL_LOST;
	case HC_SEED:
		ret = seed_asks(in);
		break;
	case HC_SEED_FILL:
		ret = seed_fill(in);
		break;
	case HC_SEED_BORN:
		ret = seed_born(in);
		break;
	case HC_SEED_FAIL:
		ret = seed_fails(in);
		break;
	default:
		return CALL_LOST;
	}
	/* Made behind our back, or not wanted any more. */
	if (ret < 0 && ret != WAITING && in->nr != HC_SEED_FILL)
		(void)host_kill(in->tid, SIGKILL);
	return ret;
}

bool seed_is_split(const struct task *t)
{
	return seed.splitter && t->tid == seed.splitter && t->proc->is_first && !t->proc->did_exec;
}

int64_t seed_split(struct task *t, const struct sysargs *a)
{
	uint64_t token;

	if (!seed.announce && !seed.pid) {
		token = token_new();
		if (guest_put(t->tid, a->a[0], &token) < 0)
			return -EFAULT;
		seed.announce = token;
		return STUB_SPLIT;
	}
	/* What the token opened is closed before the program runs. */
	if (!seed.pid && (int64_t)a->a[1] > 0)
		return call_wait(t, &announced, ~0u, PARK_NOINTR);
	seed.announce = 0;
	seed.splitter = 0;
	if (!seed.pid)
		seed_gone();
	return 0;
}
