/* /proc/sysvipc. */
#ifndef VIV_KERNEL_IPC_PROCIPC_H
#define VIV_KERNEL_IPC_PROCIPC_H

#include "kernel/fs/proc/proc.h"

/* An upcall of fs/proc: proc_ipc_show. */
void procipc_show(enum proc_ipc_table table, struct textbuf *b);

#endif
