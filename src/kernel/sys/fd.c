/* Descriptors: dup, fcntl, flock. Leases are never granted (EAGAIN), directory notification
 * neither. */
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "kernel/abi/fs.h"
#include "kernel/abi/signal.h"
#include "kernel/fs/memfd/memfd.h"
#include "kernel/fs/pipe/pipe.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/async.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/lock.h"

#define DN_MULTISHOT_ 0x80000000u
#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | FASYNC_BIT)
#define F_DUPFD_QUERY_ 1027

/* ---- dup ---- */

static int64_t dup_from(struct task *t, int fd, uint64_t from, bool cloexec)
{
	struct file *f = fd_file_or_path(t, fd);
	int r;

	if (!f)
		return -EBADF;
	if (from >= t->proc->limits[RLIMIT_NOFILE].cur || from > INT32_MAX)
		return -EINVAL;
	r = fd_install(t, file_get(f), (int)from, cloexec);
	if (r < 0)
		file_put(f);
	return r;
}

int64_t sys_dup(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file_or_path(t, ARG_INT(a, 0));

	return f ? fd_give(t, file_get(f), false) : -EBADF;
}

static int64_t dup_to(struct task *t, int fd, int to, bool cloexec)
{
	struct file *f = fd_file_or_path(t, fd);
	int r;

	if (to < 0 || (uint64_t)to >= t->proc->limits[RLIMIT_NOFILE].cur || !f)
		return -EBADF;
	r = fd_install_at(t, file_get(f), to, cloexec);
	if (r < 0)
		file_put(f);
	return r;
}

int64_t sys_dup2(struct task *t, const struct sysargs *a)
{
	int fd = ARG_INT(a, 0), to = ARG_INT(a, 1);

	if (fd == to)
		return fd_file_or_path(t, fd) ? to : -EBADF;
	return dup_to(t, fd, to, false);
}

int64_t sys_dup3(struct task *t, const struct sysargs *a)
{
	if (ARG_UINT(a, 2) & ~(unsigned)O_CLOEXEC || ARG_INT(a, 0) == ARG_INT(a, 1))
		return -EINVAL;
	return dup_to(t, ARG_INT(a, 0), ARG_INT(a, 1), ARG_UINT(a, 2) & O_CLOEXEC);
}

/* ---- fcntl: locks ---- */

static int lock_arg(const struct file *f, const struct linux_flock *fl, struct lock_range *lr)
{
	int64_t base = 0;

	switch (fl->whence) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		base = f->pos;
		break;
	case SEEK_END:
		base = (int64_t)f->inode->size;
		break;
	default:
		return -EINVAL;
	}
	return lock_range_init(lr, fl->type, base, fl->start, fl->len);
}

static int64_t lock_get(struct task *t, struct file *f, uaddr_t addr, bool ofd)
{
	struct linux_flock fl;
	struct lock_range lr;
	int r;

	if (guest_get(t->tid, &fl, addr) < 0)
		return -EFAULT;
	if (!ofd && fl.type != F_RDLCK && fl.type != F_WRLCK)
		return -EINVAL;
	r = lock_arg(f, &fl, &lr);
	if (r < 0)
		return r;
	if (ofd && fl.pid)
		return -EINVAL;
	lock_posix_get(f, t->files, ofd, &lr);
	fl.type = (int16_t)lr.type;
	if (lr.type != F_UNLCK) {
		fl.whence = SEEK_SET;
		fl.start = (int64_t)lr.start;
		fl.len = lr.end == LOCK_TO_EOF ? 0 : (int64_t)(lr.end - lr.start + 1);
		fl.pid = lr.pid;
	}
	return guest_put(t->tid, addr, &fl);
}

static int64_t lock_set(struct task *t, int fd, struct file *f, uaddr_t addr, bool ofd, bool wait)
{
	struct linux_flock fl;
	struct lock_range lr;
	int r;

	if (guest_get(t->tid, &fl, addr) < 0)
		return -EFAULT;
	r = lock_arg(f, &fl, &lr);
	if (r < 0)
		return r;
	if ((lr.type == F_RDLCK && !(f->mode & FMODE_READ)) ||
	    (lr.type == F_WRLCK && !(f->mode & FMODE_WRITE)))
		return -EBADF;
	if (ofd && fl.pid)
		return -EINVAL;
	r = lock_posix_set(f, t, ofd, &lr, wait);
	/* Another thread has closed the descriptor while this one waited: nothing would ever
	 * release it. */
	if (r == 0 && !ofd && lr.type != F_UNLCK && fd_file(t, fd) != f) {
		lr.type = F_UNLCK;
		(void)lock_posix_set(f, t, ofd, &lr, false);
		return -EBADF;
	}
	if (r != -EAGAIN || !wait)
		return r;
	file_keep(t, f);
	return call_wait(t, lock_waitq(f->inode), POLLOUT, PARK_RESTART);
}

int64_t sys_flock(struct task *t, const struct sysargs *a)
{
	int op = ARG_INT(a, 1), r;
	struct file *f = file_of_call(t, ARG_INT(a, 0));

	/* Mandatory locks are gone; Linux accepts and forgets them, whatever the descriptor. */
	if (op & 32 /* LOCK_MAND, which not every libc has */)
		return 0;
	if ((op & ~LOCK_NB) != LOCK_SH && (op & ~LOCK_NB) != LOCK_EX && (op & ~LOCK_NB) != LOCK_UN)
		return -EINVAL;
	if (!f)
		return -EBADF;
	r = lock_flock(f, op);
	if (r != -EAGAIN || op & LOCK_NB)
		return r;
	file_keep(t, f);
	return call_wait(t, lock_waitq(f->inode), POLLOUT, PARK_RESTART);
}

/* ---- fcntl: owner ---- */

