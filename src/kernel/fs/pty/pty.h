/* Pseudo-terminals: /dev/ptmx, and the file system of /dev/pts. */
#ifndef VIV_KERNEL_FS_PTY_PTY_H
#define VIV_KERNEL_FS_PTY_PTY_H

#include "base/base.h"

struct file;
struct fs;
struct task;

/* The file system of /dev/pts; the same one each time. returns ref, or NULL. */
struct fs *devpts_new(void);
/* Opens /dev/ptmx on f: a new pair, of which f is the master. -ENOSPC when there are too many,
 * -ENODEV without a devpts. */
int must_check ptmx_open(struct task *t, struct file *f);

#endif
