/* Telling whoever watches what happened to a file; see vfs_notify in notify.h. */

#include <sys/inotify.h>

#include "kernel/vfs/inode.h"
#include "kernel/vfs/notify.h"

void (*vfs_notify)(struct inode *dir, const char *name, struct inode *ino, uint32_t mask,
		   uint32_t cookie);

void path_notify_do(const struct path *p, uint32_t mask)
{
	const struct name *n = p->name;

	if (inode_is_dir(n->inode))
		mask |= IN_ISDIR;
	if (n->deleted)
		mask |= IN_EXCL_UNLINK;
	vfs_notify(n->parent ? n->parent->inode : NULL, n->str, n->inode, mask, 0);
}
