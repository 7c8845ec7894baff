/* POSIX timers of a process (timer_create). Not inherited by fork, gone at exec. Times in ns. */
#ifndef VIV_KERNEL_TASK_PTIMER_H
#define VIV_KERNEL_TASK_PTIMER_H

#include "kernel/abi/time.h"
#include "kernel/task/itimer.h"

struct ptimer;
struct task;

/* A new timer on clock; ev NULL: SIGALRM with the timer's number. Its number, or -EINVAL,
 * -EOPNOTSUPP, -EAGAIN (too many). */
int ptimer_new(struct task *t, int clock, const struct linux_sigevent *ev);
struct ptimer *ptimer_find(struct proc *p, int id); /* borrows; NULL: none */
void ptimer_get(struct ptimer *pt, struct itimer_ns *out);
/* absolute: value is a moment on the timer's clock. -ENOMEM: too many timers; it is stopped
 * then. */
int ptimer_set(struct ptimer *pt, bool absolute, const struct itimer_ns *value);
/* What the last signal that was taken missed. */
int ptimer_overrun(struct ptimer *pt);
/* Signal seq of timer id of p was taken: the overrun that it is to carry; -1: no such timer. */
int ptimer_taken(struct proc *p, int id, uint32_t seq);
void ptimer_free(struct ptimer *pt);

/* All timers of p: at exec (at the end of p, timers_free() of itimer.h does it). */
void ptimers_free(struct proc *p);

#endif
