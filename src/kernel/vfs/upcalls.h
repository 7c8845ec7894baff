/* What the VFS asks of the layers above it. cell/upcalls.c sets these at the start; after
 * program_seal() they are read-only. */
#ifndef VIV_KERNEL_VFS_UPCALLS_H
#define VIV_KERNEL_VFS_UPCALLS_H

#include "base/base.h"

struct fdtable;
struct file;
struct inode;
struct name;
struct task;

extern struct vfs_upcalls {
	/* Opens a FIFO (called by file_open for S_IFIFO inodes, with f complete but for ops and
	 * priv). The contract is that of inode_ops.open; on WAITING f is dropped without release.
	 * NULL: -ENXIO. */
	int (*fifo_open)(struct inode *ino, struct task *t, struct file *f);
	/* Opens a device likewise. NULL: -ENXIO. */
	int (*dev_open)(struct inode *ino, struct task *t, struct file *f);
	/* Called by the last file_put while f is still whole, before release, if f->epoll_links is
	 * not empty. */
	void (*file_gone)(struct file *f);
	/* Called by name_delete for a name whose inode is mapped. */
	void (*name_gone)(struct name *n);
	/* Called when a name with is_ctx goes. */
	void (*ctx_gone)(struct name *n);
	/* The table has no room left for those who use it, for the first time. */
	void (*files_full)(struct fdtable *ft);
	/* vfs_notify() while somebody watches. */
	void (*notify)(struct inode *dir, const char *name, struct inode *ino, uint32_t mask,
		       uint32_t cookie);
} vfs_upcalls;

#endif
