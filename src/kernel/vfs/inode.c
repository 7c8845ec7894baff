/* Inodes and file systems as counted objects, and the permission check.
 *
 * The memory of an inode and of a file system is the file system's own; here are only their common
 * fields and counts. An inode does not hold its file system: whoever reaches an inode got there
 * through a name of its tree, which does; who keeps an inode without a name also keeps the file
 * system (fs_get), or the path, and puts the inode first. ACLs do not exist: the nine mode bits and
 * the capabilities decide, in Linux's order. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/ref.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define FIRST_MADE_UP_INO 1024

static uint32_t dev_last = 16;
static uint64_t ino_last = FIRST_MADE_UP_INO;

uint32_t fs_waiting;

void fs_init(struct fs *fs, const struct fs_ops *ops, const char *type_name)
{
	fs->refs = 1;
	fs->ops = ops;
	fs->type_name = type_name;
	dev_last++;
	fs->dev = (uint32_t)makedev(0, dev_last);
	fs->root = NULL;
}

struct fs *fs_get(struct fs *fs)
{
	ref_get(&fs->refs);
	return fs;
}

void fs_put(struct fs *fs)
{
	if (!fs || !ref_put(&fs->refs))
		return;
	/* The root's evict may still look at the file system. */
	struct inode *root = fs->root;
	fs->root = NULL;
	inode_put(root);
	if (fs->ops && fs->ops->free)
		CHECKED(fs->ops)->free(fs);
}

struct timespec inode_now(void)
{
	int64_t now = now_real();
	return (struct timespec){ .tv_sec = now / NSEC_PER_SEC, .tv_nsec = now % NSEC_PER_SEC };
}

uint64_t ino_next(void)
{
	return ++ino_last;
}

void inode_init(struct inode *ino, struct fs *fs, const struct inode_ops *ops, uint32_t mode)
{
	struct timespec now = inode_now();
	*ino = (struct inode){
		.refs = 1,
		.ops = ops,
		.fs = fs,
		.mode = mode,
		.nlink = 1,
		.atime = now,
		.mtime = now,
		.ctime = now,
		.btime = now,
	};
}

void inode_own(struct inode *ino)
{
	if (!task_current)
		return;
	ino->uid = task_current->cred.fsuid;
	ino->gid = task_current->cred.fsgid;
}

struct inode *inode_get(struct inode *ino)
{
	ref_get(&ino->refs);
	return ino;
}

void inode_put(struct inode *ino)
{
	if (!ino || !ref_put(&ino->refs))
		return;
	inode_touch(ino);
	CHECKED(ino->ops)->evict(ino);
}

void inode_put_parent(struct inode *parent)
{
	static struct inode *next;
	static bool busy;

	if (busy) {
		next = parent;
		return;
	}
	busy = true;
	while (parent) {
		next = NULL;
		inode_put(parent);
		parent = next;
	}
	busy = false;
}

void inode_from_stat(struct inode *ino, const struct stat *st)
{
	inode_touch(ino);
	ino->ino = st->st_ino;
	ino->mode = st->st_mode;
	ino->uid = st->st_uid;
	ino->gid = st->st_gid;
	ino->nlink = (uint32_t)st->st_nlink;
	ino->rdev = st->st_rdev;
	ino->size = (uint64_t)st->st_size;
	ino->blocks = (uint64_t)st->st_blocks;
	ino->atime = st->st_atim;
	ino->mtime = st->st_mtim;
	ino->ctime = st->st_ctim;
}

void inode_set_attr(struct inode *ino, const struct attr *a)
{
	inode_touch(ino);
	if (a->valid & ATTR_MODE)
		ino->mode = (ino->mode & S_IFMT) | (a->mode & ~(uint32_t)S_IFMT);
	if (a->valid & ATTR_UID)
		ino->uid = a->uid;
	if (a->valid & ATTR_GID)
		ino->gid = a->gid;
	if (a->valid & ATTR_ATIME)
		ino->atime = a->atime;
	if (a->valid & ATTR_MTIME)
		ino->mtime = a->mtime;
	if (a->valid & ATTR_CTIME)
		ino->ctime = a->ctime;
}

int inode_hash(struct inode *ino, uint8_t out[32])
{
	return ino->ops->hash ? CHECKED(ino->ops)->hash(ino, out) : -ENODATA;
}

int inode_permission(struct inode *ino, const struct cred *c, int mask)
{
	uint32_t bits = ino->mode;
	uint32_t want = (uint32_t)mask & (R_OK | W_OK | X_OK);

	if (ino->fixed && (want & W_OK))
		return -EPERM;
	if (c->fsuid == ino->uid)
		bits >>= 6;
	else if (((bits >> 3) & 7) != (bits & 7) && cred_in_group(c, ino->gid))
		bits >>= 3; /* asked only where the answer matters */
	if ((want & ~bits & 7) == 0)
		return 0;
	if (ino->strict)
		return -EACCES;
	if (inode_is_dir(ino)) {
		if (!(want & W_OK) && cred_has_cap(c, CAP_DAC_READ_SEARCH))
			return 0;
		return cred_has_cap(c, CAP_DAC_OVERRIDE) ? 0 : -EACCES;
	}
	if (want == R_OK && cred_has_cap(c, CAP_DAC_READ_SEARCH))
		return 0;
	/* Not even root runs a file that nobody may run. */
	if ((!(want & X_OK) || (ino->mode & 0111)) && cred_has_cap(c, CAP_DAC_OVERRIDE))
		return 0;
	return -EACCES;
}
