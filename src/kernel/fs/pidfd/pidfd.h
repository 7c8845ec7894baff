/* pidfd: a descriptor that stands for a process. */
#ifndef VIV_KERNEL_FS_PIDFD_PIDFD_H
#define VIV_KERNEL_FS_PIDFD_PIDFD_H

#include "kernel/task/pidref.h"

struct file;

/* Takes the reference of r, also when it fails. flags: O_NONBLOCK. returns ref. */
int must_check pidfd_make(struct pidref *r, uint32_t flags, struct file **ret_);
/* The process of an open file, borrowed; NULL when it is no pidfd. */
struct pidref *pidfd_of(const struct file *f);

#endif
