/* Loading programs (see exec.c). */
#ifndef VIV_KERNEL_SYS_EXEC_H
#define VIV_KERNEL_SYS_EXEC_H

#include <sys/types.h>

#include "base/base.h"

struct proc;
struct task;

/* Makes path ready to be t's next program: 0 or -errno. */
int exec_prepare(struct task *t, int dfd, const char *path, unsigned lookup_flags,
		 uint64_t sigmask);
/* The same for the program that descriptor fd is; name is what it is told it is called. */
int exec_prepare_fd(struct task *t, int fd, const char *name);
/* The thread that goes on after an execve in process pid, now with its number; leader: who had it,
 * or NULL. */
struct task *exec_survivor(pid_t pid, struct task *leader);
/* Drops what was prepared. */
void exec_state_free(struct proc *p);
/* Drops the program file of a process. */
void exec_release(struct proc *p);

#endif
