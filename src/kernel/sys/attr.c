/* Modes, owners, times and sizes of files; umask. */
#include <errno.h>
#include <linux/falloc.h>
#include <sys/inotify.h>

#include "kernel/abi/fs.h"
#include "kernel/abi/time.h"
#include "kernel/fs/memfd/memfd.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

static unsigned lookup_flags(unsigned at_flags)
{
	return (at_flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
	       (at_flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0);
}

/* Applies a to what path names (the flags are AT_*). */
static int64_t attr_at(struct task *t, int dfd, uaddr_t path, unsigned flags, struct attr *at)
{
	struct path p;
	int64_t r;

	if (!path)
		return -EFAULT;
	r = path_at(t, dfd, path, lookup_flags(flags), &p);
	if (r < 0)
		return r;
	if (at->valid == ATTR_MODE && inode_is_lnk(p.name->inode))
		r = -EOPNOTSUPP;
	else
		r = vfs_setattr(t, &p, at);
	path_put(&p);
	return r;
}

static int64_t attr_fd(struct task *t, int fd, struct attr *at)
{
	struct path p;
	int64_t r = path_of_fd(t, fd, false, &p);

	if (r < 0)
		return r;
	r = vfs_setattr(t, &p, at);
	path_put(&p);
	return r;
}

/* ---- mode ---- */

static int64_t chmod_at(struct task *t, int dfd, uaddr_t path, unsigned mode, unsigned flags)
{
	struct attr at = { .valid = ATTR_MODE, .mode = mode & 07777 };

	if (flags & ~(unsigned)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return attr_at(t, dfd, path, flags, &at);
}

int64_t sys_chmod(struct task *t, const struct sysargs *a)
{
	return chmod_at(t, AT_FDCWD, a->a[0], ARG_UINT(a, 1), 0);
}

int64_t sys_fchmodat(struct task *t, const struct sysargs *a)
{
	return chmod_at(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2), 0);
}

int64_t sys_fchmodat2(struct task *t, const struct sysargs *a)
{
	return chmod_at(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2), ARG_UINT(a, 3));
}

int64_t sys_fchmod(struct task *t, const struct sysargs *a)
{
	struct attr at = { .valid = ATTR_MODE, .mode = ARG_UINT(a, 1) & 07777 };

	return attr_fd(t, ARG_INT(a, 0), &at);
}

int64_t sys_umask(struct task *t, const struct sysargs *a)
{
	uint32_t old = t->fs->umask;

	t->fs->umask = ARG_UINT(a, 0) & 0777;
	return old;
}

/* ---- owner ---- */

static struct attr attr_owner(unsigned uid, unsigned gid)
{
	return (struct attr){ .valid = (uid != UINT32_MAX ? ATTR_UID : 0) |
				       (gid != UINT32_MAX ? ATTR_GID : 0) | ATTR_CTIME,
			      .uid = uid,
			      .gid = gid };
}

static int64_t chown_at(struct task *t, int dfd, uaddr_t path, unsigned uid, unsigned gid,
			unsigned flags)
{
	struct attr at = attr_owner(uid, gid);

	if (flags & ~(unsigned)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return attr_at(t, dfd, path, flags, &at);
}

int64_t sys_chown(struct task *t, const struct sysargs *a)
{
	return chown_at(t, AT_FDCWD, a->a[0], ARG_UINT(a, 1), ARG_UINT(a, 2), 0);
}

int64_t sys_lchown(struct task *t, const struct sysargs *a)
{
	return chown_at(t, AT_FDCWD, a->a[0], ARG_UINT(a, 1), ARG_UINT(a, 2), AT_SYMLINK_NOFOLLOW);
}

int64_t sys_fchownat(struct task *t, const struct sysargs *a)
{
	return chown_at(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2), ARG_UINT(a, 3), ARG_UINT(a, 4));
}

int64_t sys_fchown(struct task *t, const struct sysargs *a)
{
	struct attr at = attr_owner(ARG_UINT(a, 1), ARG_UINT(a, 2));

	return attr_fd(t, ARG_INT(a, 0), &at);
}

/* ---- times ---- */

static bool time_is_valid(const struct linux_timespec *ts)
{
	return ts->nsec == UTIME_NOW || ts->nsec == UTIME_OMIT ||
	       (ts->nsec >= 0 && ts->nsec < NSEC_PER_SEC);
}

static struct timespec time_choose(const struct linux_timespec *ts)
{
	if (ts->nsec == UTIME_NOW)
		return inode_now();
	return (struct timespec){ .tv_sec = ts->sec, .tv_nsec = ts->nsec };
}

