/* The open text file of a table: shared between pseudo.c and pseudo_file.c only. */
#ifndef VIV_KERNEL_FS_PSEUDO_PSEUDO_FILE_H
#define VIV_KERNEL_FS_PSEUDO_PSEUDO_FILE_H

#include "kernel/vfs/file.h"

struct pwatch;

extern const struct file_ops pseudo_fops;
extern const struct file_ops pseudo_watch_fops; /* ... that poll and epoll can wait for */
/* An open file of a row with a watch is made. -ENOMEM */
int must_check pseudo_watch_begin(struct file *f, const struct pwatch *w);

#endif
