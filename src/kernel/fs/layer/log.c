/* The log of a layer, as it is written. store.h has the format.
 *
 * The records of one change are gathered in memory and written by one call at the end of the log,
 * before the change is made. A group that could not be written whole is cut off again. Each
 * checksum goes on from the one before, so that what an earlier, longer file left behind the end is
 * never taken for a record.
 *
 * Space is reserved ahead. RESERVE of it is only for changes that make room: a full disk can be
 * cleaned up. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>

#include "base/arena.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/task/clock.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"

#define RESERVE (64u << 10)
#define STEP_MIN (128u << 10)
#define STEP_MAX (4u << 20)

static int64_t layer_now(const struct layer *l)
{
	return l->replay_time ? l->replay_time : now_real();
}

/* ---- gathering ---- */

static struct llog *gathering(struct layer *l)
{
	return l->store && l->store->log.group && !l->replay_time ? &l->store->log : NULL;
}

int log_begin(struct layer *l)
{
	static uint32_t groups;
	struct lstore *s = l->store;

	if (!s || l->replay_time)
		return 0;
	if (s->broken || s->readonly || s->log.fd < 0)
		return -EROFS;
	store_compact_if_worth(l);
	groups = groups == UINT32_MAX ? 1 : groups + 1;
	s->log.group = groups;
	s->log.len = 0;
	s->log.buf_crc = s->log.crc;
	s->log.overflow = false;
	return 0;
}

void log_abort(struct layer *l)
{
	if (l->store)
		l->store->log.group = 0;
}

static bool buf_room(struct llog *g, size_t n)
{
	size_t cap = g->cap ? g->cap : 4096;
	char *p;

	if (g->overflow)
		return false;
	while (cap < g->len + n)
		cap *= 2;
	if (cap == g->cap)
		return true;
	p = cap <= LOG_GROUP_MAX ? blob_resize(g->buf, g->cap, cap) : NULL;
	if (!p) {
		g->overflow = true;
		return false;
	}
	g->buf = p;
	g->cap = cap;
	return true;
}

/* A record that is being put together: up to max bytes of payload. */
struct rec {
	struct llog *g; /* NULL: nothing is written */
	size_t start;
};

static struct rec rec_begin(struct llog *g, enum record_type type, size_t max)
{
	struct rec r = { .g = g };

	if (!g || !buf_room(g, RECORD_OVERHEAD + max)) {
		r.g = NULL;
		return r;
	}
	r.start = g->len;
	g->buf[r.start + 8] = (char)type;
	g->len += RECORD_OVERHEAD;
	return r;
}

static void rec_put(struct rec *r, const void *p, size_t n)
{
	if (!r->g || !n)
		return;
	memcpy(r->g->buf + r->g->len, p, n);
	r->g->len += n;
}

static void rec_u8(struct rec *r, uint8_t v)
{
	rec_put(r, &v, sizeof(v));
}

static void rec_u16(struct rec *r, uint16_t v)
{
	rec_put(r, &v, sizeof(v));
}

static void rec_u32(struct rec *r, uint32_t v)
{
	rec_put(r, &v, sizeof(v));
}

static void rec_u64(struct rec *r, uint64_t v)
{
	rec_put(r, &v, sizeof(v));
}

static void rec_name(struct rec *r, const char *name, size_t len)
{
	rec_u8(r, (uint8_t)len);
	rec_put(r, name, len);
}

static void rec_time(struct rec *r, const struct timespec *ts)
{
	rec_u64(r, (uint64_t)ts->tv_sec);
	rec_u32(r, (uint32_t)ts->tv_nsec);
}

static void rec_end(struct rec *r)
{
	struct llog *g = r->g;
	uint32_t len;

	if (!g)
		return;
	len = (uint32_t)(g->len - r->start - 8);
	memcpy(g->buf + r->start, &len, 4);
	g->buf_crc = crc32c(g->buf_crc, &len, 4);
	g->buf_crc = crc32c(g->buf_crc, g->buf + r->start + 8, len);
	memcpy(g->buf + r->start + 4, &g->buf_crc, 4);
}

/* ---- records ---- */

static void lnode_number(struct layer *l, struct lnode *n)
{
	if (!n->id)
		n->id = l->next_id++;
}