/* times NULL: now. path 0: the descriptor dfd itself. */
static int64_t utimes_at(struct task *t, int dfd, uaddr_t path, const struct linux_timespec *times,
			 unsigned flags)
{
	struct attr at = { .valid = ATTR_ATIME | ATTR_MTIME | ATTR_NOW };

	bool valid = !times || (time_is_valid(&times[0]) && time_is_valid(&times[1]));

	if (times && !(times[0].nsec == UTIME_NOW && times[1].nsec == UTIME_NOW)) {
		at.valid = (times[0].nsec != UTIME_OMIT ? ATTR_ATIME : 0) |
			   (times[1].nsec != UTIME_OMIT ? ATTR_MTIME : 0);
		at.atime = time_choose(&times[0]);
		at.mtime = time_choose(&times[1]);
	}
	if (flags & ~(unsigned)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!path && dfd != AT_FDCWD && flags)
		return -EINVAL;
	if (!path && dfd == AT_FDCWD)
		return -EFAULT;
	/* Wrong times are told after the file was found. */
	if (!valid) {
		struct path p;
		int64_t r = !path && dfd != AT_FDCWD
				    ? path_of_fd(t, dfd, false, &p)
				    : path_at(t, dfd, path, lookup_flags(flags), &p);
		if (r < 0)
			return r;
		path_put(&p);
		return -EINVAL;
	}
	if (!path && dfd != AT_FDCWD)
		return attr_fd(t, dfd, &at);
	return attr_at(t, dfd, path, flags, &at);
}

int64_t sys_utimensat(struct task *t, const struct sysargs *a)
{
	struct linux_timespec times[2];

	if (a->a[2]) {
		if (guest_read(t->tid, times, a->a[2], sizeof(times)) < 0)
			return -EFAULT;
		/* Nothing to do: not even the path is looked at. */
		if (times[0].nsec == UTIME_OMIT && times[1].nsec == UTIME_OMIT)
			return 0;
	}
	return utimes_at(t, ARG_INT(a, 0), a->a[1], a->a[2] ? times : NULL, ARG_UINT(a, 3));
}

static int64_t utimes_old(struct task *t, int dfd, uaddr_t path, uaddr_t addr)
{
	struct linux_timeval tv[2];
	struct linux_timespec times[2];

	if (!addr)
		return utimes_at(t, dfd, path, NULL, 0);
	if (guest_read(t->tid, tv, addr, sizeof(tv)) < 0)
		return -EFAULT;
	for (int i = 0; i < 2; i++) {
		if (tv[i].usec < 0 || tv[i].usec >= 1000000)
			return -EINVAL;
		times[i] = (struct linux_timespec){ tv[i].sec, tv[i].usec * 1000 };
	}
	return utimes_at(t, dfd, path, times, 0);
}

int64_t sys_utimes(struct task *t, const struct sysargs *a)
{
	return utimes_old(t, AT_FDCWD, a->a[0], a->a[1]);
}

int64_t sys_futimesat(struct task *t, const struct sysargs *a)
{
	return utimes_old(t, ARG_INT(a, 0), a->a[1], a->a[2]);
}

int64_t sys_utime(struct task *t, const struct sysargs *a)
{
	struct linux_utimbuf ut;

	if (!a->a[1])
		return utimes_at(t, AT_FDCWD, a->a[0], NULL, 0);
	if (guest_get(t->tid, &ut, a->a[1]) < 0)
		return -EFAULT;
	struct linux_timespec times[2] = { { ut.actime, 0 }, { ut.modtime, 0 } };
	return utimes_at(t, AT_FDCWD, a->a[0], times, 0);
}

/* ---- size ---- */

/* While it waits for the host, the call keeps the file that it is about: the name may lead to
 * another one when it is run again. */
static int64_t truncate_keep(struct task *t, const struct path *p)
{
	struct file *f;
	int r = file_open(t, p, O_PATH, &f);

	if (r < 0) {
		call_unpark(t);
		return r;
	}
	file_keep(t, f);
	file_put(f);
	return WAITING;
}

int64_t sys_truncate(struct task *t, const struct sysargs *a)
{
	struct file *kept = file_of_call(t, -1);
	struct path p;
	int64_t r;

	if ((int64_t)a->a[1] < 0)
		return -EINVAL;
	t->call.may_wait = true;
	if (kept)
		return vfs_truncate(t, &kept->path, a->a[1]);
	r = path_at(t, AT_FDCWD, a->a[0], LOOKUP_FOLLOW, &p);
	if (r < 0)
		return r;
	r = vfs_truncate(t, &p, a->a[1]);
	if (r < 0 && t->call.parked)
		r = truncate_keep(t, &p);
	path_put(&p);
	return r;
}

