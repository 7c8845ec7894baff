/* Contents of S3 files: a sparse file on the cell's scratch tmpfs for each that is in use, filled
 * in blocks by viv-s3 and uploaded whole.
 *
 * A reader gets what it asks for plus read-ahead, which doubles as long as it reads on where it
 * stopped. What can be fetched again is dropped when the cache is full, the file that was used
 * longest ago first. Who opens a file for writing, or maps it, has it fetched whole first, so that
 * a write never waits. An upload starts when the last writer closes the file, or at fsync; the file
 * can be written to meanwhile, and is then uploaded again. What is written through a mapping counts
 * when the descriptor is closed or synced. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/s3/s3node.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/uio.h"
#include "kernel/task/call.h"
#include "kernel/task/clock.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define BOUNCE_SIZE (256UL << 10)
#define WHOLE_BLOCKS 64u /* in one request, when all is wanted */

static char *bounce;

/* ---- the cache ---- */

static uint64_t blocks_of(uint64_t size)
{
	return (size + S3_BLOCK - 1) >> S3_BLOCK_SHIFT;
}

static bool block_is_valid(const struct s3node *n, uint64_t b)
{
	return n->whole || (b / 8 < n->valid_bytes && (n->valid[b / 8] >> (b % 8) & 1));
}

void s3_content_drop(struct s3node *n)
{
	struct s3fs *s = s3fs_of(n);

	if (n->valid)
		blob_free(n->valid, n->valid_bytes);
	n->valid = NULL;
	n->valid_bytes = 0;
	n->whole = false;
	n->ahead = 0;
	s->cached_bytes -= n->cached;
	n->cached = 0;
	if (n->fd < 0)
		return;
	host_close(n->fd); /* a mapping keeps the file it has */
	n->fd = -1;
	n->map_written = false;
	list_remove(&n->cache_link);
	s->ncached--;
}

/* A deleted file that somebody has open cannot be fetched any more. */
static bool is_refetchable(const struct s3node *n)
{
	return n->parent && !s3node_is_own(n) && !n->req_op && !n->map_written;
}

void s3_contents_drop(struct s3fs *s)
{
	struct s3node *n, *tmp;

	list_for_each_safe(n, tmp, &s->cached, cache_link)
		if (is_refetchable(n))
			s3_content_drop(n);
}

/* Makes room for bytes more; what is in use stays, so there may be none. */
static void cache_trim(struct s3fs *s, uint64_t bytes, const struct s3node *keep)
{
	struct s3node *n, *tmp;

	list_for_each_safe(n, tmp, &s->cached, cache_link) {
		if (s->cached_bytes + bytes <= S3_CACHE_MAX && s->ncached < S3_CACHE_FILES)
			return;
		if (n != keep && is_refetchable(n))
			s3_content_drop(n);
	}
}