/* A child that the host has numbered already may not have announced itself yet. */
static int64_t owner_set(struct task *t, struct file *f, int64_t who)
{
	int64_t ret = file_owner_set(t, f, who);

	return ret == -ESRCH && who > 0 ? births_wait(t) : ret;
}

static int64_t owner_ex(struct task *t, struct file *f, uaddr_t addr, bool set)
{
	struct linux_f_owner_ex ex;

	if (!set) {
		ex.type = f->owner_pid < 0 ? LINUX_F_OWNER_PGRP : LINUX_F_OWNER_PID;
		ex.pid = f->owner_pid < 0 ? -f->owner_pid : f->owner_pid;
		return guest_put(t->tid, addr, &ex);
	}
	if (guest_get(t->tid, &ex, addr) < 0)
		return -EFAULT;
	if (ex.type < LINUX_F_OWNER_TID || ex.type > LINUX_F_OWNER_PGRP)
		return -EINVAL;
	if (ex.pid < 0)
		return -ESRCH;
	return owner_set(t, f, ex.type == LINUX_F_OWNER_PGRP ? -(int64_t)ex.pid : ex.pid);
}

/* ---- fcntl ---- */

static int64_t flags_set(struct task *t, struct file *f, int fd, unsigned flags)
{
	int ret = 0;

	if (flags & O_NOATIME && !(f->flags & O_NOATIME) && t->cred.fsuid != f->inode->uid &&
	    !cred_has_cap(&t->cred, CAP_FOWNER))
		return -EPERM;
	if (flags & O_DIRECT && !(f->flags & O_DIRECT) && !inode_is_reg(f->inode) && !pipe_of(f))
		return -EINVAL;
	if (f->ops->async == ASYNC_NO)
		flags &= ~FASYNC_BIT;
	if ((flags ^ f->flags) & FASYNC_BIT)
		ret = async_set(f, fd, flags & FASYNC_BIT);
	if (ret < 0)
		return ret;
	/* FMODE and the creation flags stay. */
	f->flags = (f->flags & ~(uint32_t)SETFL_MASK) | (flags & SETFL_MASK);
	return 0;
}

static int64_t fcntl_pipe(struct file *f, int cmd, uint64_t arg)
{
	struct pipe *p = pipe_of(f);

	if (!p)
		return -EBADF;
	return cmd == F_GETPIPE_SZ ? (int64_t)pipe_capacity(p) : pipe_resize(p, (uint32_t)arg);
}

/* Commands that O_PATH descriptors know, too. */
static int64_t fcntl_any(struct task *t, struct file *f, int fd, int cmd, uint64_t arg)
{
	struct fdslot *slot = &t->files->slots[fd];

	switch (cmd) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return dup_from(t, fd, (uint32_t)arg, cmd == F_DUPFD_CLOEXEC);
	case F_GETFD:
		return slot->cloexec ? FD_CLOEXEC : 0;
	case F_SETFD:
		slot->cloexec = arg & FD_CLOEXEC;
		return 0;
	case F_GETFL:
		return f->flags;
	case F_DUPFD_QUERY_:
		return fd_file_or_path(t, (int)arg) ? fd_file_or_path(t, (int)arg) == f : -EBADF;
	}
	return -ENOSYS;
}

static int64_t fcntl_file(struct task *t, struct file *f, int fd, int cmd, uint64_t arg)
{
	switch (cmd) {
	case F_SETFL:
		return flags_set(t, f, fd, (unsigned)arg);
	case F_GETLK:
	case F_OFD_GETLK:
		return lock_get(t, f, arg, cmd == F_OFD_GETLK);
	case F_SETLK:
	case F_SETLKW:
		return lock_set(t, fd, f, arg, false, cmd == F_SETLKW);
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return lock_set(t, fd, f, arg, true, cmd == F_OFD_SETLKW);
	case F_GETOWN:
		return f->owner_pid;
	case F_SETOWN:
		return owner_set(t, f, (int)arg);
	case F_GETOWN_EX:
	case F_SETOWN_EX:
		return owner_ex(t, f, arg, cmd == F_SETOWN_EX);
	case F_GETSIG:
		return f->owner_sig;
	case F_SETSIG:
		if (arg > LINUX_NSIG)
			return -EINVAL;
		f->owner_sig = (int)arg;
		return 0;
	case F_GETPIPE_SZ:
	case F_SETPIPE_SZ:
		return fcntl_pipe(f, cmd, arg);
	case F_ADD_SEALS:
		return memfd_add_seals(f, (unsigned)arg);
	case F_GET_SEALS:
		return memfd_get_seals(f);
	/* inotify has taken its place; to take away what is not there works everywhere */
	case F_NOTIFY:
		if (!((uint32_t)arg & ~DN_MULTISHOT_))
			return 0;
		return inode_is_dir(f->inode) ? -EINVAL : -ENOTDIR;
	case F_GETLEASE:
		return F_UNLCK;
	case F_SETLEASE: /* never to be had: somebody has it open, as far as the caller can tell */
		return !inode_is_reg(f->inode) || arg > F_UNLCK ? -EINVAL : -EAGAIN;
	}
	return -EINVAL;
}

int64_t sys_fcntl(struct task *t, const struct sysargs *a)
{
	int fd = ARG_INT(a, 0), cmd = ARG_INT(a, 1);
	struct file *f = t->call.resumed ? file_of_call(t, fd) : fd_file_or_path(t, fd);
	int64_t r;

	if (!f)
		return -EBADF;
	if (!t->call.resumed) {
		r = fcntl_any(t, f, fd, cmd, a->a[2]);
		if (r != -ENOSYS)
			return r;
	}
	return f->mode & FMODE_PATH ? -EBADF : fcntl_file(t, f, fd, cmd, a->a[2]);
}
