/* Regular files whose content is a file of the host: the inode's hostfd op lends the descriptor,
 * and every operation is the host's on that descriptor. Nothing is cached here, so a mapping of the
 * same descriptor is coherent.
 *
 * Bytes go through memory that is shared with the guest, or else through one bounce buffer, as the
 * host cannot move them from its page cache to another process directly. The position is always
 * explicit: the descriptor's own is not used (SEEK_DATA and SEEK_HOLE move it, harmlessly). Size
 * and times of the inode after a write are kept by file_write(). */
#include <errno.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/program.h"
#include "host/host.h"
#include "kernel/platform/uio.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/vfs_priv.h"

#define BOUNCE_SIZE (256UL << 10)

static char *bounce;

static int hostfile_fd(struct file *f, bool write)
{
	if (!bounce) {
		bounce = blob_new(BOUNCE_SIZE);
		if (!bounce)
			return -ENOMEM;
	}
	return f->inode->ops->hostfd ? CHECKED(f->inode->ops)->hostfd(f->inode, write) : -EIO;
}

static int64_t hostfile_read(struct file *f, struct uio *u, int64_t pos)
{
	int64_t done = 0;
	int fd;

	/* The end is known without the host, unless somebody outside can move it. */
	if (pos >= (int64_t)f->inode->size && !f->inode->fs->nocache)
		return 0;
	fd = hostfile_fd(f, false);
	if (fd < 0)
		return fd;
	while (u->left) {
		size_t want = MIN(u->left, BOUNCE_SIZE);
		void *at = uio_room(u, bounce, &want);
		int64_t got = host_pread(fd, at, want, pos + done);
		if (got <= 0)
			return done ? done : got;
		int64_t put = uio_put_at(u, at, bounce, (size_t)got);
		if (put < 0)
			return done ? done : put;
		done += put;
		if (put < got || (size_t)got < want)
			break; /* a bad address, or the end of the file */
	}
	return done;
}

static int64_t hostfile_write(struct file *f, struct uio *u, int64_t pos)
{
	int64_t done = 0;
	int fd = hostfile_fd(f, true);

	if (fd < 0)
		return fd;
	while (u->left) {
		size_t want = MIN(u->left, BOUNCE_SIZE);
		const void *at;
		int64_t took = uio_take_at(u, bounce, want, &at);
		if (took <= 0)
			return done ? done : took;
		int64_t put = host_pwrite(fd, at, (size_t)took, pos + done);
		if (put < took)
			uio_back(u, (size_t)(took - MAX(put, 0)));
		if (put < 0)
			return done ? done : put;
		done += put;
		if (put < took || (at == bounce && (size_t)took < want))
			break; /* the disk is full, or a bad address */
	}
	return done;
}

static int64_t hostfile_seek(struct file *f, int64_t off, int whence)
{
	int64_t to;

	if (whence == SEEK_DATA || whence == SEEK_HOLE) {
		int fd = hostfile_fd(f, false);
		if (fd < 0)
			return fd;
		to = host_lseek(fd, off, whence);
		return to < 0 ? to : (f->pos = to);
	}
	if (whence == SEEK_END && f->inode->fs->nocache && f->inode->ops->getattr)
		(void)CHECKED(f->inode->ops)->getattr(f->inode);
	int64_t base = whence == SEEK_CUR   ? f->pos
		       : whence == SEEK_END ? (int64_t)f->inode->size
					    : 0;
	if (whence < SEEK_SET || whence > SEEK_END)
		return -EINVAL;
	if (__builtin_add_overflow(base, off, &to) || to < 0)
		return -EINVAL;
	return f->pos = to;
}

static int hostfile_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	bool shared = (req->flags & MAP_TYPE) == MAP_SHARED ||
		      (req->flags & MAP_TYPE) == MAP_SHARED_VALIDATE;

	(void)off;
	if (!f->inode->ops->hostfd)
		return -ENODEV;
	/* A shared mapping of a file that is open for writing may be made writable later. */
	return CHECKED(f->inode->ops)->hostfd(f->inode, shared && (f->mode & FMODE_WRITE));
}

static int hostfile_fsync(struct file *f, bool data_only)
{
	int fd = hostfile_fd(f, false);
	return fd < 0 ? fd : host_fsync(fd, data_only);
}

/* A host file system without ZERO_RANGE (tmpfs): a hole reads as zeros, and the range is given its
 * blocks again. */
static int fallocate_zero(int fd, int mode, int64_t off, int64_t len)
{
	int err = host_fallocate(fd, mode, off, len);

	if (err != -EOPNOTSUPP)
		return err;
	err = host_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off, len);
	return err < 0 ? err : host_fallocate(fd, mode & FALLOC_FL_KEEP_SIZE, off, len);
}

static int hostfile_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	const int keep = FALLOC_FL_KEEP_SIZE, punch = FALLOC_FL_PUNCH_HOLE,
		  zero = FALLOC_FL_ZERO_RANGE, collapse = FALLOC_FL_COLLAPSE_RANGE,
		  insert = FALLOC_FL_INSERT_RANGE;
	struct inode *ino = f->inode;
	struct stat st;

	if (off > INT64_MAX || len > INT64_MAX || len == 0)
		return -EINVAL;
	if ((mode & ~(keep | punch | zero | collapse | insert)) ||
	    (mode & (punch | zero)) == (punch | zero) || ((mode & punch) && !(mode & keep)))
		return -EOPNOTSUPP;
	if (((mode & collapse) && mode != collapse) || ((mode & insert) && mode != insert))
		return -EINVAL;
	if (off + len > INT64_MAX)
		return -EFBIG;
	int fd = hostfile_fd(f, true);
	if (fd < 0)
		return fd;
	int err = mode & zero ? fallocate_zero(fd, mode, (int64_t)off, (int64_t)len)
			      : host_fallocate(fd, mode, (int64_t)off, (int64_t)len);
	if (err < 0)
		return err;
	if (host_fstat(fd, &st) == 0) {
		ino->size = (uint64_t)st.st_size;
		ino->blocks = (uint64_t)st.st_blocks;
	}
	ino->mtime = ino->ctime = inode_now();
	inode_touch(ino);
	return 0;
}

const struct file_ops hostfile_fops = {
	.read = hostfile_read,
	.write = hostfile_write,
	.seek = hostfile_seek,
	.mmap = hostfile_mmap,
	.fsync = hostfile_fsync,
	.fallocate = hostfile_fallocate,
};
