/* Calls that wait for long leave the host's list of open notifications.
 *
 * The host walks that list three times for each call (poll, receive, answer), so each call that
 * waits makes all others slower. A call that has waited while many others were made is *detached*:
 * its thread gets the reserved signal, its notification is answered with ERESTARTSYS, and the
 * stub's handler, finding the call about to be made again, has the thread wait in stub_wait()
 * instead, natively.
 *
 * For the kernel nothing else changes: the call stays parked on its queues, in its place, with its
 * deadline; it is woken, run, cut short and stopped as before. What differs is the way of its
 * answer, struct call's way:
 *
 *   WAY_NOTIFY ── call_detach() ──▶ WAY_SIGNAL ── call_leave(): a reserved signal
 *       ▲                               │ │            with the result ──▶ ended
 *       └─ the thread makes the same ───┘ │
 *          call again: it never waited    └──── HC_WAIT_END: a signal of the guest's (or a nudge)
 *                                               found the thread waiting ──▶ ended: cut short, or
 *                                               answered already; or WAY_ASKED, if nothing may
 *                                               cut it short
 *
 * No wake-up is lost: the signals that send a thread to wait and that fetch it are reserved ones,
 * which the host keeps in order for each thread, and the wait is a place in the code, not an act:
 * whoever is fetched from there need not have fallen asleep yet. When the host has no room for a
 * signal, the end is kept and the thread nudged from time to time until it asks.
 *
 * What a thread says of itself is not believed: the kernel keeps number, place and arguments of the
 * call, and a thread that does not do as it is told has only its own call ended.
 * docs/decisions/0032-long-waits.md has the reasons. */
#include <errno.h>
#include <sys/syscall.h>

#include "host/child.h"
#include "host/procmem.h"
#include "kernel/abi/signal.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/clock.h"
#include "kernel/task/detach.h"
#include "kernel/task/gate.h"
#include "stub/stub.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"

#define KEEP 32 /* so many may wait as they are */
/* How many calls are made before one that waits is detached: about as many as make up for what it
 * costs. The longer the list is, the dearer is each entry, as fewer of them are in the processor's
 * cache. */
#define AGE_SUM (1u << 18)
#define AGE_MIN 256
#define AGE_MAX 4096
#define BATCH 8 /* in one event */
#define RED_ZONE 128
#define STUB_ROOM 1536 /* of stack, for the stub's handler */
#define NUDGE_NS (5 * 1000 * 1000)

uint64_t calls_notified;
static struct list waiting = LIST_INIT(waiting); /* the longest first */
static uint32_t nwaiting;
static struct list untold = LIST_INIT(untold); /* tasks whose end could not be sent */
static struct ktimer untold_timer;

_Static_assert(STUB_AGAIN == -512, "the host's ERESTARTSYS");

static bool is_eager(void)
{
	return cell.spec.fast == FAST_DETACH;
}

void call_listed(struct task *t)
{
	struct call *c = &t->call;

	if (c->way == WAY_ASKED && c->kind != PARK_NOINTR)
		call_interrupt(t); /* its thread has a signal to see to */
	if (c->listed || c->way != WAY_NOTIFY || c->kind == PARK_NOINTR || c->nr >= HC_BASE ||
	    cell.spec.fast == FAST_OFF)
		return;
	c->listed = true;
	c->began = calls_notified;
	list_append(&waiting, &c->waiting_link);
	nwaiting++;
}

void call_unlisted(struct task *t)
{
	if (list_is_empty(&t->call.waiting_link))
		return;
	list_remove(&t->call.waiting_link);
	nwaiting--;
}

static struct stub_wait wait_of(const struct call *c, int64_t ret)
{
	return (struct stub_wait){
		.ip = c->ip, .r9 = c->args.a[5], .ret = ret, .nr = (uint32_t)c->raw_nr
	};
}

/* A handler runs on the thread's stack if it has no other. Where there is a guard page and not a
 * signal's length before it, the call stays as it is; on the host it would not have taken any stack
 * either. */
static bool has_room(const struct task *t)
{
	uint64_t need = RED_ZONE + host_signal_frame() + STUB_ROOM, sp;
	char byte;

	if (host_thread_sp(cell.proc_fd, t->proc->pid, t->tid, &sp) < 0 || sp < need)
		return false;
	for (uint64_t at = sp - need;; at = MIN((at | (PAGE_SIZE - 1)) + 1, sp)) {
		if (guest_read(t->tid, &byte, at, 1) < 0)
			return false;
		if (at == sp)
			return true;
	}
}

