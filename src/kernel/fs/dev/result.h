/* /dev/result: what the work of a cell leaves for whoever started it: any bytes, at most
 * CELL_RESULT_MAX. The keeper gets them when the cell ends. */
#ifndef VIV_KERNEL_FS_DEV_RESULT_H
#define VIV_KERNEL_FS_DEV_RESULT_H

#include "base/base.h"

struct file_ops;
struct pinode;
struct task;

/* The file, as pnode.fops and pnode.may_open. */
extern const struct file_ops result_fops;
int result_may_open(struct pinode *pi, struct task *t, uint32_t flags);

/* What was written so far, borrowed. */
const char *result_bytes(size_t *ret_len);

#endif
