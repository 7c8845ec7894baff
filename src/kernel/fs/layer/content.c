/* The content of regular files in a layer.
 *
 * Until it is changed, a file of the image is read through the image's own descriptor. The first
 * change makes a file in the scratch directory, a private tmpfs of the host: what is asked to be
 * kept is cloned, else copied. An empty file has no scratch file yet. Scratch files are named by
 * number, opened for reading and for writing apart (a mapping made through the reading one can
 * never be made writable), and unlinked with the last reference to the inode.
 *
 * Quota: used_bytes is the sum of the blocks that the host says the scratch files have. A write is
 * cut to what surely fits before it is made, and the blocks are asked for after it only when the
 * file could have grown. A shared mapping may fill holes unseen; the next look at the file counts
 * them, and the scratch file system's own size bounds it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "host/host.h"
#include "kernel/fs/layer/node.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/uio.h"

#define COPY_STEP (1UL << 30)
/* A larger file is copied when it is opened for writing, so many bytes after each event of others. */
#define COPY_PIECE (8UL << 20)

static struct fdcache contents = FDCACHE_INIT(contents, 256);

void layer_content_init(void)
{
	contents.max = (uint32_t)MAX(256, MIN(8192, host_max_files() / 4));
}

static uint64_t scratch_last;

struct scratch_name {
	char str[24];
};

static struct scratch_name scratch_name(uint64_t number)
{
	struct scratch_name s;

	snprintf(s.str, sizeof(s.str), "%llx", (unsigned long long)number);
	return s;
}

