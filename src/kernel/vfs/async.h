/* Signal-driven input and output: O_ASYNC, and who owns an open file (F_SETOWN, F_SETSIG). */
#ifndef VIV_KERNEL_VFS_ASYNC_H
#define VIV_KERNEL_VFS_ASYNC_H

#include "base/base.h"

#define FASYNC_BIT 020000u /* O_ASYNC */

struct file;
struct linux_siginfo;
struct task;

/* F_SETOWN: a process, or minus a group; 0: nobody. -ESRCH, -EINVAL. */
int file_owner_set(struct task *t, struct file *f, int64_t who);
/* Sends sig to the owner, if whoever set it may do that. info NULL: from the kernel. */
void file_owner_signal(const struct file *f, int sig, const struct linux_siginfo *info);

/* Turns O_ASYNC of f on or off; fd is what the signal will name. -ENOMEM. */
int must_check async_set(struct file *f, int fd, bool on);
/* f goes: for the VFS. */
void async_drop(struct file *f);
/* After each event: tells the owners of files that have become ready. */
void async_run(void);

#endif
