/* See rest.h. */
#include "kernel/sys/rest.h"

#include "base/program.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/dispatch.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "stub/stub.h"

#define REST_NS (3 * NSEC_PER_SEC)
#define LOOK_NS (5 * 1000 * 1000)
#define THAW_NS (5 * NSEC_PER_SEC)

static struct {
	bool wanted;
	int64_t until;
	uint32_t count; /* of threads that came; some may have ended since */
	void (*const *done)(const struct task *missing);
} rest;

static struct waitq rest_q = WAITQ_INIT(rest_q);
static uint32_t thaw_left; /* threads of a thawed cell that have not said that they are there */

static void thaw_late(struct ktimer *timer)
{
	(void)timer;
	thaw_left = 0;
	waitq_wake(&rest_q, ~0u);
}
KTIMER(thaw_timer, thaw_late);

/* t runs: it is counted once. */
static void is_there(struct task *t)
{
	if (t->rest_sp && thaw_left && !--thaw_left) {
		ktimer_stop(&thaw_timer);
		waitq_wake(&rest_q, ~0u);
	}
	t->rest_sp = 0;
}

bool rest_is_wanted(void)
{
	return rest.wanted;
}

/* One that is not at rest; its number is 0 if it is about to be born or to end. NULL: all are. */
static const struct task *missing_find(void)
{
	static const struct task nobody;
	bool changing = births_count() != 0;
	struct task *t;

	for (struct proc *p = proc_next(NULL); p; p = proc_next(p)) {
		changing |= p->state != PROC_ZOMBIE &&
			    (p->exiting || p->leaving || list_is_empty(&p->threads));
		list_for_each(t, &p->threads, thread_link)
			if (!t->rest_sp)
				return t;
	}
	return changing ? &nobody : NULL;
}

static void rest_look(struct ktimer *timer)
{
	const struct task *missing = missing_find();

	if (!rest.done)
		return;
	if (missing && now_mono() < rest.until && ktimer_start(timer, now_mono() + LOOK_NS) == 0)
		return;
	void (*const *done)(const struct task *) = rest.done;

	rest.done = NULL;
	(*CHECKED(done))(missing);
}
KTIMER(rest_timer, rest_look);

static void task_rest(struct task *t)
{
	struct call *c = &t->call;

	signal_rest(t);
	if (call_is_parked(c) && c->way != WAY_SIGNAL && c->kind != PARK_NOINTR && c->nr < HC_BASE)
		call_interrupt(t);
	/* The stub asks again, as for an interrupted call. */
	else if (c->active && c->way == WAY_ARMED && c->has_deadline)
		t->restart = (struct call_restart){
			.valid = true, .nr = c->nr, .args = c->args, .deadline = c->deadline
		};
}

void rest_begin(void (*const *done)(const struct task *missing))
{
	struct task *t;

	rest.wanted = true;
	rest.done = done;
	rest.count = 0;
	rest.until = now_mono() + REST_NS;
	for (struct proc *p = proc_next(NULL); p; p = proc_next(p))
		list_for_each(t, &p->threads, thread_link) {
			t->rest_sp = 0; /* of one that was thawed and never said so */
			task_rest(t);
		}
	if (ktimer_start(&rest_timer, now_mono()) < 0)
		rest_look(&rest_timer);
}

void rest_end(void)
{
	rest.wanted = false;
	rest.done = NULL;
	ktimer_stop(&rest_timer);
	waitq_wake(&rest_q, ~0u);
}

void rest_born(struct task *t)
{
	if (rest.wanted)
		signal_rest(t);
}

int64_t hc_rest(struct task *t, const struct sysargs *a)
{
	if (!rest.wanted) {
		is_there(t);
		return 0;
	}
	if (!t->rest_sp)
		rest.count++;
	t->rest_sp = a->a[0];
	if (rest.done && rest.count >= task_count())
		(void)ktimer_start(&rest_timer, now_mono());
	return call_wait(t, &rest_q, ~0u, PARK_NOINTR);
}

/* ---- thawed ---- */

void rest_thaw(uint32_t count)
{
	thaw_left = count;
	if (ktimer_start(&thaw_timer, now_mono() + THAW_NS) < 0)
		thaw_late(&thaw_timer);
}

bool rest_is_thawing(void)
{
	return thaw_left != 0;
}

void rest_gone(struct task *t)
{
	is_there(t);
}

int64_t hc_thawed(struct task *t, const struct sysargs *a)
{
	(void)a;
	is_there(t);
	return thaw_left ? call_wait(t, &rest_q, ~0u, PARK_NOINTR) : 0;
}
