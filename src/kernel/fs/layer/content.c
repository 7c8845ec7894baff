/* The content of regular files in a layer.
 *
 * Until it is changed, a file of the image is read through the image's own descriptor. The first
 * change makes a file of our own, in the scratch directory (a private tmpfs of the host) or on the
 * disk: what is asked to be kept is cloned, else copied. An empty file has none yet. The files are
 * named by number, opened for reading and for writing apart (a mapping made through the reading one
 * can never be made writable), and unlinked with the last reference to the inode.
 *
 * On a disk, size, blocks and time of modification are the file's: they are in no log, and are
 * asked of the host when they are first wanted after a start (lnode_load).
 *
 * Quota: used_bytes is the sum of the blocks that the host says the scratch files have. A write is
 * cut to what surely fits before it is made, and the blocks are asked for after it only when the
 * file could have grown. What mappings do unseen is in quota.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/platform/cell.h"
#include "kernel/task/call.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define COPY_STEP (1UL << 30)
#define CUT_STEP (32UL << 20)

static struct fdcache contents = FDCACHE_INIT(contents, 256);

void layer_content_init(void)
{
	contents.max = (uint32_t)MAX(256, MIN(8192, host_max_files() / 4));
}

void layer_content_forget(void)
{
	while (!list_is_empty(&contents.lru))
		fdcache_drop(&contents, list_first(&contents.lru, struct fdref, lru));
}

bool lnode_content_is_writable(const struct lnode *n)
{
	const struct lstore *s = ((const struct layer *)n->inode.fs)->store;

	return n->own_content && (!s || !n->scratch || n->content.where == store_active(s));
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

static int scratch_make(struct lnode *n)
{
	struct scratch_name s = scratch_name(++scratch_last);
	int fd = host_openat(cell.scratch_fd, s.str, O_RDWR | O_NOFOLLOW | O_CREAT | O_EXCL, 0600);

	if (fd >= 0)
		n->scratch = scratch_last;
	return fd;
}

/* bytes: see content_unlink() in store.c. */
static void scratch_unlink(uint64_t number, uint64_t bytes)
{
	struct scratch_name s = scratch_name(number);
	int held = bytes >= FREE_LONG
			   ? host_openat(cell.scratch_fd, s.str, O_RDONLY | O_NOFOLLOW, 0)
			   : -1;

	host_unlinkat(cell.scratch_fd, s.str, 0);
	if (held >= 0)
		hostwork_close(held, false);
}

/* A new file on the disk, which is not the node's content yet. */
static int disk_create(struct lnode *n)
{
	struct layer *l = layer_of(n);
	int fd;

	if (!n->id)
		n->id = l->next_id++;
	fd = store_content_create(l->store, n->id);
	if ((fd == -ENOSPC || fd == -EDQUOT) && store_make_room(l))
		fd = store_content_create(l->store, n->id);
	return fd;
}

/* Takes fd (CONTENT_NONE in where: there is none, the content is empty). Tells the log that this is
 * the node's content now, and makes it so. On failure the file is gone, and the content is what it
 * was. */
static int disk_adopt(struct lnode *n, int fd, uint32_t before, uint64_t hint)
{
	struct layer *l = layer_of(n);
	struct lstore *s = l->store;
	bool logged = n->logged || n->home;
	uint32_t where = fd < 0 ? CONTENT_NONE : store_active(s);
	int r = log_begin(l);

	if (r == 0)
		r = layer_log_pin(n);
	if (r == 0 && logged)
		log_content(l, n, where, before == CONTENT_NONE, hint);
	if (r == 0)
		r = log_commit(l, false);
	if (r < 0) {
		log_abort(l);
		if (fd >= 0) {
			host_close(fd);
			store_content_unlink(s, store_active(s), n->id, hint);
		}
		return r;
	}
	layer_pin(n);
	fdcache_drop(&contents, &n->rd);
	fdcache_drop(&contents, &n->wr);
	n->scratch = fd < 0 ? 0 : n->id;
	n->content = (struct lcontent){ .where = fd < 0 ? 0 : where,
					.before = before,
					.hint = hint,
					.epoch = s->epoch,
					.logged = logged };
	list_init(&n->content.order);
	n->own_content = true;
	n->mtime_set = fd < 0;
	if (fd >= 0)
		fdcache_add(&contents, &n->wr, fd);
	n->unsynced += hint;
	if (fd >= 0 && before != CONTENT_NONE)
		store_order(l, n);
	return 0;
}

