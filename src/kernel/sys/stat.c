/* stat and its kin, access, readlink, statfs. */
#include <errno.h>
#include <linux/stat.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kernel/abi/stat.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

#ifndef AT_STATX_SYNC_TYPE
#define AT_STATX_SYNC_TYPE 0x6000
#endif
#define STAT_AT_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE)
#define BLOCK_SIZE 4096

/* ---- stat ---- */

static int64_t stat_put(struct task *t, const struct path *p, uaddr_t addr)
{
	const struct inode *ino = p->name->inode;
	int r = vfs_getattr(p);

	if (r < 0)
		return r;
	struct linux_stat st = {
		.dev = ino->fs->dev,
		.ino = ino->ino,
		.nlink = ino->nlink,
		.mode = ino->mode,
		.uid = ino->uid,
		.gid = ino->gid,
		.rdev = ino->rdev,
		.size = (int64_t)ino->size,
		.blksize = BLOCK_SIZE,
		.blocks = (int64_t)ino->blocks,
		.atime = (uint64_t)ino->atime.tv_sec,
		.atime_nsec = (uint64_t)ino->atime.tv_nsec,
		.mtime = (uint64_t)ino->mtime.tv_sec,
		.mtime_nsec = (uint64_t)ino->mtime.tv_nsec,
		.ctime = (uint64_t)ino->ctime.tv_sec,
		.ctime_nsec = (uint64_t)ino->ctime.tv_nsec,
	};
	return guest_put(t->tid, addr, &st);
}

