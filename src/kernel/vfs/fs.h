/* File systems, as the VFS sees them. Each has a folder in kernel/fs; their inodes are in
 * vfs/inode.h, the places where they are mounted in vfs/mount.h. */
#ifndef VIV_KERNEL_VFS_FS_H
#define VIV_KERNEL_VFS_FS_H

#include "base/base.h"

struct fs;
struct inode;

struct fs_stat {
	uint64_t type; /* f_type, e.g. TMPFS_MAGIC */
	uint64_t blocks, bfree, files, ffree;
};

struct fs_ops {
	/* Figures for statfs of ino, which are zeros before. Optional: they stay so. */
	void (*statfs)(const struct inode *ino, struct fs_stat *out);
	/* Everything written so far reaches the disk. Optional: nothing to do. */
	int (*sync)(struct fs *fs);
	/* Gives up what is kept only to be quicker, as far as DROP_* asks and as it is not in use.
	 * Bounded work. Optional: nothing. */
	void (*drop)(struct fs *fs, unsigned what);
	/* The last reference went away. */
	void (*free)(struct fs *fs);
};

#define DROP_CONTENTS 1u /* of files, and descriptors of the host that stand for them */
#define DROP_NODES 2u /* names, inodes, and what file systems remember of them */

struct fs {
	uint32_t refs;
	const struct fs_ops *ops;
	const char *type_name; /* "tmpfs", "proc", ... as /proc/mounts shows it */
	uint32_t dev; /* st_dev, unique in the cell (makedev(0, n)) */
	bool nocache; /* names must be looked up again each time (hostdir, proc) */
	bool readonly;
	/* what is not there cannot be made: -ENOENT, before anything is checked */
	bool fixed_names;
	bool guests; /* made by mount(2): remounting can make it read-only for all its mounts */
	bool single; /* there is one in the cell: mount(2) of its type shows it once more */
	bool lists_procs; /* in its root is an entry for each process */
	/* nothing changes but by our calls: look-ups may be remembered (stub/fast.h) */
	bool stable;
	/* calls wait for answers from outside (call_wait), and a change belongs to the call that
	 * asked for it */
	bool waits;
	struct inode *root; /* holds a reference */
};

void fs_init(struct fs *fs, const struct fs_ops *ops,
	     const char *type_name); /* refs = 1, new dev */
extern uint32_t fs_waiting; /* how many there are of those that wait */
struct fs *fs_get(struct fs *fs);
void fs_put(struct fs *fs);

/* All caches of the VFS and of every mounted file system: DROP_*. One piece of the work, bounded;
 * false: there is more to do. */
bool caches_drop(unsigned what);

#endif
