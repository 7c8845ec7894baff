/* Signals that are kept back for signalfd instead of being sent to the runner; see heldsig.c. */
#ifndef VIV_KERNEL_TASK_HELDSIG_H
#define VIV_KERNEL_TASK_HELDSIG_H

#include "base/base.h"
#include "kernel/abi/signal.h"

struct proc;
struct task;

/* The signal is wanted by a signalfd of p and blocked by only (NULL: by every thread): keeps it. 1
 * kept, 0 it is to be sent on, -EAGAIN too many are queued. */
int held_take(struct proc *p, const struct task *only, int sig, const struct linux_siginfo *info);
/* The same for one that is known to be blocked. */
int held_add(struct proc *p, const struct task *only, int sig, const struct linux_siginfo *info);
/* Which signals t could take. */
uint64_t held_pending(const struct task *t);
/* Takes the next one of mask out: those of the thread first, then by number. False: there is
 * none. */
bool held_next(struct task *t, uint64_t mask, struct linux_siginfo *out);
/* Sends on what t, which makes a call, no longer blocks, and what no signalfd wants any more. */
void held_pass_on(struct task *t);
void held_free(struct proc *p);

#endif