/* What is told of a node of the image, in case that the image has it no more. */
static void rec_image_node(struct rec *r, const struct lnode *n)
{
	rec_u32(r, n->inode.mode | (n->several ? PIN_SEVERAL : 0) |
			   (n->held && !n->names ? PIN_NAMELESS : 0));
	rec_u32(r, n->inode.uid);
	rec_u32(r, n->inode.gid);
}

void log_pin(struct layer *l, struct lnode *parent, struct lentry *e, struct lnode *n)
{
	struct rec r = rec_begin(gathering(l), REC_PIN, 28 + 1 + NAME_MAX_LEN);

	if (!r.g)
		return;
	lnode_number(l, n);
	rec_u64(&r, parent->id);
	rec_u64(&r, n->id);
	rec_image_node(&r, n);
	rec_name(&r, e->str, e->len);
	rec_end(&r);
}

void log_origin(struct layer *l, const struct lnode *n)
{
	struct rec r = rec_begin(gathering(l), REC_ORIGIN, 22 + n->origin_len);

	rec_u64(&r, n->id);
	rec_image_node(&r, n);
	rec_u16(&r, (uint16_t)n->origin_len);
	rec_put(&r, n->origin, n->origin_len);
	rec_end(&r);
}

void log_new(struct layer *l, struct lnode *n)
{
	size_t text = n->target && !n->lower ? n->target_len : 0;
	struct rec r = rec_begin(gathering(l), REC_NEW, 38 + text);

	if (!r.g)
		return;
	lnode_number(l, n);
	rec_u64(&r, n->id);
	rec_u32(&r, n->inode.mode);
	rec_u32(&r, n->inode.uid);
	rec_u32(&r, n->inode.gid);
	rec_u64(&r, n->inode.rdev);
	rec_u64(&r, (uint64_t)(n->inode.btime.tv_sec * NSEC_PER_SEC + n->inode.btime.tv_nsec));
	rec_u16(&r, (uint16_t)text);
	rec_put(&r, n->target, text);
	rec_end(&r);
}

void log_link(struct layer *l, struct lnode *dir, const char *name, size_t len, struct lnode *n)
{
	struct rec r = rec_begin(gathering(l), REC_LINK, 25 + len);

	rec_u64(&r, dir->id);
	rec_u64(&r, n->id);
	rec_u64(&r, (uint64_t)layer_now(l));
	rec_name(&r, name, len);
	rec_end(&r);
}

void log_unlink(struct layer *l, struct lnode *dir, const char *name, size_t len)
{
	struct rec r = rec_begin(gathering(l), REC_UNLINK, 17 + len);

	rec_u64(&r, dir->id);
	rec_u64(&r, (uint64_t)layer_now(l));
	rec_name(&r, name, len);
	rec_end(&r);
}

void log_rename(struct layer *l, struct lnode *odir, const struct lentry *eo, struct lnode *ndir,
		const char *name, size_t len, bool exchange)
{
	struct rec r = rec_begin(gathering(l), REC_RENAME, 27 + (size_t)eo->len + len);

	rec_u64(&r, odir->id);
	rec_u64(&r, ndir->id);
	rec_u8(&r, exchange ? RENAME_EXCHANGE_ : 0);
	rec_u64(&r, (uint64_t)layer_now(l));
	rec_name(&r, eo->str, eo->len);
	rec_name(&r, name, len);
	rec_end(&r);
}

void log_attr(struct layer *l, const struct lnode *n, const struct attr *a)
{
	struct rec r = rec_begin(gathering(l), REC_ATTR, 61);
	struct inode i = n->inode;
	/* The content's own mtime counts while it can be set there. Linking one for a merge changes
	 * its other times. */
	bool set = n->mtime_set || (!n->unloaded && (!lnode_content_is_writable(n) ||
						     (l->store && l->store->merging)));

	if (a) {
		inode_set_attr(&i, a);
		set |= (a->valid & ATTR_MTIME) && !lnode_content_is_writable(n);
	}
	rec_u64(&r, n->id);
	rec_u32(&r, i.nlink);
	rec_u32(&r, i.mode);
	rec_u32(&r, i.uid);
	rec_u32(&r, i.gid);
	rec_u8(&r, (uint8_t)((set ? ATTR_MTIME_SET : 0) |
			     (a || n->changed || !n->lower ? 0 : ATTR_UNCHANGED)));
	rec_time(&r, &i.atime);
	rec_time(&r, &i.mtime);
	rec_time(&r, &i.ctime);
	rec_end(&r);
}

