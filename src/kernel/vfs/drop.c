/* Emptying the caches, as /proc/sys/vm/drop_caches asks for: names that nobody holds, with the
 * inodes that only they held, what file systems keep of their own, and descriptors of threads that
 * may be gone. What is in use stays. Names are dropped some at a time, as there may be very many
 * where each holds its parent; each file system's own work is bounded by its contract
 * (fs_ops.drop). */
#include "base/program.h"
#include "host/child.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/vfs_priv.h"

#define NAMES_PIECE 8192

bool caches_drop(unsigned what)
{
	if (what & DROP_NODES && !name_drop_some(NAMES_PIECE))
		return false;
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
		if (m->fs->ops && m->fs->ops->drop)
			CHECKED(m->fs->ops)->drop(m->fs, what);
	if (what & DROP_NODES)
		host_thread_sigs_forget();
	return true;
}
