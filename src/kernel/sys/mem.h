/* Files that are mapped (see mem.c). */
#ifndef VIV_KERNEL_SYS_MEM_H
#define VIV_KERNEL_SYS_MEM_H

#include "base/base.h"

struct file;
struct mapping_req;
struct task;

/* Gives the runner of t's current call a descriptor to map f by. Its number there, or -errno;
 * *ret_keep: it stays open. */
int mem_give(struct task *t, struct file *f, const struct mapping_req *req, bool *ret_keep);

#endif
