/* The file system of /proc. */
#ifndef VIV_KERNEL_FS_PROC_PROC_H
#define VIV_KERNEL_FS_PROC_PROC_H

#include "kernel/vfs/vfs.h"

/* returns ref, or NULL. */
struct fs *procfs_new(void);

/* The memory that the cell sees, in bytes, and what its processes hold of it now (a sum over a
 * bounded number of them). */
uint64_t cell_memory(void);
uint64_t cell_resident(void);

#endif