/* The file that holds the content, of the right size. */
static int content_file(struct s3node *n)
{
	static uint64_t last;
	struct s3fs *s = s3fs_of(n);
	char name[32];
	int r;

	if (n->fd >= 0) {
		list_remove(&n->cache_link);
		list_append(&s->cached, &n->cache_link);
		return 0;
	}
	cache_trim(s, 0, n);
	snprintf(name, sizeof(name), "s3-%llu", (unsigned long long)++last);
	n->fd = host_openat(cell.scratch_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (n->fd < 0) {
		r = n->fd == -EMFILE ? -ENFILE : n->fd;
		n->fd = -1;
		return r;
	}
	host_unlinkat(cell.scratch_fd, name, 0);
	list_append(&s->cached, &n->cache_link);
	s->ncached++;
	r = host_ftruncate(n->fd, (int64_t)n->inode.size);
	if (r < 0)
		s3_content_drop(n);
	return r;
}

/* Fetches count blocks from b on, or fewer: up to the first that is there already. */
static int fetch_start(struct s3node *n, uint64_t b, uint64_t count)
{
	struct s3fs *s = s3fs_of(n);
	uint64_t all = blocks_of(n->inode.size), off = b << S3_BLOCK_SHIFT, len, have = 1;
	int r;

	if (!n->parent)
		return -ESTALE; /* deleted: what was not fetched is gone */
	if (s->cached_bytes + (count << S3_BLOCK_SHIFT) > S3_CACHE_MAX) {
		cache_trim(s, count << S3_BLOCK_SHIFT, n);
		/* A file that alone fills the cache starts anew, unless all of it is wanted. */
		if (n->cached + (count << S3_BLOCK_SHIFT) > S3_CACHE_MAX && !s3node_is_own(n) &&
		    count <= S3_AHEAD_MAX)
			s3_content_drop(n);
	}
	r = content_file(n);
	if (r < 0)
		return r;
	if (!n->valid) {
		n->valid_bytes = (uint32_t)(all / 8 + 1);
		n->valid = blob_new(n->valid_bytes);
		if (!n->valid) {
			n->valid_bytes = 0;
			return -ENOMEM;
		}
		memset(n->valid, 0, n->valid_bytes);
	}
	while (have < count && b + have < all && !block_is_valid(n, b + have))
		have++;
	len = MIN(have << S3_BLOCK_SHIFT, n->inode.size - off);
	r = s3_ask(n, S3_GET, off, len, 0, NULL, 0);
	if (r < 0)
		return r;
	n->get_block = b;
	n->get_count = have;
	n->cached += len;
	s->cached_bytes += len;
	return 0;
}

static void get_answer(struct s3node *n, const struct s3_reply *r)
{
	uint64_t size = n->inode.size, off = n->get_block << S3_BLOCK_SHIFT;
	uint64_t len = MIN(n->get_count << S3_BLOCK_SHIFT, size - MIN(off, size));

	if (r->err < 0 || !n->valid)
		return;
	if (!s3node_is_own(n) && (r->size != size || (r->etag && n->etag && r->etag != n->etag))) {
		/* Another object by now. One that changes all the time is never read to its end. */
		s3node_told(n, S3_FILE, r->size, r->mtime, r->etag);
		if (++n->others < S3_OTHERS_MAX)
			return;
		n->others = 0;
		n->err = -ESTALE;
		n->failed_at = now_mono();
		return;
	}
	n->others = 0;
	if (r->done < len) {
		n->err = -EIO;
		n->failed_at = now_mono();
		return;
	}
	for (uint64_t b = n->get_block; b < n->get_block + n->get_count; b++)
		if (b / 8 < n->valid_bytes)
			n->valid[b / 8] |= (uint8_t)(1u << (b % 8));
}

/* Until blocks first..last are there. want: how many may be fetched at once. */
static int blocks_get(struct s3node *n, uint64_t first, uint64_t last, uint64_t want)
{
	for (;;) {
		uint64_t b = first;
		int r;

		while (b <= last && block_is_valid(n, b))
			b++;
		if (b > last)
			return 0;
		if (!n->req_op) {
			r = s3_failed(n);
			if (r == 0)
				r = fetch_start(n, b, MAX(want, last - b + 1));
			if (r < 0)
				return r;
		}
		r = s3_wait(n);
		if (r < 0)
			return r;
	}
}

/* All of it, in a file. */
static int content_whole(struct s3node *n)
{
	uint64_t all = blocks_of(n->inode.size);
	int r = 0;

	if (!n->whole) {
		for (uint64_t b = 0; b < all && r == 0; b += WHOLE_BLOCKS)
			r = blocks_get(n, b, MIN(b + WHOLE_BLOCKS, all) - 1, WHOLE_BLOCKS);
		if (r < 0)
			return r;
		/* Told anew meanwhile: another size, nothing of it there. */
		if (blocks_of(n->inode.size) != all)
			return -ESTALE;
	}
	r = content_file(n);
	if (r == 0)
		n->whole = true;
	return r;
}

/* ---- uploads ---- */

int s3_upload_start(struct s3node *n)
{
	int r = content_file(n);

	if (r == 0)
		r = s3_ask(n, S3_PUT, 0, n->inode.size, 0, NULL, 0);
	if (r == 0)
		n->put_gen = n->gen;
	return r;
}

static void put_answer(struct s3node *n, const struct s3_reply *r)
{
	char key[S3_KEY_MAX + 1];
	size_t len;

	if (r->err < 0) {
		/* close() and fsync() tell who waits; when nobody does, the operator is told. */
		if (list_is_empty(&n->q.waiters) && s3node_key(n, key, S3_KEY_MAX, &len) == 0) {
			key[len] = '\0';
			log_warn("S3 did not take %s: %s", key, strerror(-r->err));
		}
		return;
	}
	n->local = false;
	n->etag = r->etag;
	n->put_at = n->seen_at = now_mono();
	if (n->gen == n->put_gen)
		n->dirty = false;
	else if (!n->inode.writers)
		(void)s3_upload_start(n);
}

void s3_content_answer(struct s3node *n, uint32_t op, const struct s3_reply *r)
{
	if (op == S3_GET)
		get_answer(n, r);
	else
		put_answer(n, r);
}

int s3_upload(struct s3node *n)
{
	for (;;) {
		int64_t since = task_current ? task_current->call.wait_since : 0;
		int r;

		if (!n->parent || !(n->dirty || n->map_written))
			return 0;
		if (since && n->put_at >= since)
			return 0; /* what came after the call began is of the next one */
		if (!n->req_op) {
			r = s3_failed(n);
			if (r == 0)
				r = s3_upload_start(n);
			if (r < 0)
				return r;
		}
		r = s3_wait(n);
		if (r < 0)
			return r;
	}
}

static void content_changed(struct s3node *n)
{
	n->dirty = true;
	n->tried = false;
	n->gen++;
}

/* ---- open files ---- */

int s3_open(struct inode *ino, struct task *t, struct file *f)
{
	struct s3node *n = s3node_of(ino);

	(void)t;
	f->ops = ino->fops;
	if (n->type != S3_FILE || !(f->mode & FMODE_WRITE) || (f->flags & O_TRUNC))
		return 0;
	return content_whole(n);
}

int s3_hostfd(struct inode *ino, bool write)
{
	struct s3node *n = s3node_of(ino);
	int r;

	(void)write;
	if (n->type != S3_FILE)
		return -ENODEV;
	r = content_whole(n);
	return r < 0 ? r : n->fd;
}

static int bounce_get(void)
{
	if (!bounce)
		bounce = blob_new(BOUNCE_SIZE);
	return bounce ? 0 : -ENOMEM;
}

/* The next piece is fetched while the reader is busy with this one. */
static void read_ahead(struct s3node *n, uint64_t pos, uint64_t end)
{
	uint64_t b = blocks_of(end);

	n->ahead = pos == n->next_pos && pos ? MIN(MAX(n->ahead, 1u) * 2, S3_AHEAD_MAX) : 1;
	n->next_pos = end;
	if (n->ahead > 1 && !n->req_op && b < blocks_of(n->inode.size) && !block_is_valid(n, b))
		(void)fetch_start(n, b, n->ahead);
}

static int64_t s3_read(struct file *f, struct uio *u, int64_t pos)
{
	struct s3node *n = s3node_of(f->inode);
	uint64_t size = n->inode.size, end;
	int64_t done = 0;
	int r = bounce_get();

	if (r < 0)
		return r;
	if ((uint64_t)pos >= size || u->left == 0)
		return 0;
	end = MIN((uint64_t)pos + MIN(u->left, 8 * S3_BLOCK), size);
	r = blocks_get(n, (uint64_t)pos >> S3_BLOCK_SHIFT, (end - 1) >> S3_BLOCK_SHIFT,
		       (uint64_t)pos == n->next_pos && pos ? MAX(n->ahead, 1u) : 1);
	if (r == 0)
		r = content_file(n);
	if (r < 0)
		return r;
	while (u->left && (uint64_t)(pos + done) < end) {
		size_t want = MIN(MIN(u->left, BOUNCE_SIZE), end - (uint64_t)(pos + done));
		int64_t got = host_pread(n->fd, bounce, want, pos + done), put;

		if (got <= 0)
			return done ? done : got;
		put = uio_put(u, bounce, (size_t)got);
		if (put < 0)
			return done ? done : put;
		done += put;
		if (put < got)
			break;
	}
	read_ahead(n, (uint64_t)pos, (uint64_t)(pos + done));
	return done;
}

static int64_t s3_write(struct file *f, struct uio *u, int64_t pos)
{
	struct s3node *n = s3node_of(f->inode);
	int64_t done = 0;
	int r = bounce_get();

	if (r == 0)
		r = content_whole(n);
	if (r < 0)
		return r;
	while (u->left) {
		size_t want = MIN(u->left, BOUNCE_SIZE);
		int64_t took = uio_take(u, bounce, want), put;

		if (took <= 0)
			return done ? done : took;
		put = host_pwrite(n->fd, bounce, (size_t)took, pos + done);
		if (put < took)
			uio_back(u, (size_t)(took - MAX(put, 0)));
		if (put < 0)
			return done ? done : put;
		done += put;
		content_changed(n);
		n->inode.blocks = (MAX(n->inode.size, (uint64_t)(pos + done)) + 511) / 512;
		if (put < took || (size_t)took < want)
			break;
	}
	return done;
}

static int s3_mmap(struct file *f, const struct mapping_req *req, uint64_t *off)
{
	struct s3node *n = s3node_of(f->inode);
	int r = content_whole(n);

	(void)off;
	if (r == 0 && (req->flags & MAP_TYPE) != MAP_PRIVATE && (f->mode & FMODE_WRITE)) {
		n->map_written = true;
		f->inode->unsteady = true;
	}
	return r < 0 ? r : n->fd;
}

static int s3_fsync(struct file *f, bool data_only)
{
	(void)data_only;
	return s3_upload(s3node_of(f->inode));
}

static int s3_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
	int r = hostfile_fops.fallocate(f, mode, off, len);

	if (r == 0)
		content_changed(s3node_of(f->inode));
	return r;
}

