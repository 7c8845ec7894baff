/* The kernel's timer heap and wait queues. */
/* objects: src/kernel/task/timer.c src/kernel/task/waitq.c src/base/arena.c src/base/program.c src/base/log.c src/host/sys.c */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "base/arena.h"
#include "kernel/task/timer.h"
#include "kernel/task/waitq.h"
#include "tap.h"

#define MANY 3000
static struct ktimer timers[MANY];
static int64_t last_run;
static int runs;
static bool in_order = true;

static void note_run(struct ktimer *t)
{
	if (t->expires < last_run)
		in_order = false;
	last_run = t->expires;
	runs++;
}

static void restart_at_once(struct ktimer *t)
{
	runs++;
	(void)!ktimer_start(t, t->expires);
}

static void test_heap(void)
{
	int stopped = 0, i;

	srandom(1);
	for (i = 0; i < MANY; i++) {
		ktimer_init(&timers[i], note_run);
		if (ktimer_start(&timers[i], random() % 100000) < 0)
			break;
	}
	ok(i == MANY, "many timers start");
	for (i = 0; i < MANY; i += 3) {
		ktimer_stop(&timers[i]);
		stopped++;
	}
	for (i = 1; i < MANY; i += 3)
		(void)!ktimer_start(&timers[i], random() % 100000);
	ok(!ktimer_is_started(&timers[0]) && ktimer_is_started(&timers[1]),
	   "started and stopped are told apart");
	ktimer_stop(&timers[0]);
	while (ktimer_next() != TIME_NEVER)
		ktimer_run(ktimer_next() + 500);
	ok(runs == MANY - stopped, "each that was not stopped runs once");
	ok(in_order, "they run in order");
}

static void test_restart(void)
{
	struct ktimer t;

	runs = 0;
	ktimer_init(&t, restart_at_once);
	ok(ktimer_start(&t, 5) == 0, "one timer starts");
	ktimer_run(4);
	ok(runs == 0, "it does not run early");
	ktimer_run(5);
	ok(runs == 1 && ktimer_next() == 5, "one that starts itself again runs once in a round");
	ktimer_stop(&t);
	ok(ktimer_next() == TIME_NEVER, "none is left");
}

static void test_limit(void)
{
	static struct ktimer more[70000];
	int i;

	for (i = 0; i < 70000; i++) {
		ktimer_init(&more[i], note_run);
		if (ktimer_start(&more[i], i) < 0)
			break;
	}
	ok(i == 65536, "their number is bounded");
	ok(ktimer_start(&more[0], 7) == 0, "at the bound one that runs can still be moved");
	while (i-- > 0)
		ktimer_stop(&more[i]);
	ok(ktimer_next() == TIME_NEVER, "all stop");
}

static struct waitq queue = WAITQ_INIT(queue);
static struct waiter w[4];
static int woken[4];

static void note_wake(struct waiter *x, uint32_t events)
{
	(void)events;
	woken[x - w]++;
}

static void wake_removes_all(struct waiter *x, uint32_t events)
{
	(void)events;
	woken[x - w]++;
	for (int i = 0; i < 4; i++)
		waiter_remove(&w[i]);
}

static void wake_adds(struct waiter *x, uint32_t events)
{
	note_wake(x, events);
	if (list_is_empty(&w[3].link))
		waitq_add(&queue, &w[3]);
}

static void reset(void)
{
	for (int i = 0; i < 4; i++) {
		waiter_remove(&w[i]);
		waiter_init(&w[i], POLLIN, note_wake);
		woken[i] = 0;
	}
}

static void test_waitq(void)
{
	reset();
	w[1].events = POLLOUT;
	waitq_add(&queue, &w[0]);
	waitq_add(&queue, &w[1]);
	waitq_wake(&queue, POLLIN);
	ok(woken[0] == 1 && woken[1] == 0, "only those that asked are woken");
	waitq_wake(&queue, POLLHUP);
	ok(woken[0] == 2 && woken[1] == 1, "POLLHUP wakes everyone");

	reset();
	waiter_init(&w[0], POLLIN, wake_removes_all);
	for (int i = 0; i < 3; i++)
		waitq_add(&queue, &w[i]);
	waitq_wake(&queue, POLLIN);
	ok(woken[0] == 1 && woken[1] == 0 && woken[2] == 0, "a waiter may remove the others");
	ok(list_is_empty(&queue.waiters), "and they are gone");

	reset();
	waiter_init(&w[0], POLLIN, wake_adds);
	waitq_add(&queue, &w[0]);
	waitq_wake(&queue, POLLIN);
	ok(woken[0] == 1 && woken[3] == 0, "one that is added meanwhile waits for the next");
	waitq_wake(&queue, POLLIN);
	ok(woken[0] == 2 && woken[3] == 1, "and then is called");
	waitq_fini(&queue);
	ok(list_is_empty(&queue.waiters) && woken[3] == 2,
	   "the end of a queue wakes and empties it");
}

int main(void)
{
	if (arena_init() < 0)
		return 1;
	test_heap();
	test_restart();
	test_limit();
	test_waitq();
	return tap_end();
}
