/* NR_NAME: the numbers of the system call table. */
#ifndef VIV_KERNEL_SYS_NR_H
#define VIV_KERNEL_SYS_NR_H

enum syscall_nr {
#define SYSCALL(nr, name, status, format) NR_##name = nr,
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL
};

#endif
