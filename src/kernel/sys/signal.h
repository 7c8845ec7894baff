/* Who may signal whom, for the handlers of several files. */
#ifndef VIV_KERNEL_SYS_SIGNAL_H
#define VIV_KERNEL_SYS_SIGNAL_H

#include "kernel/task/task.h"

bool may_signal(const struct task *t, struct proc *p, int sig);

#endif
