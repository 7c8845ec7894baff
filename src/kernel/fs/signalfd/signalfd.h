/* signalfd: signals that are read and polled. */
#ifndef VIV_KERNEL_FS_SIGNALFD_SIGNALFD_H
#define VIV_KERNEL_FS_SIGNALFD_SIGNALFD_H

#include "base/base.h"

struct file;
struct task;

/* flags: O_NONBLOCK. returns ref. */
int must_check signalfd_make(uint64_t mask, uint32_t flags, struct file **ret_);
bool file_is_signalfd(const struct file *f);
void signalfd_set_mask(struct file *f, struct task *t, uint64_t mask);
/* Which signals the descriptors of t's table ask for; to be called when they change. */
void signalfd_recount(struct task *t);

#endif