static unsigned at_to_lookup(unsigned flags)
{
	return (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
	       (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
}

static struct fast_time fast_time(struct timespec ts)
{
	return (struct fast_time){ .sec = ts.tv_sec, .nsec = (uint32_t)ts.tv_nsec };
}

/* After vfs_getattr(): what a runner needs to answer stat and statx by itself the next time. */
static void stat_remember(struct task *t, int dfd, const struct path *p, unsigned flags)
{
	struct inode *ino = p->name->inode;

	if (!fast_notes.on)
		return;
	fast_note_stamp(&ino->stamp, !ino->unsteady);
	const struct fast_stat st = {
		.ino = ino->ino,
		.size = ino->size,
		.blocks = ino->blocks,
		.rdev = ino->rdev,
		.dev = ino->fs->dev,
		.mode = ino->mode,
		.uid = ino->uid,
		.gid = ino->gid,
		.nlink = ino->nlink,
		.mnt_id = (uint32_t)p->mnt->id,
		.attributes = p->name == p->mnt->root ? STATX_ATTR_MOUNT_ROOT : 0,
		.has_btime = ino->btime.tv_sec != 0,
		.atime = fast_time(ino->atime),
		.mtime = fast_time(ino->mtime),
		.ctime = fast_time(ino->ctime),
		.btime = fast_time(ino->btime),
	};
	fast_answered(t, dfd, path_buf, flags & AT_SYMLINK_NOFOLLOW ? FAST_LSTAT : FAST_STAT, 0,
		      &st);
}

/* The walk of stat and statx. returns path ref. */
static int64_t stat_walk(struct task *t, int dfd, uaddr_t path, unsigned flags, struct path *ret_)
{
	fast_note_begin();
	int64_t r = path_at(t, dfd, path, at_to_lookup(flags), ret_);
	if (r < 0)
		fast_answered(t, dfd, path_buf,
			      flags & AT_SYMLINK_NOFOLLOW ? FAST_LSTAT : FAST_STAT, r, NULL);
	return r;
}

static int64_t stat_at(struct task *t, int dfd, uaddr_t path, uaddr_t buf, unsigned flags)
{
	struct path p;
	int64_t r = stat_walk(t, dfd, path, flags, &p);

	if (r < 0)
		return r;
	r = stat_put(t, &p, buf);
	stat_remember(t, dfd, &p, flags);
	path_put(&p);
	return r;
}

int64_t sys_stat(struct task *t, const struct sysargs *a)
{
	return stat_at(t, AT_FDCWD, a->a[0], a->a[1], 0);
}

int64_t sys_lstat(struct task *t, const struct sysargs *a)
{
	return stat_at(t, AT_FDCWD, a->a[0], a->a[1], AT_SYMLINK_NOFOLLOW);
}

int64_t sys_newfstatat(struct task *t, const struct sysargs *a)
{
	if (ARG_UINT(a, 3) & ~(unsigned)STAT_AT_FLAGS)
		return -EINVAL;
	return stat_at(t, ARG_INT(a, 0), a->a[1], a->a[2], ARG_UINT(a, 3));
}

int64_t sys_fstat(struct task *t, const struct sysargs *a)
{
	struct path p;
	int64_t r = path_of_fd(t, ARG_INT(a, 0), true, &p);

	if (r < 0)
		return r;
	r = stat_put(t, &p, a->a[1]);
	path_put(&p);
	return r;
}

static struct linux_statx_time statx_time(struct timespec ts)
{
	return (struct linux_statx_time){ .sec = ts.tv_sec, .nsec = (uint32_t)ts.tv_nsec };
}

static int64_t statx_put(struct task *t, const struct path *p, uaddr_t addr)
{
	const struct inode *ino = p->name->inode;
	int r = vfs_getattr(p);

	if (r < 0)
		return r;
	struct linux_statx st = {
		.mask = STATX_BASIC_STATS | (ino->btime.tv_sec ? STATX_BTIME : 0) | STATX_MNT_ID,
		.blksize = BLOCK_SIZE,
		.nlink = ino->nlink,
		.uid = ino->uid,
		.gid = ino->gid,
		.mode = (uint16_t)ino->mode,
		.ino = ino->ino,
		.size = ino->size,
		.blocks = ino->blocks,
		.attributes = p->name == p->mnt->root ? STATX_ATTR_MOUNT_ROOT : 0,
		.attributes_mask = STATX_ATTR_MOUNT_ROOT,
		.atime = statx_time(ino->atime),
		.btime = statx_time(ino->btime),
		.ctime = statx_time(ino->ctime),
		.mtime = statx_time(ino->mtime),
		.rdev_major = major(ino->rdev),
		.rdev_minor = minor(ino->rdev),
		.dev_major = major(ino->fs->dev),
		.dev_minor = minor(ino->fs->dev),
		.mnt_id = (uint64_t)p->mnt->id,
	};
	return guest_put(t->tid, addr, &st);
}

int64_t sys_statx(struct task *t, const struct sysargs *a)
{
	unsigned flags = ARG_UINT(a, 2), mask = ARG_UINT(a, 3);
	struct path p;
	int64_t r;

	if (mask & STATX__RESERVED || (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE ||
	    flags & ~(unsigned)STAT_AT_FLAGS)
		return -EINVAL;
	r = stat_walk(t, ARG_INT(a, 0), a->a[1], flags, &p);
	if (r < 0)
		return r;
	r = statx_put(t, &p, a->a[4]);
	stat_remember(t, ARG_INT(a, 0), &p, flags);
	path_put(&p);
	return r;
}

/* ---- access ---- */

static int64_t access_at(struct task *t, int dfd, uaddr_t path, unsigned mode, unsigned flags)
{
	struct cred *c = &t->cred;
	uint32_t fsuid = c->fsuid, fsgid = c->fsgid;
	uint64_t caps = c->cap_effective;
	struct path p;
	int r;

	if (mode & ~(unsigned)(R_OK | W_OK | X_OK) ||
	    flags & ~(unsigned)(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	/* The walk too is done with the real ids; nothing between here and the way back parks. */
	if (!(flags & AT_EACCESS)) {
		c->fsuid = c->uid;
		c->fsgid = c->gid;
		c->cap_effective = c->uid ? 0 : c->cap_permitted;
	}
	fast_note_begin();
	r = path_at(t, dfd, path, at_to_lookup(flags), &p);
	if (r == 0) {
		if (mode) {
			r = vfs_permission(t, &p, (int)mode);
			fast_note_stamp(&p.name->inode->stamp, true);
		}
		path_put(&p);
	}
	c->fsuid = fsuid;
	c->fsgid = fsgid;
	c->cap_effective = caps;
	fast_answered(t, dfd, path_buf,
		      FAST_ACCESS | mode | (flags & AT_EACCESS ? FAST_EACCESS : 0) |
			      (flags & AT_SYMLINK_NOFOLLOW ? FAST_NOFOLLOW : 0),
		      r, NULL);
	return r;
}

int64_t sys_access(struct task *t, const struct sysargs *a)
{
	return access_at(t, AT_FDCWD, a->a[0], ARG_UINT(a, 1), 0);
}

int64_t sys_faccessat(struct task *t, const struct sysargs *a)
{
	return access_at(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2), 0);
}

int64_t sys_faccessat2(struct task *t, const struct sysargs *a)
{
	return access_at(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2), ARG_UINT(a, 3));
}

/* ---- readlink ---- */

static int64_t readlink_at(struct task *t, int dfd, uaddr_t path, uaddr_t buf, int size)
{
	struct path p;
	int r;

	if (size <= 0)
		return -EINVAL;
	/* "" is a link that was opened with O_PATH. */
	fast_note_begin();
	r = path_at(t, dfd, path, path ? LOOKUP_EMPTY : 0, &p);
	if (r < 0) {
		fast_answered(t, dfd, path_buf, FAST_READLINK, r, NULL);
		return r;
	}
	struct inode *ino = p.name->inode;
	if (!inode_is_lnk(ino) || !ino->ops->readlink)
		r = path_buf[0] ? -EINVAL : -ENOENT;
	else
		r = CHECKED(ino->ops)->readlink(ino, t, path_buf2, sizeof(path_buf2));
	if (r > 0) {
		path_accessed(&p);
		fast_note_stamp(&ino->stamp, true); /* whether that has to be done again */
		fast_answered(t, dfd, path_buf, FAST_READLINK, r, path_buf2);
		r = MIN(r, size);
		if (guest_write(t->tid, buf, path_buf2, (size_t)r) < 0)
			r = -EFAULT;
	} else {
		fast_answered(t, dfd, path_buf, FAST_READLINK, r, NULL);
	}
	path_put(&p);
	return r;
}

int64_t sys_readlink(struct task *t, const struct sysargs *a)
{
	return readlink_at(t, AT_FDCWD, a->a[0], a->a[1], ARG_INT(a, 2));
}

int64_t sys_readlinkat(struct task *t, const struct sysargs *a)
{
	return readlink_at(t, ARG_INT(a, 0), a->a[1], a->a[2], ARG_INT(a, 3));
}

/* ---- statfs ---- */

#define ST_NOSYMFOLLOW_ 0x2000

static int64_t statfs_atime(const struct mount *m)
{
	return (m->flags & MNT_NOATIME ? ST_NOATIME : 0) |
	       (m->flags & MNT_NODIRATIME ? ST_NODIRATIME : 0) |
	       (m->flags & (MNT_NOATIME | MNT_STRICTATIME) ? 0 : ST_RELATIME);
}

static int64_t statfs_put(struct task *t, const struct path *p, uaddr_t addr)
{
	const struct inode *ino = p->name->inode;
	const struct fs *fs = ino->fs;
	struct fs_stat st = { 0 };

	if (fs->ops->statfs)
		CHECKED(fs->ops)->statfs(ino, &st);
	struct linux_statfs out = {
		.type = (int64_t)st.type,
		.bsize = BLOCK_SIZE,
		.blocks = st.blocks,
		.bfree = st.bfree,
		.bavail = st.bfree,
		.files = st.files,
		.ffree = st.ffree,
		.fsid = { (int32_t)fs->dev, 0 },
		.namelen = NAME_MAX_LEN,
		.frsize = BLOCK_SIZE,
		/* 0x20 says that the flags are valid. */
		.flags = 0x20 | statfs_atime(p->mnt) |
			 (p->mnt->flags & MNT_NOSYMFOLLOW ? ST_NOSYMFOLLOW_ : 0) |
			 (p->mnt->flags & MNT_RDONLY || fs->readonly ? ST_RDONLY : 0) |
			 (p->mnt->flags & MNT_NOSUID ? ST_NOSUID : 0) |
			 (p->mnt->flags & MNT_NODEV ? ST_NODEV : 0) |
			 (p->mnt->flags & MNT_NOEXEC ? ST_NOEXEC : 0),
	};
	return guest_put(t->tid, addr, &out);
}

int64_t sys_statfs(struct task *t, const struct sysargs *a)
{
	struct path p;
	int64_t r = path_at(t, AT_FDCWD, a->a[0], LOOKUP_FOLLOW, &p);

	if (r < 0)
		return r;
	r = statfs_put(t, &p, a->a[1]);
	path_put(&p);
	return r;
}

int64_t sys_fstatfs(struct task *t, const struct sysargs *a)
{
	struct path p;
	int64_t r = path_of_fd(t, ARG_INT(a, 0), true, &p);

	if (r < 0)
		return r;
	r = statfs_put(t, &p, a->a[1]);
	path_put(&p);
	return r;
}
