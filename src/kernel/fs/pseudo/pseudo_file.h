/* The open text file of a table: shared between pseudo.c and pseudo_file.c only. */
#ifndef VIV_KERNEL_FS_PSEUDO_PSEUDO_FILE_H
#define VIV_KERNEL_FS_PSEUDO_PSEUDO_FILE_H

#include "kernel/vfs/file.h"

extern const struct file_ops pseudo_fops;

#endif
