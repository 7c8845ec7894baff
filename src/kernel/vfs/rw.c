/* The wrappers over the operations of open files: what is the same for every kind is done here
 * once. Reads and writes check the open mode; a write to a regular file goes to the end with
 * O_APPEND, stays within RLIMIT_FSIZE, takes set-id bits away and keeps size and times true.
 *
 * Whose limits count is told by the uio's thread. A write from the kernel's own buffer (sendfile)
 * has none: its caller asks vfs_write_limit() itself. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "kernel/platform/uio.h"
#include "kernel/task/observe.h"
#include "kernel/task/task.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/ops.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/vfs_priv.h"

/* Other programs of the host may have changed the file. */
static void file_refresh(struct file *f)
{
	if (f->inode->fs->nocache && f->inode->ops->getattr)
		(void)CHECKED(f->inode->ops)->getattr(f->inode);
}

int64_t file_read(struct file *f, struct uio *u, int64_t pos)
{
	if (!(f->mode & FMODE_READ))
		return -EBADF;
	if (inode_is_dir(f->inode))
		return -EISDIR;
	if (!f->ops->read)
		return -EINVAL;
	if (!(f->mode & FMODE_STREAM) && pos < 0)
		return -EINVAL;
	int64_t n = CHECKED(f->ops)->read(f, u, pos);
	if (n >= 0 && inode_is_reg(f->inode) && !(f->flags & O_NOATIME) && f->path.name)
		path_accessed(&f->path);
	if (n > 0)
		path_notify(&f->path, IN_ACCESS);
	return n;
}

int64_t file_write_pos(struct file *f, int64_t pos)
{
	if (!(f->flags & O_APPEND) || !inode_is_reg(f->inode))
		return pos;
	file_refresh(f);
	return (int64_t)f->inode->size;
}

static void file_kill_suid(struct file *f, const struct cred *c)
{
	struct inode *ino = f->inode;
	uint32_t kill = inode_suid_to_kill(ino, c);

	if (!kill || !ino->ops->setattr)
		return;
	struct attr a = {
		.valid = ATTR_MODE | ATTR_CTIME,
		.mode = (ino->mode & 07777) & ~kill,
		.ctime = inode_now(),
	};
	(void)CHECKED(ino->ops)->setattr(ino, &a);
}

int64_t file_write(struct file *f, struct uio *u, int64_t pos)
{
	struct inode *ino = f->inode;

	if (!(f->mode & FMODE_WRITE))
		return -EBADF;
	if (!f->ops->write)
		return -EINVAL;
	if ((f->mode & FMODE_STREAM) || !inode_is_reg(ino)) {
		int64_t sent = CHECKED(f->ops)->write(f, u, pos);
		if (sent > 0)
			path_notify(&f->path, IN_MODIFY);
		return sent;
	}
	if (pos < 0)
		return -EINVAL;
	if (u->left == 0)
		return 0;
	pos = file_write_pos(f, pos);
	struct task *t = u->tid ? task_find(u->tid) : NULL;
	int64_t room = vfs_write_limit(t, (uint64_t)pos, u->left);
	if (room < 0)
		return room;
	if (t)
		file_kill_suid(f, &t->cred);
	inode_drop_caps(ino);
	/* The kind sees no more than may be written; the caller sees what is left of all. */
	uint64_t over = u->left - (uint64_t)room;
	u->left -= over;
	/* Before it, as the kind may know the times better. */
	struct timespec mtime = ino->mtime, ctime = ino->ctime;
	ino->mtime = ino->ctime = inode_now();
	int64_t n = CHECKED(f->ops)->write(f, u, pos);
	u->left += over;
	if (n > 0) {
		ino->size = MAX(ino->size, (uint64_t)(pos + n));
		inode_touch(ino);
		path_notify(&f->path, IN_MODIFY);
		observe(wrote, f);
	} else {
		ino->mtime = mtime;
		ino->ctime = ctime;
	}
	return n;
}

int64_t file_seek(struct file *f, int64_t off, int whence)
{
	int64_t base, to;

	if (f->mode & (FMODE_STREAM | FMODE_PATH))
		return f->mode & FMODE_PATH ? -EBADF : -ESPIPE;
	/* As tmpfs: the end of a directory is no place. */
	if (inode_is_dir(f->inode) && whence != SEEK_SET && whence != SEEK_CUR)
		return -EINVAL;
	if (f->ops->seek)
		return CHECKED(f->ops)->seek(f, off, whence);
	switch (whence) {
	case SEEK_SET:
		base = 0;
		break;
	case SEEK_CUR:
		base = f->pos;
		break;
	case SEEK_END:
		file_refresh(f);
		base = (int64_t)f->inode->size;
		break;
	case SEEK_DATA:
	case SEEK_HOLE: /* all data, and one hole at the end */
		if (off < 0 || (uint64_t)off >= f->inode->size)
			return -ENXIO;
		base = whence == SEEK_HOLE ? (int64_t)f->inode->size - off : 0;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(base, off, &to) || to < 0)
		return -EINVAL;
	return f->pos = to;
}

uint32_t file_poll(struct file *f)
{
	if (f->ops && f->ops->poll)
		return CHECKED(f->ops)->poll(f);
	return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
}

struct waitq *file_poll_q(struct file *f)
{
	return f->ops && f->ops->poll_q ? CHECKED(f->ops)->poll_q(f) : NULL;
}

/* A directory that is empty for ever. */
static int empty_iterate(struct file *f, struct dirsink *sink)
{
	(void)dirsink_dots(sink, f);
	return 0;
}

int file_fsync_nothing(struct file *f, bool data_only)
{
	(void)f;
	(void)data_only;
	return 0;
}

const struct file_ops dir_fops_readonly = { .iterate = empty_iterate, .fsync = file_fsync_nothing };
