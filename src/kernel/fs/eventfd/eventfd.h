/* eventfd: a counter that can be waited for. */
#ifndef VIV_KERNEL_FS_EVENTFD_EVENTFD_H
#define VIV_KERNEL_FS_EVENTFD_EVENTFD_H

#include "base/base.h"

struct file;

/* flags: O_NONBLOCK. semaphore: a read takes one. returns ref. */
int must_check eventfd_make(uint32_t count, bool semaphore, uint32_t flags, struct file **ret_);

bool file_is_eventfd(const struct file *f);

#endif
