/* open, openat, openat2, creat, close, close_range.
 *
 * The flags are checked as Linux's build_open_flags does, strictly for openat2 and forgivingly for
 * the others. A descriptor must be free before anything happens, so that a full table never leaves
 * a new file behind. An open that waits (a FIFO without its other end) is parked and run again. */
#include <errno.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/inotify.h>

#include "kernel/abi/fs.h"
#include "kernel/fs/pipe/pipe.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/fast.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"

#define LINUX_O_LARGEFILE 0100000 /* glibc has it as 0 */
#define TMPFILE_BIT 020000000 /* O_TMPFILE without O_DIRECTORY */
#define FASYNC_BIT 020000
#define PATH_FLAGS (O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)
#define VALID_FLAGS                                                                           \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC | \
	 O_DSYNC | FASYNC_BIT | O_DIRECT | LINUX_O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW |     \
	 O_NOATIME | O_CLOEXEC | O_PATH | TMPFILE_BIT)
#define VALID_RESOLVE                                                                      \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | \
	 RESOLVE_IN_ROOT | RESOLVE_CACHED)

struct open_req {
	int dfd;
	uint32_t flags, mode;
	unsigned lookup; /* LOOKUP_* from resolve */
};

static int open_flags_check(const struct linux_open_how *how)
{
	uint64_t flags = how->flags;
	bool creates = flags & (O_CREAT | TMPFILE_BIT);

	if (flags & ~(uint64_t)(uint32_t)VALID_FLAGS || how->resolve & ~(uint64_t)VALID_RESOLVE)
		return -EINVAL;
	if (how->resolve & RESOLVE_BENEATH && how->resolve & RESOLVE_IN_ROOT)
		return -EINVAL;
	if (how->mode & ~(creates ? 07777ull : 0ull))
		return -EINVAL;
	if (flags & O_DIRECTORY && flags & O_CREAT)
		return -EINVAL;
	if (flags & TMPFILE_BIT && (!(flags & O_DIRECTORY) || !(flags & O_ACCMODE)))
		return -EINVAL;
	if (flags & O_PATH && flags & ~(uint64_t)PATH_FLAGS)
		return -EINVAL;
	/* Nothing is promised to be in the cache. */
	if (how->resolve & RESOLVE_CACHED)
		return -EAGAIN;
	return 0;
}

static unsigned resolve_to_lookup(uint64_t resolve)
{
	return (resolve & RESOLVE_NO_XDEV ? LOOKUP_NO_XDEV : 0) |
	       (resolve & RESOLVE_NO_MAGICLINKS ? LOOKUP_NO_MAGIC : 0) |
	       (resolve & RESOLVE_NO_SYMLINKS ? LOOKUP_NO_SYMLINKS : 0) |
	       (resolve & RESOLVE_BENEATH ? LOOKUP_BENEATH : 0) |
	       (resolve & RESOLVE_IN_ROOT ? LOOKUP_IN_ROOT : 0);
}

/* Who asks for a new file in a sticky directory does not get what somebody else has put there in
 * its place: in one that all may write neither a file nor a FIFO, in one that its group may write
 * no file (in /proc/sys/fs protected_regular is 2 and protected_fifos 1). */
static bool may_use_in_sticky(const struct task *t, const struct path *p)
{
	const struct inode *ino = p->name->inode;
	const struct inode *dir = p->name->parent ? p->name->parent->inode : NULL;

	if (!dir || !(dir->mode & S_ISVTX) || ino->uid == dir->uid || ino->uid == t->cred.fsuid ||
	    (!inode_is_reg(ino) && !S_ISFIFO(ino->mode)))
		return true;
	return !(dir->mode & S_IWOTH) && !(inode_is_reg(ino) && (dir->mode & S_IWGRP));
}

/* Finds the place, making the file when O_CREAT asks for it; *ret_created tells. returns path
 * ref. */
