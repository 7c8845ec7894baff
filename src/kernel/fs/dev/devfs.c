/* The file system of /dev: a fixed table. pts, shm and mqueue are there to be mounted on; the
 * links lead into /proc. /dev/console is the terminal's own inode when there is a terminal, so
 * that ttyname() finds it. result is ours (result.h). */
#include <linux/magic.h>

#include "kernel/fs/dev/dev.h"
#include "kernel/fs/dev/result.h"
#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/vfs/fs.h"

#define DEVICE(major, minor) ((major) << 8 | (minor))
#define CHR(node_name, perm, major, minor)                                                \
	{                                                                                 \
		.name = node_name, .mode = S_IFCHR | (perm), .rdev = DEVICE(major, minor) \
	}
#define LNK(node_name, target)                                            \
	{                                                                 \
		.name = node_name, .mode = S_IFLNK | 0777, .text = target \
	}
#define EMPTY(node_name, perm)                              \
	{                                                   \
		.name = node_name, .mode = S_IFDIR | (perm) \
	}

static const struct pnode dev_nodes[] = {
	CHR("null", 0666, 1, 3),
	CHR("zero", 0666, 1, 5),
	CHR("full", 0666, 1, 7),
	CHR("random", 0666, 1, 8),
	CHR("urandom", 0666, 1, 9),
	CHR("tty", 0666, 5, 0),
	CHR("ptmx", 0666, 5, 2),
	{ .name = "result",
	  .mode = S_IFREG | 0666,
	  .fops = &result_fops,
	  .may_open = result_may_open },
	{ .name = "console", .mode = S_IFCHR | 0620, .rdev = DEVICE(5, 1), .inode = console_inode },
	LNK("fd", "/proc/self/fd"),
	LNK("stdin", "/proc/self/fd/0"),
	LNK("stdout", "/proc/self/fd/1"),
	LNK("stderr", "/proc/self/fd/2"),
	EMPTY("pts", 0755),
	EMPTY("shm", 01777),
	EMPTY("mqueue", 01777),
	{ 0 },
};

static const struct pnode dev_root = { .mode = S_IFDIR | 0755, .children = dev_nodes };

struct fs *devfs_new(void)
{
	struct pseudo_fs *pfs = pseudo_new("devtmpfs", TMPFS_MAGIC, &dev_root);

	if (!pfs)
		return NULL;
	pfs->attr_kept = true;
	return &pfs->fs;
}
