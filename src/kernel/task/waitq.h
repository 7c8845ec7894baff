/* Wait queues: the one way to learn that something changed.
 *
 * A queue belongs to the object whose state changes (a pipe, a process's children, an inode's
 * locks). A waiter asks for some events (POLLIN, POLLOUT, ...) and has a function that is called at
 * a wake-up. The function may remove its own waiter and put work on a list; it does nothing else,
 * so a wake-up never recurses into a file system. A parked system call, an epoll item and a timer
 * are all clients of this. */
#ifndef VIV_KERNEL_TASK_WAITQ_H
#define VIV_KERNEL_TASK_WAITQ_H

#include "base/list.h"
#include "base/program.h"

struct waitq {
	struct list waiters;
};

struct waiter {
	struct list link;
	uint32_t events; /* poll bits it waits for; POLLERR and POLLHUP always wake it */
	void *owner; /* for fn: whose waiter it is */
	bool exclusive; /* only one of these that takes an event is called for it */
	bool took; /* set by fn of an exclusive one: it did */
	void (*const *fn)(struct waiter *w, uint32_t events);
};

#define WAITQ_INIT(name)                  \
	{                                 \
		LIST_INIT((name).waiters) \
	}

void waitq_init(struct waitq *q);
#define waiter_init(w, events, function) waiter_init_with(w, events, CALLBACK(function))
void waiter_init_with(struct waiter *w, uint32_t events,
		      void (*const *fn)(struct waiter *, uint32_t));
void waitq_add(struct waitq *q, struct waiter *w);
void waiter_remove(struct waiter *w); /* harmless when it is in no queue */
/* Calls every waiter that asked for one of events; of the exclusive ones, in the order of adding,
 * up to the first that took it. */
void waitq_wake(struct waitq *q, uint32_t events);
/* The queue's owner goes away: wakes everyone with POLLHUP and POLLERR and empties the queue. */
void waitq_fini(struct waitq *q);

#endif