int64_t sys_ftruncate(struct task *t, const struct sysargs *a)
{
	struct file *f;
	int64_t r;

	if ((int64_t)a->a[1] < 0)
		return -EINVAL;
	f = file_of_call(t, ARG_INT(a, 0));
	if (!f)
		return -EBADF;
	t->call.may_wait = true;
	r = file_truncate(t, f, a->a[1]);
	if (r < 0 && t->call.parked)
		file_keep(t, f);
	return r;
}

/* Ranges that are allocated, emptied or zeroed are worked through in pieces, so that others need
 * not wait for all of it; but only if there is room for the whole, as a failure leaves nothing
 * behind. */
#define FALLOC_PIECE (4L << 20)

static bool falloc_in_pieces(const struct file *f, unsigned verb, int64_t len)
{
	const struct fs *fs = f->inode->fs;
	struct fs_stat st = { 0 };

	if (verb & ~(unsigned)(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE) || len <= FALLOC_PIECE)
		return false;
	if (verb == FALLOC_FL_PUNCH_HOLE || memfd_may_grow(f, (uint64_t)len))
		return true;
	if (fs->ops->statfs)
		CHECKED(fs->ops)->statfs(f->inode, &st);
	return st.bfree > (uint64_t)len / PAGE_SIZE + 1;
}

int64_t sys_fallocate(struct task *t, const struct sysargs *a)
{
	const unsigned known = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE |
			       FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE |
			       FALLOC_FL_UNSHARE_RANGE;
	unsigned mode = ARG_UINT(a, 1), verb = mode & ~(unsigned)FALLOC_FL_KEEP_SIZE;
	int64_t off = (int64_t)a->a[2], len = (int64_t)a->a[3], end;
	struct file *f = file_of_call(t, ARG_INT(a, 0));

	if (!f)
		return -EBADF;
	if (off < 0 || len <= 0)
		return -EINVAL;
	if (mode & ~known || (verb & (verb - 1)))
		return -EOPNOTSUPP;
	if (mode & FALLOC_FL_PUNCH_HOLE && !(mode & FALLOC_FL_KEEP_SIZE))
		return -EOPNOTSUPP;
	if (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE) &&
	    mode & FALLOC_FL_KEEP_SIZE)
		return -EOPNOTSUPP;
	if (!(f->mode & FMODE_WRITE))
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		return -ESPIPE;
	if (inode_is_dir(f->inode))
		return -EISDIR;
	if (!inode_is_reg(f->inode))
		return -ENODEV;
	if (__builtin_add_overflow(off, len, &end))
		return -EFBIG;
	if (!f->ops->fallocate)
		return -EOPNOTSUPP;
	if (!(mode & FALLOC_FL_KEEP_SIZE) && (uint64_t)end > f->inode->size) {
		/* The limit counts for where the file would end. */
		int64_t room = vfs_write_limit(t, (uint64_t)off, (uint64_t)len);
		if (room < 0)
			return room;
		if (room < len)
			return vfs_write_limit(t, (uint64_t)(off + room), (uint64_t)(len - room));
	}
	/* Behind the end there is nothing to punch, and the host's files may end before a
	 * cell's. */
	if (mode & FALLOC_FL_PUNCH_HOLE) {
		uint64_t last = ALIGN_UP(f->inode->size, (uint64_t)PAGE_SIZE);

		if ((uint64_t)off >= last)
			return 0;
		len = (int64_t)MIN((uint64_t)len, last - (uint64_t)off);
		end = off + len;
	}
	inode_drop_caps(f->inode);
	int64_t at = off + t->call.done, next = end;
	/* Once begun it goes on in pieces. */
	if (t->call.done || falloc_in_pieces(f, verb, len))
		next = MIN(end, (int64_t)ALIGN_DOWN((uint64_t)at + 2 * FALLOC_PIECE,
						    (uint64_t)FALLOC_PIECE));
	t->call.may_wait = true;
	int64_t r = CHECKED(f->ops)->fallocate(f, (int)mode, (uint64_t)at, (uint64_t)(next - at));
	/* Some of it may be done, whatever becomes of the call. */
	if (r == 0 || t->call.parked)
		observe(wrote, f);
	if (r < 0 && t->call.parked) {
		file_keep(t, f);
		return r;
	}
	if (r == 0 && next < end) {
		t->call.done = next - off;
		file_keep(t, f);
		return call_wait_turn(t);
	}
	if (r == -EFBIG && !(mode & ~(unsigned)FALLOC_FL_KEEP_SIZE))
		r = -ENOSPC;
	if (r)
		return r;
	path_notify(&f->path, IN_MODIFY);
	return 0;
}
