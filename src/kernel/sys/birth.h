/* Births that are under way (see clone.c). */
#ifndef VIV_KERNEL_SYS_BIRTH_H
#define VIV_KERNEL_SYS_BIRTH_H

#include <sys/types.h>

#include "kernel/task/waitq.h"

/* How long others wait for a number that may never come. */
#define BIRTH_WAIT (10 * NSEC_PER_SEC)
/* How long a child may take to announce itself, with its first instructions. What has not come by
 * then was never cloned, or is not going to say so. */
#define BIRTH_AGE (30 * NSEC_PER_SEC)

/* NULL when no birth is pending; else the queue that is woken at each: whoever misses a number
 * parks there. */
struct waitq *births_pending(void);
uint32_t births_count(void);
/* Threads that are about to have a child in their own memory; of many the last. */
size_t births_sharers(pid_t *out, size_t max);
/* For a call that misses a number: -ESRCH when no birth is pending, else parks until the next, but
 * not for ever, as a guest can ask for a birth and never clone. Returns WAITING or -ESRCH. */
struct task;
int64_t births_wait(struct task *t);
/* Is p about to have another thread? */
struct proc;
bool births_has_thread(const struct proc *p);
/* An upcall of tasks: signal_unborn. */
struct linux_siginfo;
bool births_signal(pid_t pgid, const struct task *from, int sig, const struct linux_siginfo *info);
/* viv asks those of the group to stop, as it asked the group (kernel/cell/control.c). */
void births_stop(pid_t pgid);
/* p ends: children on their way go to its reaper. */
void births_reparent(struct proc *p);
/* The cell was paused since: that time is nobody's fault. */
void births_resumed(int64_t since);
/* p runs a new program: its other threads are gone, and those that were being made with them. */
void births_exec(struct proc *p);

#endif
