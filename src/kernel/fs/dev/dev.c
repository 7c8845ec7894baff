/* Character devices by number: null, zero, full, random, urandom, tty, console, ptmx.
 *
 * The drivers are keyed by the node's rdev, so that a node made with mknod anywhere works as the
 * one in /dev. Each mapping of /dev/zero is of a fresh memfd: shared mappings are then shared by
 * those who inherit them and by nobody else.
 * Left out: memory and port devices, kmsg, block devices. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/dev/dev.h"
#include "kernel/fs/pty/pty.h"
#include "kernel/fs/stream/stream.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/platform/guestmem.h"
#include "kernel/platform/uio.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/inode.h"

#define RANDOM_READ_MAX 33554431 /* one read gives no more, so that it never takes long */
#define RNDGETENTCNT_ 0x80045200U
#define ENTROPY_BITS 256

static int64_t null_read(struct file *f, struct uio *u, int64_t pos)
{
	(void)f, (void)u, (void)pos;
	return 0;
}

/* Linux does not look at the buffer either. */
static int64_t null_write(struct file *f, struct uio *u, int64_t pos)
{
	int64_t n = (int64_t)u->left;

	(void)f, (void)pos;
	u->left = 0;
	return n;
}

static int64_t null_seek(struct file *f, int64_t off, int whence)
{
	(void)off, (void)whence;
	f->pos = 0;
	return 0;
}

static int no_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	(void)f, (void)req, (void)off;
	return -ENODEV;
}

static int64_t zero_read(struct file *f, struct uio *u, int64_t pos)
{
	(void)f, (void)pos;
	return uio_put_zero(u, u->left);
}

static int64_t full_write(struct file *f, struct uio *u, int64_t pos)
{
	(void)f, (void)u, (void)pos;
	return -ENOSPC;
}

static int64_t random_read(struct file *f, struct uio *u, int64_t pos)
{
	char buf[4096];
	int64_t done = 0, n;

	(void)f, (void)pos;
	while (u->left > 0 && done < RANDOM_READ_MAX) {
		size_t want = MIN(u->left, sizeof(buf));

		want = MIN(want, (size_t)(RANDOM_READ_MAX - done));
		host_random(buf, want);
		n = uio_put(u, buf, want);
		if (n < 0)
			return done ? done : n;
		done += n;
		if ((size_t)n < want)
			break;
	}
	return done;
}

static int64_t random_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	int32_t bits = ENTROPY_BITS;

	(void)f;
	if (cmd != RNDGETENTCNT_)
		return -EINVAL;
	return guest_put(t->tid, arg, &bits);
}

/* ---- mapping /dev/zero ---- */

struct zero_map {
	int fd; /* of the last mapping: it must live until the runner has its copy */
};
OBJ_TYPE(zero_map_type, struct zero_map, 1024);

static int zero_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	struct zero_map *z = f->priv;
	uint64_t end;
	int fd, err;

	(void)off;
	if (__builtin_add_overflow(req->off, req->len, &end) || end > INT64_MAX)
		return -EOVERFLOW;
	if (!z) {
		z = obj_new(&zero_map_type);
		if (!z)
			return -ENOMEM;
		z->fd = -1;
		f->priv = z;
	}
	fd = host_memfd("zero", MFD_CLOEXEC);
	if (fd < 0)
		return fd;
	err = host_ftruncate(fd, (int64_t)end);
	if (err) {
		host_close(fd);
		return err == -EFBIG || err == -EINVAL ? -ENOMEM : err;
	}
	if (z->fd >= 0)
		host_close(z->fd);
	z->fd = fd;
	return fd;
}

static void zero_release(struct file *f)
{
	struct zero_map *z = f->priv;

	if (!z)
		return;
	if (z->fd >= 0)
		host_close(z->fd);
	obj_free(&zero_map_type, z);
	f->priv = NULL;
}

static const struct file_ops null_fops = {
	.read = null_read,
	.write = null_write,
	.seek = null_seek,
	.mmap = no_mmap,
};

static const struct file_ops zero_fops = {
	.read = zero_read,
	.write = null_write,
	.seek = null_seek,
	.mmap = zero_mmap,
	.release = zero_release,
};

static const struct file_ops full_fops = {
	.read = zero_read,
	.write = full_write,
	.seek = null_seek,
	.mmap = no_mmap,
};

static const struct file_ops random_fops = {
	.read = random_read,
	.write = null_write,
	.ioctl = random_ioctl,
	.seek = null_seek,
	.mmap = no_mmap,
};

static const struct {
	unsigned major, minor;
	const struct file_ops *ops;
} drivers[] = {
	{ 1, 3, &null_fops },	{ 1, 5, &zero_fops },	{ 1, 7, &full_fops },
	{ 1, 8, &random_fops }, { 1, 9, &random_fops },
};

int dev_open(struct inode *ino, struct task *t, struct file *f)
{
	unsigned maj = major(ino->rdev), min = minor(ino->rdev);
	struct tty *tty;

	if (!S_ISCHR(ino->mode))
		return -ENXIO;
	for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
		if (drivers[i].major != maj || drivers[i].minor != min)
			continue;
		f->ops = drivers[i].ops;
		f->priv = NULL;
		return 0;
	}
	if (maj == 5 && min == 0) {
		tty = t ? tty_of(t->proc) : NULL;
		return tty ? (*CHECKED(tty->open))(tty, f) : -ENXIO;
	}
	if (maj == 5 && min == 1)
		return console_open(f);
	if (maj == 5 && min == 2)
		return ptmx_open(t, f);
	return -ENXIO;
}
