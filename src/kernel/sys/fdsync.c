/* ioctl, the calls that bring files to the disk or speak of it, memfd_create. */
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <sys/mman.h>

#include "kernel/fs/layer/layer.h"
#include "kernel/fs/memfd/memfd.h"
#include "kernel/platform/guestmem.h"
#include "kernel/sys/birth.h"
#include "kernel/sys/file_util.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/async.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"

#define MFD_NAME_MAX 249

/* ---- ioctl ---- */

/* A switch of f->flags by an int argument. */
static int64_t ioctl_flag(struct task *t, struct file *f, uaddr_t arg, uint32_t flag)
{
	int32_t on;

	if (guest_get(t->tid, &on, arg) < 0)
		return -EFAULT;
	f->flags = on ? f->flags | flag : f->flags & ~flag;
	return 0;
}

static int64_t ioctl_async(struct task *t, struct file *f, int fd, uaddr_t arg)
{
	int32_t on;
	int ret;

	if (guest_get(t->tid, &on, arg) < 0)
		return -EFAULT;
	if (!on == !(f->flags & FASYNC_BIT))
		return 0;
	if (!f->ops->async)
		return -ENOTTY;
	ret = async_set(f, fd, on);
	if (ret == 0)
		f->flags ^= FASYNC_BIT;
	return ret;
}

/* Sharing of extents: refused as by a file system that has none, after the checks that come
 * first. */
static int64_t ioctl_clone(struct task *t, struct file *f, int src_fd)
{
	struct file *src = fd_file(t, src_fd);

	if (!src)
		return -EBADF;
	if (src->inode->fs != f->inode->fs)
		return -EXDEV;
	if (inode_is_dir(src->inode) || inode_is_dir(f->inode))
		return -EISDIR;
	if (!inode_is_reg(src->inode) || !inode_is_reg(f->inode))
		return -EINVAL;
	if (!(src->mode & FMODE_READ) || !(f->mode & FMODE_WRITE) || f->flags & O_APPEND)
		return -EBADF;
	return -EOPNOTSUPP;
}

static int64_t ioctl_range(struct task *t, struct file *f, uaddr_t arg)
{
	struct file_clone_range range;

	if (guest_get(t->tid, &range, arg) < 0)
		return -EFAULT;
	return ioctl_clone(t, f, (int)range.src_fd);
}

int64_t sys_ioctl(struct task *t, const struct sysargs *a)
{
	int fd = ARG_INT(a, 0);
	unsigned cmd = ARG_UINT(a, 1);
	uaddr_t arg = a->a[2];
	struct file *f = file_of_call(t, fd);
	int64_t size, ret;

	if (!f)
		return -EBADF;
	switch (cmd) {
	case FIOCLEX:
	case FIONCLEX:
		t->files->slots[fd].cloexec = cmd == FIOCLEX;
		return 0;
	case FIONBIO:
		return ioctl_flag(t, f, arg, O_NONBLOCK);
	case FIOASYNC:
		return ioctl_async(t, f, fd, arg);
	case FIOQSIZE:
		if (!inode_is_reg(f->inode) && !inode_is_dir(f->inode))
			return -ENOTTY;
		size = (int64_t)f->inode->size;
		return guest_put(t->tid, arg, &size);
	case FIGETBSZ:
		if (!inode_is_reg(f->inode) && !inode_is_dir(f->inode))
			break;
		return guest_put(t->tid, arg, &(int32_t){ 4096 });
	case FICLONE:
		return ioctl_clone(t, f, (int)arg);
	case FICLONERANGE:
		return ioctl_range(t, f, arg);
	case FIONREAD:
		if (!inode_is_reg(f->inode))
			break;
		return guest_put(t->tid, arg,
				 &(int32_t){ (int32_t)((int64_t)f->inode->size - f->pos) });
	}
	if (!f->ops->ioctl)
		return -ENOTTY;
	ret = CHECKED(f->ops)->ioctl(f, t, cmd, arg);
	/* A child that has not announced itself may be meant. */
	if (ret == -ESRCH && (cmd == TIOCSPGRP || cmd == FIOSETOWN || cmd == SIOCSPGRP))
		ret = births_wait(t);
	return ret;
}

