/* Every handler of the system call table, declared from it. Weak: a row may exist before its
 * handler does; dispatch answers ENOSYS then, and tests/unit/test_table fails for a row that says
 * KERNEL and has none. */
#ifndef VIV_KERNEL_SYS_HANDLERS_H
#define VIV_KERNEL_SYS_HANDLERS_H

#include "base/base.h"

struct sysargs;
struct task;

#define SYSCALL(nr, name, status, format) \
	int64_t sys_##name(struct task *t, const struct sysargs *a) __attribute__((weak));
#include "kernel/sys/syscalls.tbl.h"
#undef SYSCALL

#endif
