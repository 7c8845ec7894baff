/* Wait queues (waitq.h).
 *
 * A wake-up first takes the whole list off the queue and then hands the waiters over one by one,
 * each put back on the queue before its function runs. So the function may remove any waiter, its
 * own or another of the same call (poll of one file twice), and a waiter that is added meanwhile is
 * not called in the same round. */
#include <poll.h>

#include "kernel/task/waitq.h"

#define ALWAYS ((uint32_t)(POLLERR | POLLHUP))

void waitq_init(struct waitq *q)
{
	list_init(&q->waiters);
}

void waiter_init_with(struct waiter *w, uint32_t events,
		      void (*const *fn)(struct waiter *, uint32_t))
{
	list_init(&w->link);
	w->events = events;
	w->fn = fn;
	w->exclusive = false;
}

void waitq_add(struct waitq *q, struct waiter *w)
{
	list_append(&q->waiters, &w->link);
}

void waiter_remove(struct waiter *w)
{
	/* A waiter in zeroed memory was never in a queue. */
	if (w->link.next)
		list_remove(&w->link);
}

/* Moves all waiters of q to the empty head batch. */
static void waitq_take_all(struct waitq *q, struct list *batch)
{
	list_init(batch);
	if (list_is_empty(&q->waiters))
		return;
	*batch = q->waiters;
	batch->next->prev = batch;
	batch->prev->next = batch;
	list_init(&q->waiters);
}

void waitq_wake(struct waitq *q, uint32_t events)
{
	struct list batch;
	struct waiter *w;
	bool taken = false;

	if (list_is_empty(&q->waiters))
		return;
	waitq_take_all(q, &batch);
	while (!list_is_empty(&batch)) {
		w = list_first(&batch, struct waiter, link);
		list_remove(&w->link);
		list_append(&q->waiters, &w->link);
		if (!(events & (w->events | ALWAYS)) || (w->exclusive && taken))
			continue;
		w->took = false;
		(*CHECKED(w->fn))(w, events);
		taken |= w->exclusive && w->took;
	}
}

void waitq_fini(struct waitq *q)
{
	struct list batch;
	struct waiter *w;

	waitq_take_all(q, &batch);
	while (!list_is_empty(&batch)) {
		w = list_first(&batch, struct waiter, link);
		list_remove(&w->link);
		(*CHECKED(w->fn))(w, ALWAYS);
	}
}