/* 0; -EAGAIN: not now; -EPERM: its thread cannot. While it waits nothing of that changes. */
static int call_detach(struct task *t)
{
	struct call *c = &t->call;
	struct stub_wait w = wait_of(c, 0);
	struct host_sigs hs;

	if (c->ready || t->sig_inflight || t->proc->state != PROC_RUNNING ||
	    t->proc->stop_request || t->proc->exiting)
		return -EAGAIN;
	/* The stub's own calls are made with everything blocked; and what it does before it waits
	 * may be calls. */
	if (c->kind == PARK_NOINTR || t->errand || c->ip - STUB_BASE < STUB_SPAN ||
	    cell.proc_fd < 0 || host_thread_sigs(cell.proc_fd, t->proc->pid, t->tid, &hs) < 0 ||
	    (hs.blocked & SIGBIT(STUB_SIG)) || !(hs.caught & SIGBIT(STUB_SIG)) || !has_room(t))
		return -EPERM;
	if (signal_detach(t, &w) < 0)
		return -EPERM;
	call_divert(t, WAY_SIGNAL);
	c->sigmask = hs.blocked;
	return 0;
}

void calls_detach(void)
{
	uint32_t keep = is_eager() ? 0 : KEEP, batch = is_eager() ? nwaiting : BATCH;
	uint64_t age;

	for (uint32_t i = 0; nwaiting > keep && i < batch; i++) {
		struct task *t = list_first(&waiting, struct task, call.waiting_link);

		age = is_eager() ? 0 : MIN(MAX(AGE_SUM / nwaiting, AGE_MIN), AGE_MAX);
		if (calls_notified - t->call.began < age)
			return;
		call_unlisted(t);
		if (call_detach(t) == -EAGAIN) {
			t->call.listed = false;
			call_listed(t);
		}
	}
}

/* ---- the way back ---- */

static int64_t end_tell(struct task *t, uaddr_t addr)
{
	const struct call_end *e = &t->end;
	const struct stub_wait w = {
		.ip = e->ip, .r9 = e->r9, .ret = e->ret, .nr = (uint32_t)e->raw_nr
	};

	if (!e->valid)
		return -EINVAL;
	return guest_put(t->tid, addr, &w);
}

static void untold_run(struct ktimer *timer)
{
	struct list batch = LIST_INIT(batch);

	while (!list_is_empty(&untold)) {
		struct task *t = list_first(&untold, struct task, end_link);
		const struct call_end *e = &t->end;
		const struct stub_wait w = {
			.ip = e->ip, .r9 = e->r9, .ret = e->ret, .nr = (uint32_t)e->raw_nr
		};

		list_remove(&t->end_link);
		if (signal_return(t, &w) != -EAGAIN)
			continue;
		signal_nudge(t);
		list_append(&batch, &t->end_link);
	}
	while (!list_is_empty(&batch)) {
		struct list *l = batch.next;

		list_remove(l);
		list_append(&untold, l);
	}
	if (!list_is_empty(&untold))
		(void)ktimer_start(timer, now_mono() + NUDGE_NS);
}

void call_return(struct task *t, enum call_way way, int64_t ret)
{
	const struct call *c = &t->call;
	const struct stub_wait w = wait_of(c, ret);

	t->end = (struct call_end){
		.valid = true, .raw_nr = c->raw_nr, .ip = c->ip, .r9 = c->args.a[5], .ret = ret
	};
	if (way == WAY_ASKED) {
		call_reply(c->id, end_tell(t, c->ask_addr));
		return;
	}
	if (signal_return(t, &w) != -EAGAIN)
		return;
	signal_nudge(t);
	if (!list_is_empty(&t->end_link))
		return;
	list_append(&untold, &t->end_link);
	if (!ktimer_is_started(&untold_timer)) {
		ktimer_init(&untold_timer, untold_run);
		(void)ktimer_start(&untold_timer, now_mono() + NUDGE_NS);
	}
}

void call_ask(struct task *t, uint64_t id, uaddr_t addr)
{
	struct call *c = &t->call;

	list_remove(&t->end_link);
	if (call_is_detached(c)) {
		c->way = WAY_ASKED;
		c->id = id;
		c->ask_addr = addr;
		if (c->kind != PARK_NOINTR)
			call_cut(t);
		return;
	}
	call_reply(id, end_tell(t, addr));
}

void call_returned(struct task *t)
{
	list_remove(&t->end_link);
	t->end.valid = false;
}
