/* Births that are under way (see clone.c). */
#ifndef VIV_KERNEL_SYS_BIRTH_H
#define VIV_KERNEL_SYS_BIRTH_H

#include "kernel/task/waitq.h"

/* NULL when no birth is pending; else the queue that is woken at each: whoever misses a number parks there. */
struct waitq *births_pending(void);

#endif