/* ---- to the disk ---- */

/* A call that syncs a layer waits while the host writes, and is then run again: about the same
 * file, whatever its number stands for by then. */
static int64_t sync_fd(struct task *t, int fd, bool data_only)
{
	struct file *f = fd_file(t, fd);

	if (layer_sync_waits())
		return layer_sync_again();
	if (!f)
		return -EBADF;
	t->call.may_wait = true;
	return f->ops->fsync ? CHECKED(f->ops)->fsync(f, data_only) : -EINVAL;
}

int64_t sys_fsync(struct task *t, const struct sysargs *a)
{
	return sync_fd(t, ARG_INT(a, 0), false);
}

int64_t sys_fdatasync(struct task *t, const struct sysargs *a)
{
	return sync_fd(t, ARG_INT(a, 0), true);
}

/* Calls fn for each file system that is mounted, and goes on there when the call is run again. */
static int sync_mounts(struct task *t, int (*fn)(struct fs *fs))
{
	int64_t at = 0;
	int ret = 0;

	t->call.may_wait = true;
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m)) {
		int r;

		if (at++ < t->call.done)
			continue;
		r = fn(m->fs);
		if (t->call.parked)
			return WAITING;
		t->call.done = at;
		ret = ret ? ret : r;
	}
	return ret;
}

static int fs_sync(struct fs *fs)
{
	return fs->ops->sync ? CHECKED(fs->ops)->sync(fs) : 0;
}

int64_t sys_sync(struct task *t, const struct sysargs *a)
{
	(void)a;
	return sync_mounts(t, fs_sync) == WAITING ? WAITING : 0; /* whatever went wrong */
}

/* The pages are the host's to write. Before it does, the logs of disks are synced: a file whose
 * pages are on the disk and whose name is not would be lost. */
int64_t sys_msync(struct task *t, const struct sysargs *a)
{
	int ret = ARG_UINT(a, 2) & MS_SYNC ? sync_mounts(t, layer_sync_names) : 0;

	if (ret < 0)
		return ret == WAITING ? WAITING : -EIO;
	return CALL_NATIVE;
}

int64_t sys_syncfs(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));

	if (layer_sync_waits())
		return layer_sync_again();
	if (!f)
		return -EBADF;
	t->call.may_wait = true;
	return fs_sync(f->inode->fs);
}

int64_t sys_sync_file_range(struct task *t, const struct sysargs *a)
{
	int64_t off = (int64_t)a->a[1], len = (int64_t)a->a[2], end;
	struct file *f = fd_file(t, ARG_INT(a, 0));

	if (!f)
		return -EBADF;
	if (ARG_UINT(a, 3) & ~7u || off < 0 || len < 0 || __builtin_add_overflow(off, len, &end))
		return -EINVAL;
	return inode_is_reg(f->inode) || inode_is_dir(f->inode) ? 0 : -ESPIPE;
}

int64_t sys_fadvise64(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));

	if (!f)
		return -EBADF;
	if (S_ISFIFO(f->inode->mode))
		return -ESPIPE;
	return (int64_t)a->a[2] < 0 || ARG_UINT(a, 3) > POSIX_FADV_NOREUSE ? -EINVAL : 0;
}

int64_t sys_readahead(struct task *t, const struct sysargs *a)
{
	struct file *f = fd_file(t, ARG_INT(a, 0));

	if (!f || !(f->mode & FMODE_READ))
		return -EBADF;
	return inode_is_reg(f->inode) ? 0 : -EINVAL;
}

/* ---- memfd ---- */

int64_t sys_memfd_create(struct task *t, const struct sysargs *a)
{
	char name[MFD_NAME_MAX + 1];
	unsigned flags = ARG_UINT(a, 1);
	struct file *f;
	int r = guest_read_str(t->tid, name, a->a[0], sizeof(name));

	if (r < 0)
		return r == -ENAMETOOLONG ? -EINVAL : r;
	r = fd_room(t, 1);
	if (r == 0)
		r = memfd_new(name, flags, &f);
	if (r)
		return r;
	f->inode->uid = t->cred.fsuid;
	f->inode->gid = t->cred.fsgid;
	return fd_give(t, f, flags & MFD_CLOEXEC);
}