static bool is_last_writer(const struct file *f)
{
	return (f->mode & FMODE_WRITER) && f->inode->writers == 1;
}

static int s3_finish(struct file *f)
{
	return is_last_writer(f) ? s3_upload(s3node_of(f->inode)) : 0;
}

static void s3_release(struct file *f)
{
	struct s3node *n = s3node_of(f->inode);
	int r;

	/* After a close() that told of a failure there is no second try before the end of the
	 * cell. */
	if (!is_last_writer(f) || !n->parent || n->req_op || !(n->dirty || n->map_written) ||
	    s3_failed(n))
		return;
	r = n->put_at && !n->dirty && s3_is_fresh(n->put_at) ? 0 : s3_upload_start(n);
	if (r < 0)
		log_warn("S3: a file cannot be uploaded: %s", strerror(-r));
}

const struct file_ops s3_reg_fops = {
	.read = s3_read,
	.write = s3_write,
	.mmap = s3_mmap,
	.fsync = s3_fsync,
	.fallocate = s3_fallocate,
	.finish = s3_finish,
	.release = s3_release,
};

/* ---- attributes: the size alone is kept ---- */

int s3_setattr(struct inode *ino, const struct attr *a)
{
	struct s3node *n = s3node_of(ino);
	int r;

	if (ino->fs->readonly)
		return -EROFS;
	/* Modes, owners and times are as they are; to refuse them would stop cp, tar and the
	 * like. */
	if (!(a->valid & ATTR_SIZE))
		return 0;
	if (n->type != S3_FILE)
		return -EISDIR;
	if (a->size > INT64_MAX)
		return -EFBIG;
	if (a->size == 0 && !n->req_op) {
		/* Who has mapped it goes on with the same file. */
		r = content_file(n);
		n->whole = r == 0;
	} else {
		r = content_whole(n);
	}
	if (r == 0)
		r = host_ftruncate(n->fd, (int64_t)a->size);
	if (r < 0)
		return r;
	ino->size = a->size;
	ino->blocks = (a->size + 511) / 512;
	ino->mtime = ino->ctime = inode_now();
	inode_touch(ino);
	content_changed(n);
	/* truncate() by name: nobody will close it. */
	return ino->writers || n->req_op ? 0 : s3_upload_start(n);
}
