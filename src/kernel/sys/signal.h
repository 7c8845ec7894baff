/* Who may signal whom, for the handlers of several files. */
#ifndef VIV_KERNEL_SYS_SIGNAL_H
#define VIV_KERNEL_SYS_SIGNAL_H

#include <sys/types.h>

#include "base/base.h"

struct proc;
struct task;

bool may_signal(const struct task *t, struct proc *p, int sig);
/* The same for a process that is in no table yet: by its ids and its session. */
bool may_signal_user(const struct task *t, uint32_t uid, uint32_t suid, pid_t sid, int sig);

#endif