/* The file with content of our own, made if it is not there yet. */
static int own_fd(struct lnode *n, bool write)
{
	struct layer *l = layer_of(n);
	struct fdref *ref = write ? &n->wr : &n->rd;
	int fd = fdcache_use(&contents, ref);

	if (fd >= 0)
		return fd;
	if (n->scratch == 0 && l->store) {
		fd = disk_create(n);
		if (fd >= 0)
			fd = disk_adopt(n, fd, CONTENT_NONE, 0);
	} else if (n->scratch == 0) {
		fd = scratch_make(n);
		if (fd >= 0)
			fdcache_add(&contents, &n->wr, fd);
	}
	if (n->scratch == 0)
		return fd;
	fd = fdcache_use(&contents, ref);
	if (fd >= 0)
		return fd;
	if (l->store) {
		fd = store_content_open(l->store, n->content.where, n->scratch, write);
	} else {
		struct scratch_name s = scratch_name(n->scratch);

		fd = host_openat(cell.scratch_fd, s.str, (write ? O_RDWR : O_RDONLY) | O_NOFOLLOW,
				 0);
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
	fd = CHECKED(img->ops)->open(img, n->lower);
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

	if (n->unloaded) {
		r = lnode_load(n);
		if (r < 0)
			return r;
	}
	if (write && !lnode_content_is_writable(n)) {
		r = layer_apply_copy_up(n, UINT64_MAX);
		if (r < 0)
			return r;
	}
	return n->own_content ? own_fd(n, write) : lower_fd(n);
}

int layer_hash(struct inode *ino, uint8_t out[32])
{
	struct lnode *n = lnode_of(ino);
	struct image *img = layer_of(n)->lower;

	if (n->unloaded || n->own_content || !n->lower || !img || !img->ops->hash)
		return -ENODATA;
	return CHECKED(img->ops)->hash(img, n->lower, out);
}

static void content_uncharge(struct lnode *n)
{
	struct layer *l = layer_of(n);

	layer_uncharge_bytes(l, n->charged);
	if (l->store)
		l->store->content_bytes -= MIN(n->charged, l->store->content_bytes);
	n->charged = 0;
}

/* What the host says of the content file becomes the node's. */
static void lnode_take_stat(struct lnode *n, const struct stat *st)
{
	struct layer *l = layer_of(n);

	uint64_t bytes = (uint64_t)st->st_blocks * 512;

	inode_touch(&n->inode);
	n->inode.size = (uint64_t)st->st_size;
	n->inode.blocks = (uint64_t)st->st_blocks;
	if (!n->unloaded)
		content_uncharge(n);
	if (!n->unloaded || (n->uncounted && l->store->recovering)) {
		l->used_bytes += bytes;
		if (l->store)
			l->store->content_bytes += bytes;
	}
	n->charged = bytes;
	n->uncounted = false;
	if (!l->store)
		return;
	if (!n->mtime_set) {
		struct timespec changed = st->st_mtim;

		/* Written last, or given a time to come. */
		if (st->st_ctim.tv_sec < changed.tv_sec ||
		    (st->st_ctim.tv_sec == changed.tv_sec && st->st_ctim.tv_nsec < changed.tv_nsec))
			changed = st->st_ctim;
		if (n->wrote || n->inode.ctime.tv_sec < changed.tv_sec ||
		    (n->inode.ctime.tv_sec == changed.tv_sec &&
		     n->inode.ctime.tv_nsec < changed.tv_nsec))
			n->inode.ctime = changed;
		n->inode.mtime = st->st_mtim;
	}
	n->wrote = n->unloaded = false;
}

/* A copy that a power cut kept from the disk: what it was copied from counts again. Whether that is
 * to be loaded too. */
static bool content_revert(struct lnode *n)
{
	struct layer *l = layer_of(n);
	struct image_node *lower = n->lower;
	uint32_t before = n->content.before;
	static bool said;

	if (!said)
		log_warn("some files of the disk were not complete when the host lost power, and "
			 "are as "
			 "they were before their last change");
	said = true;
	inode_touch(&n->inode);
	fdcache_drop(&contents, &n->rd);
	fdcache_drop(&contents, &n->wr);
	if (n->content.where == store_active(l->store) && l->store->log.fd >= 0)
		store_content_unlink(l->store, n->content.where, n->scratch, 0);
	n->content.before = CONTENT_NONE;
	n->content.hint = 0;
	n->content.where = 0;
	if (before == CONTENT_NONE) {
		n->scratch = 0;
		n->inode.size = n->inode.blocks = 0;
	} else if (before == CONTENT_IMAGE) {
		n->scratch = 0;
		n->own_content = false;
		n->inode.size = lower->size;
		n->inode.blocks = lower->blocks;
		n->inode.mtime = lower->mtime;
	} else {
		n->content.where = before;
		return true;
	}
	n->unloaded = n->uncounted = n->wrote = false;
	return false;
}

int lnode_load(struct lnode *n)
{
	struct layer *l = layer_of(n);
	struct lcontent *c = &n->content;
	struct stat st;
	int fd, r;

	if (!n->unloaded && !n->wrote)
		return 0;
	if (!n->own_content || !n->scratch) {
		n->unloaded = n->wrote = false;
		return 0;
	}
	do {
		fd = fdcache_use(&contents, &n->wr);
		if (fd < 0)
			fd = fdcache_use(&contents, &n->rd);
		r = fd >= 0 ? host_fstat(fd, &st)
			    : store_content_stat(l->store, c->where, n->scratch, &st);
		if (!n->unloaded || (r != -ENOENT && (r < 0 || c->before == CONTENT_NONE ||
						      (uint64_t)st.st_size >= c->hint)))
			break;
		if (!content_revert(n))
			return 0;
	} while (true);
	if (r < 0)
		return r == -ENOENT ? -EIO : r;
	lnode_take_stat(n, &st);
	return 0;
}

void lnode_recount(struct lnode *n)
{
	struct stat st;
	int fd;

	if (!n->own_content || n->scratch == 0)
		return;
	fd = fdcache_use(&contents, &n->wr);
	if (fd < 0)
		fd = own_fd(n, false);
	if (fd < 0 || host_fstat(fd, &st) < 0)
		return;
	lnode_take_stat(n, &st);
}

void lnode_content_free(struct lnode *n)
{
	struct layer *l = layer_of(n);
	bool orphan = l->store && n->mapped && n->scratch && n->own_content &&
		      layer_counts_maps(l) && n->content.where == store_active(l->store);
	int fd = orphan ? own_fd(n, false) : -1;
	struct stat st;

	fd = fd >= 0 ? host_dup(fd) : -1;
	fdcache_drop(&contents, &n->rd);
	fdcache_drop(&contents, &n->wr);
	if (fd >= 0)
		layer_orphan_add(l, fd, host_fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512);
	if (l->store && n->copied && n->copied_in == store_active(l->store))
		store_content_unlink(l->store, n->copied_in, n->id, n->copied);
	if (n->scratch && l->store) {
		/* Its bytes were counted, but not by us. */
		if (n->unloaded && !(n->uncounted && l->store->recovering) &&
		    store_content_stat(l->store, n->content.where, n->scratch, &st) == 0)
			n->charged = (uint64_t)st.st_blocks * 512;
		store_content_drop(l, n);
	} else if (n->scratch) {
		scratch_unlink(n->scratch, n->charged);
	}
	n->scratch = 0;
	n->copied = 0;
	content_uncharge(n);
}

void lnode_content_close(struct lnode *n)
{
	fdcache_drop(&contents, &n->rd);
	fdcache_drop(&contents, &n->wr);
	if (!list_is_empty(&n->content.order)) {
		list_remove(&n->content.order);
		layer_of(n)->store->norder--;
	}
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

int copy_content(int in, int out, uint64_t off, uint64_t size, bool whole)
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

/* The file that a copy in pieces is made in: it is nobody's content yet. */
static int disk_piece_fd(struct lnode *n)
{
	struct lstore *s = layer_of(n)->store;

	/* What was copied lies in a layer that was sealed since. */
	if (n->copied && n->copied_in != store_active(s))
		n->copied = 0;
	n->copied_in = store_active(s);
	return n->copied ? store_content_open(s, n->copied_in, n->id, true) : disk_create(n);
}

/* What is to be copied. Borrowed, and only until other files are opened: making a file or room for
 * one on a disk may sync others, and the look for room opens them. So it is asked for right before
 * it is read. */
static int old_fd(struct lnode *n)
{
	return n->own_content ? own_fd(n, false) : lower_fd(n);
}

static int copy_up_piece(struct lnode *n, uint64_t end, uint64_t keep)
{
	struct layer *l = layer_of(n);
	struct stat st;
	int in, out, r;

	if (l->store) {
		out = disk_piece_fd(n);
		in = out < 0 ? out : old_fd(n);
		r = in < 0 ? in : content_copy_beside(n, in, out, keep);
		if (r == 0)
			r = copy_content(in, out, n->copied, end, false);
		if (out >= 0)
			host_close(out);
		return r;
	}
	layer_pin(n);
	in = lower_fd(n);
	out = in < 0 ? in : own_fd(n, true);
	r = out < 0 ? out : copy_content(in, out, n->copied, end, false);
	if (r == 0 && host_fstat(out, &st) < 0)
		r = -EIO;
	if (r == 0) {
		layer_uncharge_bytes(l, n->charged);
		n->charged = (uint64_t)st.st_blocks * 512;
		l->used_bytes += n->charged;
	}
	return r;
}

static void copy_up_forget(struct lnode *n)
{
	struct lstore *s = layer_of(n)->store;

	if (!s) {
		if (n->copied)
			lnode_content_free(n);
	} else if (n->copied && n->copied_in == store_active(s)) {
		store_content_unlink(s, n->copied_in, n->id, n->copied);
	}
	n->copied = 0;
	n->beside_failed = false;
}

int layer_copy_up_piece(struct lnode *n, uint64_t keep)
{
	struct layer *l = layer_of(n);
	uint64_t end;
	int in, r;

	if (lnode_content_is_writable(n))
		return 0;
	r = content_settle(n);
	if (r < 0)
		return r;
	in = old_fd(n);
	if (in < 0)
		return in;
	keep = MIN(keep, n->inode.size);
	end = MIN(n->copied + content_limits.piece, keep);
	if (end == keep) /* the rest is no more than a piece */
		return 0;
	r = layer_charge_bytes(l, keep - n->copied);
	if (r < 0)
		return r;
	layer_uncharge_bytes(l, keep - n->copied); /* counted from the file itself, below */
	r = copy_up_piece(n, end, keep);
	if (r == WAITING)
		return r;
	if (r < 0) {
		copy_up_forget(n);
		return r;
	}
	n->copied = end;
	return content_later();
}

static int disk_copy(struct lnode *n, int out, uint64_t keep, bool whole)
{
	int in = old_fd(n);

	return in < 0 ? in : copy_content(in, out, n->copied, keep, whole);
}

/* A copy on the disk. It has the time of what it is a copy of, as nothing was written yet. */
static int disk_copy_up(struct lnode *n, uint64_t keep, bool whole)
{
	struct layer *l = layer_of(n);
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, n->inode.mtime };
	uint32_t before = n->own_content ? n->content.where : CONTENT_IMAGE;
	int out = -1, r;

	if (keep > 0) {
		out = disk_piece_fd(n);
		if (out < 0)
			return out;
		r = disk_copy(n, out, keep, whole);
		if ((r == -ENOSPC || r == -EDQUOT) && store_make_room(l))
			r = disk_copy(n, out, keep, whole);
		if (r == 0)
			r = host_utimensat(out, NULL, ts, 0);
		n->copied = 0;
		if (r < 0) {
			host_close(out);
			store_content_unlink(l->store, store_active(l->store), n->id, keep);
			return r;
		}
	}
	r = disk_adopt(n, out, keep > 0 ? before : CONTENT_NONE, keep);
	if (r < 0)
		return r;
	/* What lies in a sealed layer is not counted any more. */
	content_uncharge(n);
	return 0;
}

static int scratch_copy_up(struct lnode *n, uint64_t keep, bool whole)
{
	int in, out, r;

	layer_pin(n);
	if (keep > 0) {
		in = lower_fd(n);
		out = in < 0 ? in : own_fd(n, true);
		r = out < 0 ? out : copy_content(in, out, n->copied, keep, whole);
		if (r < 0) {
			lnode_content_free(n);
			return r;
		}
	}
	fdcache_drop(&contents, &n->rd);
	n->own_content = true;
	return 0;
}

int layer_apply_copy_up(struct lnode *n, uint64_t keep)
{
	struct layer *l = layer_of(n);
	uint64_t whole, room;
	int in = -1, r = content_settle(n);

	if (r < 0)
		return r;
	if (keep > 0) {
		in = old_fd(n);
		if (in < 0)
			return in;
	}
	whole = n->inode.size;
	keep = MIN(keep, whole);
	if (n->copied > keep)
		copy_up_forget(n);
	room = ALIGN_UP(keep, PAGE_SIZE) - ALIGN_DOWN(n->copied, PAGE_SIZE);
	r = layer_charge_bytes(l, room);
	if (r < 0)
		return r;
	layer_uncharge_bytes(l, room); /* counted from the file itself, below */
	if (l->store)
		r = disk_copy_up(n, keep, keep == whole);
	else
		r = scratch_copy_up(n, keep, keep == whole);
	if (r < 0)
		return r;
	inode_touch(&n->inode);
	n->copied = 0;
	n->beside_failed = false;
	n->changed = true;
	n->inode.immutable = false;
	n->inode.size = keep;
	n->inode.blocks = 0;
	lnode_recount(n);
	return 0;
}

int content_own(struct lnode *n, uint64_t keep)
{
	int r = content_settle(n);

	if (r < 0 || lnode_content_is_writable(n))
		return r;
	r = content_may_wait() ? layer_copy_up_piece(n, keep) : 0;
	return r < 0 ? r : layer_apply_copy_up(n, keep);
}

int lnode_hint(struct lnode *n, uint64_t size)
{
	struct layer *l = layer_of(n);
	int r;

	if (!l->store || !n->scratch || size >= n->content.hint)
		return 0;
	r = log_begin(l);
	if (r == 0 && n->logged)
		log_content(l, n, n->content.where, n->content.before == CONTENT_NONE, size);
	if (r == 0)
		r = log_commit(l, true);
	if (r == 0)
		n->content.hint = size;
	return r;
}

int layer_apply_size(struct lnode *n, uint64_t size)
{
	struct layer *l = layer_of(n);
	bool more = false;
	int fd, r;

	if (size > INT64_MAX)
		return -EFBIG;
	if (l->store && l->fs.readonly)
		return -EROFS;
	r = content_own(n, size);
	if (r < 0)
		return r;
	if (!lnode_map_fits(n, size))
		return -ENOSPC;
	n->changed = true;
	/* With a disk the host is told even so: its file has the time. */
	if (size == n->inode.size && !(l->store && n->scratch))
		return 0;
	r = lnode_hint(n, size);
	if (r < 0)
		return r;
	fd = own_fd(n, true);
	if (fd < 0)
		return fd;
	if (!l->store && size + CUT_STEP < n->inode.size && n->charged > CUT_STEP &&
	    content_may_wait()) {
		/* From its end on, a piece in each turn. A posted call has no next run: it is made
		 * again. */
		if (task_current->call.way == WAY_POST)
			return content_later();
		size = n->inode.size - CUT_STEP;
		more = true;
	}
	r = content_cut_beside(n, fd, size);
	if (r == 0)
		r = host_ftruncate(fd, (int64_t)size);
	if (r < 0)
		return r;
	inode_touch(&n->inode);
	n->inode.size = size;
	if (n->charged > 0)
		lnode_recount(n);
	return more ? call_wait_turn(task_current) : 0;
}

int layer_getattr(struct inode *ino)
{
	struct lnode *n = lnode_of(ino);

	if (inode_is_reg(ino) && n->mapped_shared)
		lnode_recount(n);
	else if (n->unloaded || n->wrote)
		return lnode_load(n);
	else if (inode_is_dir(ino) && !layer_of(n)->lower)
		ino->size = 40 + 20 * (uint64_t)n->table.own;
	return 0;
}