/* The file with content of our own, made if it is not there yet. */
static int scratch_fd(struct lnode *n, bool write)
{
	struct fdref *ref = write ? &n->wr : &n->rd;
	int flags = (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW;
	int fd = fdcache_use(&contents, ref);

	if (fd >= 0)
		return fd;
	if (n->scratch == 0) {
		struct scratch_name s = scratch_name(++scratch_last);

		fd = host_openat(cell.scratch_fd, s.str, flags | O_CREAT | O_EXCL, 0600);
		if (fd >= 0)
			n->scratch = scratch_last;
	} else {
		struct scratch_name s = scratch_name(n->scratch);

		fd = host_openat(cell.scratch_fd, s.str, flags, 0);
	}
	if (fd < 0)
		return fd == -ENOENT ? -EIO : fd;
	fdcache_add(&contents, ref, fd);
	return fd;
}

static int lower_fd(struct lnode *n)
{
	struct image *img = layer_of(n)->lower;
	int fd = fdcache_use(&contents, &n->rd);

	if (fd >= 0)
		return fd;
	fd = img->ops->open(img, n->lower);
	if (fd < 0)
		return fd;
	if (n->inode.size != n->lower->size) {
		inode_touch(&n->inode);
		n->inode.size = n->lower->size;
		n->inode.blocks = n->lower->blocks;
		n->inode.mtime = n->lower->mtime;
	}
	fdcache_add(&contents, &n->rd, fd);
	return fd;
}

int layer_hostfd(struct inode *ino, bool write)
{
	struct lnode *n = lnode_of(ino);
	int r;

	if (!n->own_content) {
		if (!write)
			return lower_fd(n);
		r = layer_apply_copy_up(n, UINT64_MAX);
		if (r < 0)
			return r;
	}
	return scratch_fd(n, write);
}

/* Counts the blocks that the scratch file has now. Over the limit is counted too: it happened. */
static void lnode_recount(struct lnode *n)
{
	struct layer *l = layer_of(n);
	struct stat st;
	int fd;

	if (!n->own_content || n->scratch == 0)
		return;
	fd = fdcache_use(&contents, &n->wr);
	if (fd < 0)
		fd = scratch_fd(n, false);
	if (fd < 0 || host_fstat(fd, &st) < 0)
		return;
	inode_touch(&n->inode);
	n->inode.size = (uint64_t)st.st_size;
	n->inode.blocks = (uint64_t)st.st_blocks;
	layer_uncharge_bytes(l, n->charged);
	n->charged = (uint64_t)st.st_blocks * 512;
	l->used_bytes += n->charged;
}

void lnode_content_free(struct lnode *n)
{
	fdcache_drop(&contents, &n->rd);
	fdcache_drop(&contents, &n->wr);
	if (n->scratch) {
		struct scratch_name s = scratch_name(n->scratch);

		host_unlinkat(cell.scratch_fd, s.str, 0);
		n->scratch = 0;
	}
	layer_uncharge_bytes(layer_of(n), n->charged);
	n->charged = n->copied = 0;
}

/* The slow way, and the only one between two file systems that share nothing. */
static int copy_by_hand(int in, int out, uint64_t off, uint64_t end)
{
	static char buf[65536];

	while (off < end) {
		int64_t n = host_pread(in, buf, MIN(sizeof(buf), end - off), (int64_t)off);
		int64_t done = 0;

		if (n <= 0)
			return (int)n;
		while (done < n) {
			int64_t w = host_pwrite(out, buf + done, (size_t)(n - done),
						(int64_t)off + done);

			if (w <= 0)
				return w < 0 ? (int)w : -EIO;
			done += w;
		}
		off += (uint64_t)n;
	}
	return 0;
}

static int copy_content(int in, int out, uint64_t off, uint64_t size, bool whole)
{
	if (whole && off == 0 && host_reflink(out, in) == 0)
		return 0;
	while (off < size) {
		int64_t n = host_copy_range(in, (int64_t)off, out, (int64_t)off,
					    MIN(size - off, COPY_STEP));

		if (n <= 0)
			break;
		off += (uint64_t)n;
	}
	return copy_by_hand(in, out, off, size);
}

int layer_copy_up_piece(struct lnode *n)
{
	struct layer *l = layer_of(n);
	uint64_t end;
	struct stat st;
	int in, out, r;

	if (n->own_content || !l->lower)
		return 0;
	in = lower_fd(n);
	if (in < 0)
		return in;
	end = MIN(n->copied + COPY_PIECE, n->inode.size);
	if (end == n->inode.size) /* the rest is no more than a piece */
		return 0;
	r = layer_charge_bytes(l, n->inode.size - n->copied);
	if (r < 0)
		return r;
	layer_uncharge_bytes(l,
			     n->inode.size - n->copied); /* counted from the file itself, below */
	layer_pin(n);
	out = scratch_fd(n, true);
	r = out < 0 ? out : copy_content(in, out, n->copied, end, false);
	if (r == 0 && host_fstat(out, &st) < 0)
		r = -EIO;
	if (r < 0) {
		lnode_content_free(n);
		return r;
	}
	n->copied = end;
	layer_uncharge_bytes(l, n->charged);
	n->charged = (uint64_t)st.st_blocks * 512;
	l->used_bytes += n->charged;
	return -EINPROGRESS;
}

int layer_apply_copy_up(struct lnode *n, uint64_t keep)
{
	struct layer *l = layer_of(n);
	uint64_t whole, room;
	int in = -1, out, r = 0;

	if (keep > 0) {
		in = lower_fd(n);
		if (in < 0)
			return in;
	}
	whole = n->inode.size;
	keep = MIN(keep, whole);
	if (n->copied > keep)
		lnode_content_free(n);
	room = ALIGN_UP(keep, PAGE_SIZE) - ALIGN_DOWN(n->copied, PAGE_SIZE);
	r = layer_charge_bytes(l, room);
	if (r < 0)
		return r;
	layer_uncharge_bytes(l, room); /* counted from the file itself, below */
	layer_pin(n);
	if (keep > 0) {
		out = scratch_fd(n, true);
		r = out < 0 ? out : copy_content(in, out, n->copied, keep, keep == whole);
		if (r < 0) {
			lnode_content_free(n);
			return r;
		}
	}
	fdcache_drop(&contents, &n->rd);
	inode_touch(&n->inode);
	n->copied = 0;
	n->own_content = n->changed = true;
	n->inode.immutable = false;
	n->inode.size = keep;
	n->inode.blocks = 0;
	lnode_recount(n);
	return 0;
}

int layer_apply_size(struct lnode *n, uint64_t size)
{
	int fd, r;

	if (size > INT64_MAX)
		return -EFBIG;
	if (!n->own_content) {
		r = layer_apply_copy_up(n, size);
		if (r < 0)
			return r;
	}
	n->changed = true;
	if (size == n->inode.size)
		return 0;
	fd = scratch_fd(n, true);
	if (fd < 0)
		return fd;
	r = host_ftruncate(fd, (int64_t)size);
	if (r < 0)
		return r;
	inode_touch(&n->inode);
	n->inode.size = size;
	if (n->charged > 0)
		lnode_recount(n);
	return 0;
}

int layer_getattr(struct inode *ino)
{
	struct lnode *n = lnode_of(ino);

	if (inode_is_reg(ino) && n->mapped_shared)
		lnode_recount(n);
	else if (inode_is_dir(ino) && !layer_of(n)->lower)
		ino->size = 40 + 20 * (uint64_t)n->table.own;
	return 0;
}

/* ---- open files ---- */

static int64_t layer_read(struct file *f, struct uio *u, int64_t pos)
{
	struct lnode *n = lnode_of(f->inode);

	if (n->own_content && n->scratch == 0)
		return 0;
	return hostfile_fops.read(f, u, pos);
}

/* How many of len bytes at pos may be written; *ret_grows: blocks may be added. */
static uint64_t write_room(struct lnode *n, uint64_t pos, uint64_t len, bool *ret_grows)
{
	struct layer *l = layer_of(n);
	uint64_t have = ALIGN_UP(n->inode.size, PAGE_SIZE);
	uint64_t end = ALIGN_UP(pos + len, PAGE_SIZE);
	bool holes = n->charged < have;
	uint64_t from = holes ? ALIGN_DOWN(pos, PAGE_SIZE) : MAX(have, ALIGN_DOWN(pos, PAGE_SIZE));
	uint64_t room;

	*ret_grows = end > from;
	if (end <= from || !l->max_bytes)
		return len;
	room = l->used_bytes < l->max_bytes ? l->max_bytes - l->used_bytes : 0;
	room = ALIGN_DOWN(room, PAGE_SIZE);
	if (end - from <= room)
		return len;
	return from + room > pos ? from + room - pos : 0;
}

static int64_t layer_write(struct file *f, struct uio *u, int64_t pos)
{
	struct lnode *n = lnode_of(f->inode);
	uint64_t len = u->left, fit;
	bool grows;
	int64_t r;

	if (pos < 0)
		return -EINVAL;
	if (len == 0)
		return 0;
	if (len > (uint64_t)INT64_MAX - 2 * PAGE_SIZE - (uint64_t)pos ||
	    (uint64_t)pos > INT64_MAX - 2 * PAGE_SIZE)
		return -EFBIG;
	if (!n->own_content) {
		r = layer_apply_copy_up(n, UINT64_MAX);
		if (r < 0)
			return r;
	}
	fit = write_room(n, (uint64_t)pos, len, &grows);
	if (fit == 0)
		return -ENOSPC;
	u->left = MIN(fit, len);
	fit = len - u->left;
	r = hostfile_fops.write(f, u, pos);
	u->left += fit;
	if (r > 0) {
		n->changed = true;
		inode_touch(&n->inode);
		n->inode.size = MAX(n->inode.size, (uint64_t)(pos + r));
		lnode_times_now(n, true);
		if (grows)
			lnode_recount(n);
	}
	return r;
}

static int64_t layer_seek(struct file *f, int64_t off, int whence)
{
	return hostfile_fops.seek(f, off, whence);
}

/* A file opened for writing can have its shared mapping made writable at any time, so that is what
 * counts. */
static int layer_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	bool write = (req->flags & MAP_SHARED) && (f->mode & FMODE_WRITE);
	int fd;

	(void)off;
	fd = layer_hostfd(f->inode, write);
	if (fd >= 0 && write) {
		lnode_of(f->inode)->mapped_shared = f->inode->unsteady = true;
		inode_touch(f->inode);
	}
	return fd;
}

static int layer_fsync(struct file *f, bool data_only)
{
	(void)f;
	(void)data_only;
	return 0;
}

static int layer_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	struct lnode *n = lnode_of(f->inode);
	bool grows;
	int r;

	if (len == 0 || off > INT64_MAX || len > INT64_MAX - off)
		return len == 0 || off > INT64_MAX ? -EINVAL : -EFBIG;
	if (off + len > INT64_MAX - 2 * PAGE_SIZE)
		return -EFBIG;
	r = layer_hostfd(f->inode, true);
	if (r < 0)
		return r;
	/* Modes without FALLOC_FL_PUNCH_HOLE (2) allocate. */
	if (!(mode & 2) && write_room(n, off, len, &grows) < len)
		return -ENOSPC;
	r = hostfile_fops.fallocate(f, mode, off, len);
	lnode_recount(n);
	if (r == 0) {
		n->changed = true;
		lnode_times_now(n, true);
	}
	return r;
}

const struct file_ops layer_reg_fops = {
	.read = layer_read,
	.write = layer_write,
	.seek = layer_seek,
	.mmap = layer_mmap,
	.fsync = layer_fsync,
	.fallocate = layer_fallocate,
};
