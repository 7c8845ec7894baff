/* Files that stand for namespaces (/proc/PID/ns). */
#ifndef VIV_KERNEL_FS_PROC_NS_H
#define VIV_KERNEL_FS_PROC_NS_H

#include "base/base.h"

struct file;
struct mntns;

/* The kind of namespace that f stands for, CLONE_NEW*; 0: none. *ret_: for CLONE_NEWNS which one,
 * NULL the cell's own. Borrowed: f holds it. */
uint32_t nsfile_kind(const struct file *f, struct mntns **ret_);

#endif
