/* Telling whoever watches what happened to a file; see vfs_notify in notify.h. */

#include <sys/inotify.h>

#include "kernel/vfs/notify.h"

#include "kernel/vfs/inode.h"

bool vfs_watched;

void path_notify_do(const struct path *p, uint32_t mask)
{
	const struct name *n = p->name;

	if (inode_is_dir(n->inode))
		mask |= IN_ISDIR;
	if (n->deleted)
		mask |= IN_EXCL_UNLINK;
	vfs_notify(n->parent ? n->parent->inode : NULL, n->str, n->inode, mask, 0);
}