void log_content(struct layer *l, const struct lnode *n, uint32_t where, bool fresh, uint64_t hint)
{
	struct rec r = rec_begin(gathering(l), REC_CONTENT, 21);
	bool empty = where == CONTENT_NONE;

	rec_u64(&r, n->id);
	rec_u32(&r, empty ? 0 : store_active(l->store) - where);
	rec_u8(&r, (uint8_t)((fresh ? CONTENT_FRESH : 0) | (empty ? CONTENT_EMPTY : 0)));
	rec_u64(&r, hint);
	rec_end(&r);
}

void log_xattr(struct layer *l, const struct lnode *n, const char *name, size_t name_len,
	       const void *value, size_t size)
{
	struct rec r = rec_begin(gathering(l), REC_XATTR, 14 + name_len + size);

	rec_u64(&r, n->id);
	rec_name(&r, name, name_len);
	rec_u8(&r, value != NULL);
	rec_u32(&r, (uint32_t)size);
	rec_put(&r, value, value ? size : 0);
	rec_end(&r);
}

void log_clean(struct layer *l)
{
	struct rec r = rec_begin(gathering(l), REC_CLEAN, 16);

	rec_u64(&r, l->next_id);
	rec_u64(&r, l->store->content_bytes);
	rec_end(&r);
}

void log_next(struct layer *l)
{
	struct rec r = rec_begin(gathering(l), REC_NEXT, 8);

	rec_u64(&r, l->next_id);
	rec_end(&r);
}

struct xattr_arg {
	struct layer *l;
	struct lnode *n;
};

static void whole_xattr(void *arg, const char *name, size_t name_len, const char *value,
			size_t size)
{
	struct xattr_arg *x = arg;

	log_xattr(x->l, x->n, name, name_len, value, size);
}

void log_whole(struct layer *l, struct lnode *n)
{
	struct xattr_arg x = { l, n };

	if (!gathering(l))
		return;
	log_new(l, n);
	if (n->inode.nlink == 0 || n->changed)
		log_attr(l, n, NULL);
	if (n->scratch)
		log_content(l, n, n->content.where, n->content.before == CONTENT_NONE,
			    n->content.hint);
	lnode_xattrs(n, whole_xattr, &x);
}

/* ---- writing ---- */

static int reserve_up_to(struct llog *g, uint64_t end)
{
	int r;

	end = ALIGN_UP(end, PAGE_SIZE);
	if (end <= g->reserved)
		return 0;
	r = host_fallocate(g->fd, FALLOC_FL_KEEP_SIZE, (int64_t)g->reserved,
			   (int64_t)(end - g->reserved));
	if (r == 0)
		g->reserved = end;
	return r;
}

int log_reserve(struct llog *g, uint64_t need, bool frees)
{
	uint64_t want = g->end + need + (frees ? 0 : RESERVE);
	uint64_t step = MIN(MAX(g->end / 4, STEP_MIN), STEP_MAX);
	int r;

	if (g->no_reserve || want <= g->reserved)
		return 0;
	r = reserve_up_to(g, MAX(g->reserved + step, want));
	if (r == -EOPNOTSUPP || r == -ENOSYS) {
		g->no_reserve = true;
		return 0;
	}
	/* What an earlier kernel reserved is still there, behind the end of the file: that much can
	 * be had of a full disk. */
	if (r < 0)
		r = reserve_up_to(g, want);
	if (r < 0 && frees && g->end + need <= g->reserved)
		r = 0;
	return r;
}

static int write_all(int fd, const char *p, size_t n, uint64_t off)
{
	while (n > 0) {
		int64_t w = host_pwrite(fd, p, n, (int64_t)off);

		if (w <= 0)
			return w < 0 ? (int)w : -EIO;
		p += w;
		n -= (size_t)w;
		off += (uint64_t)w;
	}
	return 0;
}