static int open_find_or_create(struct task *t, const struct open_req *rq, struct path *ret_,
			       bool *ret_created)
{
	unsigned follow = rq->flags & (O_EXCL | O_NOFOLLOW) ? 0 : LOOKUP_FOLLOW;
	struct path place, dir;
	struct newnode n;
	int r;

	r = path_lookup(t, rq->dfd, path_buf, rq->lookup | follow | LOOKUP_CREATE, &place);
	if (r < 0)
		return r;
	if (place.name->inode) {
		r = rq->flags & O_EXCL		      ? -EEXIST
		    : inode_is_dir(place.name->inode) ? -EISDIR
		    : may_use_in_sticky(t, &place)    ? 0
						      : -EACCES;
		if (r < 0)
			path_put(&place);
		else
			*ret_ = place;
		return r;
	}
	dir = (struct path){ .mnt = place.mnt, .name = place.name->parent };
	if (!dir.name || !dir.name->inode) {
		path_put(&place);
		return -ENOENT;
	}
	newnode_init(&n, t, dir.name->inode, S_IFREG | rq->mode);
	n.open = rq->flags;
	r = vfs_create(t, &dir, place.name->str, &n, ret_);
	path_put(&place);
	*ret_created = r == 0;
	return r;
}

static int open_tmpfile(struct task *t, const struct open_req *rq, struct path *ret_)
{
	struct newnode n;
	struct path dir;
	int r;

	r = path_lookup(t, rq->dfd, path_buf,
			rq->lookup | (rq->flags & O_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
				LOOKUP_DIRECTORY,
			&dir);
	if (r < 0)
		return r;
	newnode_init(&n, t, dir.name->inode, S_IFREG | rq->mode);
	n.open = rq->flags;
	r = vfs_tmpfile(t, &dir, &n, ret_);
	path_put(&dir);
	if (r == 0 && rq->flags & O_EXCL)
		ret_->name->inode->linkable = false;
	return r;
}

static int open_find(struct task *t, const struct open_req *rq, struct path *ret_,
		     bool *ret_created)
{
	unsigned lookup = rq->lookup;

	*ret_created = false;
	if (fifo_wait_path(t, ret_))
		return 0;
	if (rq->flags & TMPFILE_BIT) {
		*ret_created = true;
		return open_tmpfile(t, rq, ret_);
	}
	if (rq->flags & O_CREAT)
		return open_find_or_create(t, rq, ret_, ret_created);
	if (!(rq->flags & O_NOFOLLOW))
		lookup |= LOOKUP_FOLLOW;
	if (rq->flags & O_DIRECTORY)
		lookup |= LOOKUP_DIRECTORY;
	return path_missing(t, path_lookup(t, rq->dfd, path_buf, lookup, ret_));
}

/* What may_open refuses by type. */
static int open_check_type(const struct inode *ino, uint32_t flags)
{
	if (flags & O_PATH)
		return 0;
	if (inode_is_lnk(ino))
		return -ELOOP;
	if (inode_is_dir(ino) && (flags & O_ACCMODE || flags & O_TRUNC))
		return -EISDIR;
	if (S_ISSOCK(ino->mode))
		return -ENXIO;
	return 0;
}

/* Takes f. */
static int64_t open_give(struct task *t, struct file *f, uint32_t flags, bool created)
{
	int r = fd_give(t, f, flags & O_CLOEXEC);

	if (r >= 0 && !(flags & O_PATH))
		observe(opened, t, f, flags, created);
	return r;
}

/* The file is open, and was being truncated while the call waited. */
static int64_t open_truncated(struct task *t, struct file *f, uint32_t flags)
{
	int r;

	t->call.may_wait = true;
	r = inode_truncate(t, f->inode, 0);
	if (r < 0)
		return r;
	path_notify(&f->path, IN_MODIFY);
	return open_give(t, file_get(f), flags, false);
}

/* What takes long to truncate is not begun by a call that has no next run. */
#define TRUNC_LONG (16u << 20)

static int64_t open_do(struct task *t, int dfd, uaddr_t addr, const struct linux_open_how *how)
{
	struct open_req rq = { .dfd = dfd,
			       .flags = (uint32_t)how->flags,
			       .mode = (uint32_t)how->mode,
			       .lookup = resolve_to_lookup(how->resolve) };
	struct file *f = file_of_call(t, -1);
	struct path place;
	bool created = false;
	int r;

	if (f)
		return open_truncated(t, f, rq.flags);
	t->call.may_wait = true;
	r = open_flags_check(how);
	if (r == 0)
		r = path_arg(t, addr, path_buf, false);
	if (r == 0)
		r = fd_room(t, 1);
	if (r == 0) {
		fast_note_begin();
		r = open_find(t, &rq, &place, &created);
		/* What is not there is not there for stat either. */
		if (r == -ENOENT && !(rq.flags & (O_CREAT | TMPFILE_BIT)) && !rq.lookup)
			fast_answered(t, dfd, path_buf,
				      rq.flags & O_NOFOLLOW ? FAST_LSTAT : FAST_STAT, r, NULL);
		fast_notes.on = false;
	}
	if (r)
		return r;
	/* Who waits for the other side is seen by it. */
	if (t->call.way == WAY_POST &&
	    (S_ISFIFO(place.name->inode->mode) ||
	     (rq.flags & O_TRUNC && place.name->inode->size >= TRUNC_LONG))) {
		path_put(&place);
		return WAITING;
	}
	uint32_t flags = rq.flags & ~(uint32_t)(O_CLOEXEC | O_CREAT | O_EXCL);
	if (flags & TMPFILE_BIT)
		flags &= ~(uint32_t)O_TRUNC;
	else
		r = open_check_type(place.name->inode, flags);
	if (created)
		flags = (flags & ~(uint32_t)O_TRUNC) | OPEN_CREATED;
	if (r == 0)
		r = file_open(t, &place, flags, &f);
	path_put(&place);
	if (r == WAITING && f) {
		file_keep(t, f);
		file_put(f);
		return r;
	}
	if (r)
		return r;
	return open_give(t, f, rq.flags, created);
}

/* The older calls ignore what openat2 refuses. */
static int64_t open_old(struct task *t, int dfd, uaddr_t addr, uint32_t flags, uint32_t mode)
{
	struct linux_open_how how = { .flags = (flags | LINUX_O_LARGEFILE) & VALID_FLAGS,
				      .mode = mode & 07777 };

	if (how.flags & O_PATH)
		how.flags &= PATH_FLAGS;
	if (!(how.flags & (O_CREAT | TMPFILE_BIT)))
		how.mode = 0;
	return open_do(t, dfd, addr, &how);
}

int64_t sys_open(struct task *t, const struct sysargs *a)
{
	return open_old(t, AT_FDCWD, a->a[0], ARG_UINT(a, 1), ARG_UINT(a, 2));
}

int64_t sys_openat(struct task *t, const struct sysargs *a)
{
	return open_old(t, ARG_INT(a, 0), a->a[1], ARG_UINT(a, 2), ARG_UINT(a, 3));
}

int64_t sys_creat(struct task *t, const struct sysargs *a)
{
	return open_old(t, AT_FDCWD, a->a[0], O_CREAT | O_WRONLY | O_TRUNC, ARG_UINT(a, 1));
}

int64_t sys_openat2(struct task *t, const struct sysargs *a)
{
	struct linux_open_how how = { 0 };
	char raw[PAGE_SIZE];
	uint64_t size = a->a[3];

	if (size < LINUX_OPEN_HOW_SIZE_VER0)
		return -EINVAL;
	if (size > sizeof(raw))
		return -E2BIG;
	if (guest_read(t->tid, raw, a->a[2], size) < 0)
		return -EFAULT;
	/* A newer, larger struct is fine as long as what we do not know is zero. */
	for (uint64_t i = sizeof(how); i < size; i++)
		if (raw[i])
			return -E2BIG;
	memcpy(&how, raw, sizeof(how));
	return open_do(t, ARG_INT(a, 0), a->a[1], &how);
}

int64_t sys_close(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));
	int r = 0, closed;

	if (f && f->refs == 1 && f->ops->finish) {
		r = CHECKED(f->ops)->finish(f);
		if (t->call.parked)
			return r;
	}
	closed = fd_close(t, ARG_INT(a, 0));
	return closed < 0 ? closed : r;
}

int64_t sys_close_range(struct task *t, const struct sysargs *a)
{
	unsigned first = ARG_UINT(a, 0), last = ARG_UINT(a, 1), flags = ARG_UINT(a, 2);

	if (flags & ~(unsigned)(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC) || first > last)
		return -EINVAL;
	if (flags & CLOSE_RANGE_UNSHARE && t->files->refs > 1 && !t->call.resumed) {
		struct fdtable *own = fdtable_copy(t->files);
		if (!own)
			return -ENOMEM;
		fdtable_put(t->files, t);
		t->files = own;
	}
	for (uint64_t fd = first; fd <= last && fd < t->files->size; fd++) {
		if (!t->files->slots[fd].file)
			continue;
		if (flags & CLOSE_RANGE_CLOEXEC)
			t->files->slots[fd].cloexec = true;
		else
			(void)!fd_close(t, (int)fd);
		if (fd % 8 == 7 && !(flags & CLOSE_RANGE_CLOEXEC) && turn_is_long())
			return call_wait_turn(t);
	}
	return 0;
}
