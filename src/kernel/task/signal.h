/* Sending signals: task/signal.c decides, src/stub/signal.c delivers. */
#ifndef VIV_KERNEL_TASK_SIGNAL_H
#define VIV_KERNEL_TASK_SIGNAL_H

#include <sys/types.h>

#include "base/base.h"

struct proc;
struct task;

struct linux_siginfo; /* kernel/abi/signal.h */
/* Sends to a process or to one thread; info NULL: from the kernel (SI_KERNEL). Never fails for the
 * caller's sake: a process that is gone swallows it. Returns 0 or -EAGAIN when too many are
 * queued. */
int signal_send_proc(struct proc *p, int sig, const struct linux_siginfo *info);
int signal_send_task(struct task *t, int sig, const struct linux_siginfo *info);
int signal_send_pgrp(pid_t pgid, int sig, const struct linux_siginfo *info);
/* The same as signal_send_proc() for one of many: in another turn, if this one is long already. */
void signal_send_one_of(struct proc *p, int sig, const struct linux_siginfo *info);
/* What it would get in another turn, it gets now. */
void signal_hurry(struct proc *p);
/* The stub says: the travelling signal arrived; or: it is blocked here (true: somebody else got
 * it). */
void signal_taken(struct task *t, int sig);
/* The same, and its stub is about to make it pending on the host. */
void signal_raised(struct task *t, int sig);
bool signal_reroute(struct task *t, int sig, const struct linux_siginfo *info);
/* It has just announced itself: if its process is stopped, or about to be, so is it. */
void signal_born(struct task *t);
/* The host says that p was stopped by sig. False: p's group is orphaned and Linux would not have
 * stopped it; it goes on. */
bool signal_stop_counts(struct proc *p, int sig);
/* The thread ends: what travelled to it and was meant for the process is kept; sends that to those
 * who are left. */
void signal_task_gone(struct task *t);
void signal_resend(struct proc *from, struct proc *to);
void signal_forget(struct proc *p);
/* Keeps one for signal_resend(): p has not announced itself yet, or has others to get first. False:
 * there is no room. */
bool signal_strand(struct proc *p, int sig, const struct linux_siginfo *info);
/* A signalfd for mask was made or widened: what was pending for t before is kept for it when t's
 * call returns. */
void signal_collect(struct task *t, uint64_t mask);
/* It is to come to rest (sys/rest.h). */
void signal_rest(struct task *t);
/* What travels to t: fn for each, until one returns other than 0. -E2BIG: not all of it is
 * known. */
int signal_travelling(const struct task *t, int (*fn)(const struct task *t, bool shared,
						      const struct linux_siginfo *info));
/* An armed call has something to say. */
void signal_wake_armed(struct task *t);
/* The stub is to rewrite the call before ip; single: nobody else runs in that memory; post: what it
 * asks for first, as in struct stub_patch. For a thread whose call is being answered. */
void signal_patch(struct task *t, uint64_t ip, bool single, uint32_t post);
/* For detached calls. They go to a thread that is known to take it; -EAGAIN: queues are full. The
 * last, which arrives without what it is about, never fails for that. */
struct stub_wait; /* stub/stub.h */
int signal_detach(struct task *t, const struct stub_wait *w);
int signal_return(struct task *t, const struct stub_wait *w);
void signal_nudge(struct task *t);

#endif
