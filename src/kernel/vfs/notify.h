/* Telling inotify what happened to files. */
#ifndef VIV_KERNEL_VFS_NOTIFY_H
#define VIV_KERNEL_VFS_NOTIFY_H

#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/upcalls.h"

struct inode;

/* Somebody may watch something: set by inotify. Nobody is told anything while it is false. */
extern bool vfs_watched;
/* Tells inotify's event bits of the entry called name of dir (NULL: none) and of ino itself (NULL:
 * of the entry only). IN_ISDIR and, for an entry that was unlinked, IN_EXCL_UNLINK are or-ed in.
 * IN_Q_OVERFLOW, of nothing: the host has lost some. Only while vfs_watched. */
static inline void vfs_notify(struct inode *dir, const char *name, struct inode *ino, uint32_t mask,
			      uint32_t cookie)
{
	vfs_upcalls.notify(dir, name, ino, mask, cookie);
}
void path_notify_do(const struct path *p, uint32_t mask);
/* It happened to what is at p: its directory and itself are told. p may be empty. */
static inline void path_notify(const struct path *p, uint32_t mask)
{
	if (vfs_watched && p->name && p->name->inode)
		path_notify_do(p, mask);
}

#endif
