/* See result.h. The bytes are in memory that is taken with the first of them; every open file shows
 * the same. Opening it with O_TRUNC empties it. Left out: changing its size otherwise. */
#include "kernel/fs/dev/result.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "kernel/platform/uio.h"
#include "kernel/vfs/file.h"
#include "wire/bootspec.h"

static char *bytes; /* a blob of CELL_RESULT_MAX */
static size_t len;

const char *result_bytes(size_t *ret_len)
{
	*ret_len = len;
	return bytes;
}

int result_may_open(struct pinode *pi, struct task *t, uint32_t flags)
{
	(void)pi, (void)t;
	if (flags & O_TRUNC)
		len = 0;
	return 0;
}

static int64_t result_read(struct file *f, struct uio *u, int64_t pos)
{
	(void)f;
	if (pos < 0)
		return -EINVAL;
	return (uint64_t)pos < len ? uio_put(u, bytes + pos, len - (size_t)pos) : 0;
}

static int64_t result_write(struct file *f, struct uio *u, int64_t pos)
{
	size_t at = f->flags & O_APPEND ? len : (size_t)pos;
	int64_t n;

	if (pos < 0)
		return -EINVAL;
	if (!u->left)
		return 0;
	if (at >= CELL_RESULT_MAX)
		return -EFBIG;
	if (!bytes)
		bytes = blob_new(CELL_RESULT_MAX);
	if (!bytes)
		return -ENOSPC;
	/* What nobody wrote reads as zeros, whatever was there before. */
	if (at > len)
		memset(bytes + len, 0, at - len);
	n = uio_take(u, bytes + at, MIN(u->left, (uint64_t)(CELL_RESULT_MAX - at)));
	if (n > 0)
		len = MAX(len, at + (size_t)n);
	return n;
}

static int64_t result_seek(struct file *f, int64_t off, int whence)
{
	int64_t base = whence == SEEK_CUR ? f->pos : whence == SEEK_END ? (int64_t)len : 0;

	if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END)
		return -EINVAL;
	if (__builtin_add_overflow(base, off, &off) || off < 0)
		return -EINVAL;
	return f->pos = off;
}

static int result_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	(void)f, (void)req, (void)off;
	return -ENODEV;
}

const struct file_ops result_fops = {
	.read = result_read,
	.write = result_write,
	.seek = result_seek,
	.mmap = result_mmap,
	.fsync = file_fsync_nothing,
};
