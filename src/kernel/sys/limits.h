/* Resource limits of a process. */
#ifndef VIV_KERNEL_SYS_LIMITS_H
#define VIV_KERNEL_SYS_LIMITS_H

#include "kernel/task/task.h"

/* The limits of the cell's first process; fork copies them. */
void limits_init(struct proc *p);

#endif
