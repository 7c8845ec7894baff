/* Calls that wait for long; see detach.c. */
#ifndef VIV_KERNEL_TASK_DETACH_H
#define VIV_KERNEL_TASK_DETACH_H

#include "kernel/task/call.h"

/* Its call has parked and its notification stays open. */
void call_listed(struct task *t);
void call_unlisted(struct task *t);
/* At the end of an event: detaches the calls that have waited longest, if there are many. */
void calls_detach(void);
/* The answer to a detached call, which has been dropped; way is what it was. */
void call_return(struct task *t, enum call_way way, int64_t ret);
/* The stub asks (HC_WAIT_END, notification id): the answer. */
void call_ask(struct task *t, uint64_t id, uaddr_t addr);
/* The thread makes another call. */
void call_returned(struct task *t);
/* Notifications so far. */
extern uint64_t calls_notified;

#endif