int log_commit(struct layer *l, bool frees)
{
	struct llog *g = gathering(l);
	int r;

	if (!g)
		return 0;
	g->group = 0;
	if (g->overflow)
		return -EIO;
	if (g->len == 0)
		return 0;
	r = log_reserve(g, g->len, frees);
	if ((r == -ENOSPC || r == -EDQUOT) && store_make_room(l))
		r = log_reserve(g, g->len, frees);
	if (r < 0)
		return r;
	r = write_all(g->fd, g->buf, g->len, g->end);
	if (r < 0) {
		int cut = host_ftruncate(g->fd, (int64_t)g->end);

		if (cut < 0)
			store_break(l, "half a record could not be taken back", cut);
		g->reserved = g->end;
		return r;
	}
	g->end += g->len;
	g->crc = g->buf_crc;
	l->store->clean = false;
	return 0;
}

int log_flush(struct layer *l, size_t over)
{
	struct llog *g = &l->store->log;
	int r;

	if (g->overflow)
		return -EIO;
	if (g->len <= over)
		return 0;
	r = log_reserve(g, g->len, false);
	if (r == 0)
		r = write_all(g->fd, g->buf, g->len, g->end);
	if (r < 0)
		return r;
	g->end += g->len;
	g->crc = g->buf_crc;
	g->len = 0;
	return 0;
}

/* ---- a new one ---- */

uint32_t log_header_make(struct log_header *h, const struct lstore *s, uint32_t layer,
			 uint64_t next_id, uint32_t flags)
{
	*h = (struct log_header){ .magic = LOG_MAGIC,
				  .version = LOG_VERSION,
				  .layer = layer,
				  .next_id = next_id,
				  .flags = flags };
	memcpy(h->disk_id, s->disk_id, sizeof(h->disk_id));
	h->crc = crc32c(0, h, offsetof(struct log_header, crc));
	return h->crc;
}

int log_start(struct layer *l, int fd, uint32_t number, uint32_t flags, struct llog *ret)
{
	struct log_header h;
	int r;

	*ret = (struct llog){ .fd = fd, .end = sizeof(h) };
	ret->crc = log_header_make(&h, l->store, number, l->next_id, flags);
	r = log_reserve(ret, 0, false);
	return r < 0 ? r : write_all(fd, (const char *)&h, sizeof(h), 0);
}

/* Replaces the log that records go to by a new one beside it; *old gets it back if that fails. */
int log_create_begin(struct layer *l, uint32_t index, uint32_t flags, struct llog *old)
{
	struct lstore *s = l->store;
	struct llog g;
	int dir = store_layer_fd(s, index), r;

	if (dir < 0)
		return dir;
	(void)host_unlinkat(dir, "log.new", 0);
	r = host_openat(dir, "log.new", O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
	if (r < 0)
		return r;
	r = log_start(l, r, s->chain[index].number, flags, &g);
	if (r < 0) {
		host_close(g.fd);
		(void)host_unlinkat(dir, "log.new", 0);
		return r;
	}
	*old = s->log;
	g.buf = old->buf;
	g.cap = old->cap;
	s->log = g;
	return 0;
}

/* r: what became of the records. Synced, then renamed into place: 0 or -errno, with the old one
 * back in its place. That of a layer which is not born yet is only renamed: there is no other that
 * it could spoil. */
int log_create_end(struct layer *l, uint32_t index, struct llog *old, int r)
{
	struct lstore *s = l->store;
	int dir = store_layer_fd(s, index);

	if (r == 0 && dir < 0)
		r = dir;
	if (r == 0 && !s->unborn)
		r = host_fsync(s->log.fd, true);
	if (r == 0)
		r = host_renameat2(dir, "log.new", dir, "log", 0);
	if (r < 0) {
		host_close(s->log.fd);
		if (dir >= 0)
			(void)host_unlinkat(dir, "log.new", 0);
		old->buf = s->log.buf;
		old->cap = s->log.cap;
		s->log = *old;
		s->log.group = 0;
		return r;
	}
	if (old->fd >= 0)
		host_close(old->fd);
	if (s->unborn)
		return 0;
	s->log.synced = s->log.end;
	/* Until its name is on the disk, nothing that is written to it can be promised. */
	r = host_fsync(dir, false);
	if (r < 0)
		store_break(l, "the host could not write the name of the log", r);
	return 0;
}
