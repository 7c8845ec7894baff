/* Reading a log: the tree as it was.
 *
 * A log was written by a kernel, and a kernel may have been broken into: every length, number and
 * name is checked, nothing recurses, and memory is that of the tree at its largest. The first
 * record that is incomplete or whose checksum is wrong ends the log: that is how a write looks that
 * was cut short. A record that is whole and does not fit the tree is an error.
 *
 * Nodes of the image are found again by name. What the image has no more becomes an empty
 * directory, or is dropped at the end, in the log as well, so that later records apply. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/crc32c.h"
#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/layer/record.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"

#define LINK_TEXT_MAX 4095
#define EXPECT_MAX (64u << 20)

/* ---- applying ---- */

struct replay {
	struct layer *l;
	uint32_t index; /* of the layer in the chain */
	struct cursor c;
	uint32_t *missing;
};

static struct lnode *take_node(struct replay *rp)
{
	struct lnode *n = ids_find(&rp->l->store->ids, take_u64(&rp->c));

	if (!n)
		rp->c.bad = true;
	return n;
}

/* Records of one directory often follow each other. */
static struct lnode *take_dir(struct replay *rp)
{
	struct lstore *s = rp->l->store;
	uint64_t id = take_u64(&rp->c);
	struct lnode *n = s->ids_dir;

	if (n && n->id == id)
		return n;
	n = ids_find(&s->ids, id);
	if (!n || !inode_is_dir(&n->inode)) {
		rp->c.bad = true;
		return NULL;
	}
	s->ids_dir = n;
	return n;
}

/* Of a new node. */
static uint64_t take_id(struct replay *rp)
{
	uint64_t id = take_u64(&rp->c);

	/* Most are higher than all before them. */
	if (id < 2 || id >= IMAGE_INO_END ||
	    (id < rp->l->next_id && ids_find(&rp->l->store->ids, id)))
		rp->c.bad = true;
	return id;
}

static void take_when(struct replay *rp)
{
	int64_t t = (int64_t)take_u64(&rp->c);

	rp->l->replay_time = t ? t : 1;
}

/* Is n dir itself or above it? A directory that nobody has linked yet ends the way up as the root
 * does. One that is empty is above nothing: new ones are linked so, and the way up is not gone for
 * each level of a deep tree. */
static bool is_inside(const struct lnode *dir, const struct lnode *n)
{
	if (n->table.own == 0)
		return dir == n;
	for (; dir; dir = dir->at ? dir->up : NULL)
		if (dir == n)
			return true;
	return false;
}

static int node_register(struct replay *rp, struct lnode *n, uint64_t id)
{
	struct layer *l = rp->l;

	n->id = id;
	l->next_id = MAX(l->next_id, id + 1);
	if (!n->lower)
		n->inode.ino = l->ino_base + id;
	return ids_add(&l->store->ids, n);
}

static bool mode_is_known(uint32_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISCHR(mode) || S_ISBLK(mode) ||
	       S_ISFIFO(mode) || S_ISSOCK(mode);
}

/* What a record tells of a node of the image. */
struct image_part {
	uint64_t id;
	uint32_t mode, uid, gid;
	bool several, nameless;
};

static struct image_part take_image_part(struct replay *rp)
{
	struct image_part p = { .id = take_id(rp), .mode = take_u32(&rp->c) };

	p.uid = take_u32(&rp->c);
	p.gid = take_u32(&rp->c);
	p.several = p.mode & PIN_SEVERAL;
	p.nameless = p.mode & PIN_NAMELESS;
	p.mode &= ~(PIN_SEVERAL | PIN_NAMELESS);
	if (!mode_is_known(p.mode) || (p.several && S_ISDIR(p.mode)) || (p.nameless && !p.several))
		rp->c.bad = true;
	return p;
}

/* A node that stands for what the image had. lower is taken; NULL: it is not there any more. */
static int node_of_image(struct replay *rp, struct image_node *lower, const struct image_part *p,
			 struct lnode **ret_)
{
	struct layer *l = rp->l;
	uint64_t next_id = l->next_id;
	struct lnode *n;

	if (lower && ((lower->mode ^ p->mode) & S_IFMT)) {
		CHECKED(l->lower->ops)->drop(l->lower, lower);
		lower = NULL;
	}
	n = lower ? lnode_new_mirror(l, lower) : lnode_new(l, p->mode);
	l->next_id = next_id;
	if (!n) {
		if (lower)
			CHECKED(l->lower->ops)->drop(l->lower, lower);
		return -ENOMEM;
	}
	if (!lower) {
		n->inode.uid = p->uid;
		n->inode.gid = p->gid;
		/* On a disk that cannot be written it stays, empty. */
		n->missing = !S_ISDIR(p->mode) && !l->store->readonly;
		n->own_content = !n->missing;
		++*rp->missing;
	}
	*ret_ = n;
	if (p->several) {
		n->held = true;
		inode_get(&n->inode);
		if (links_add(n) < 0)
			return -ENOMEM;
	}
	return node_register(rp, n, p->id);
}

static int image_lookup(struct layer *l, struct image_node *dir, const char *name, size_t len,
			struct image_node **ret_)
{
	int r = dir && l->lower ? CHECKED(l->lower->ops)->lookup(l->lower, dir, name, len, ret_)
				: -ENOENT;

	return r == -ENOMEM || r == -EIO ? r : r < 0 ? -ENOENT : 0;
}

static int apply_pin(struct replay *rp)
{
	struct layer *l = rp->l;
	struct lnode *parent = take_dir(rp), *n;
	struct image_part p = take_image_part(rp);
	struct name_ref name = take_name(&rp->c);
	struct image_node *lower = NULL;
	struct lentry *e;
	int r;

	if (rp->c.bad || ltable_find(&parent->table, name.str, name.len))
		return -EINVAL;
	r = image_lookup(l, parent->lower, name.str, name.len, &lower);
	if (r < 0 && r != -ENOENT)
		return r;
	r = node_of_image(rp, lower, &p, &n);
	if (r < 0)
		return r;
	e = ltable_add(&parent->table, name.str, name.len);
	if (!e)
		return -ENOMEM;
	/* As if it had been looked up and then pinned. */
	e->kind = ENTRY_MIRROR;
	e->below = true;
	e->node = n;
	n->home = e;
	n->parent = parent;
	inode_get(&parent->inode);
	layer_pin(n);
	inode_put(&n->inode);
	return 0;
}

/* The node of the image at a path; -ENOENT. */
static int image_walk(struct layer *l, const char *path, size_t len, struct image_node **ret_)
{
	struct image_node *at = l->lower ? l->lower->root : NULL, *next;

	while (len > 0) {
		const char *slash = memchr(path, '/', len);
		size_t n = slash ? (size_t)(slash - path) : len;
		int r = n && n <= NAME_MAX_LEN ? image_lookup(l, at, path, n, &next) : -ENOENT;

		if (at && at != l->lower->root)
			CHECKED(l->lower->ops)->drop(l->lower, at);
		if (r < 0)
			return r;
		at = next;
		path += n + (slash != NULL);
		len -= n + (slash != NULL);
	}
	if (!at || at == l->lower->root)
		return -ENOENT;
	*ret_ = at;
	return 0;
}

static int apply_origin(struct replay *rp)
{
	struct image_part p = take_image_part(rp);
	size_t len = take_u16(&rp->c);
	const char *path = take(&rp->c, len);
	struct image_node *lower = NULL;
	struct lnode *n;
	int r;

	if (rp->c.bad || !len)
		return -EINVAL;
	r = image_walk(rp->l, path, len, &lower);
	if (r < 0 && r != -ENOENT)
		return r;
	r = node_of_image(rp, lower, &p, &n);
	if (r < 0)
		return r;
	n->moved = true;
	n->fresh = !p.nameless;
	if (p.nameless) {
		lnode_set_logged(n);
		inode_put(&n->inode); /* it is held */
	}
	n->origin = blob_strndup(path, len);
	n->origin_len = n->origin ? (uint32_t)len : 0;
	return n->origin ? 0 : -ENOMEM;
}

static int apply_new(struct replay *rp)
{
	static char text[LINK_TEXT_MAX + 1];
	struct layer *l = rp->l;
	uint64_t id = take_id(rp), next_id = l->next_id;
	struct newnode nn = { .mode = take_u32(&rp->c) };
	struct lnode *n;
	const char *p;
	size_t len;
	int r;

	nn.uid = take_u32(&rp->c);
	nn.gid = take_u32(&rp->c);
	nn.rdev = take_u64(&rp->c);
	take_when(rp);
	len = take_u16(&rp->c);
	p = take(&rp->c, len);
	if (rp->c.bad || !mode_is_known(nn.mode) || len > LINK_TEXT_MAX ||
	    (len > 0) != S_ISLNK(nn.mode) || (len && memchr(p, 0, len)))
		return -EINVAL;
	memcpy(text, p, len);
	text[len] = '\0';
	nn.target = len ? text : NULL;
	r = node_make(l, &nn, &n);
	l->next_id = next_id;
	if (r < 0)
		return r;
	lnode_times_now(n, true);
	n->inode.atime = n->inode.btime = n->inode.mtime;
	n->fresh = true;
	return node_register(rp, n, id);
}

static int apply_link(struct replay *rp)
{
	struct lnode *dir = take_dir(rp), *n = take_node(rp);
	struct name_ref name;
	struct lentry *e;
	bool first;

	take_when(rp);
	name = take_name(&rp->c);
	if (rp->c.bad || &n->inode == rp->l->fs.root || dir->inode.nlink == 0)
		return -EINVAL;
	first = n->fresh;
	if (inode_is_dir(&n->inode) && (!first || is_inside(dir, n)))
		return -EINVAL;
	e = ltable_find(&dir->table, name.str, name.len);
	if (e && e->kind != ENTRY_WHITEOUT)
		return -EINVAL;
	if (!e)
		e = ltable_add(&dir->table, name.str, name.len);
	if (!e)
		return -ENOMEM;
	tree_add(dir, e, n);
	if (first) {
		n->fresh = false;
		inode_put(&n->inode);
		return 0;
	}
	if (layer_charge_inode(rp->l) < 0)
		return -EINVAL;
	lnode_linked(n, true);
	return 0;
}

/* An entry for a name that only the image has: it leads to a node that has further names there, or
 * else is gone for the layer. NULL: the image does not have it. */
static int image_entry(struct layer *l, struct lnode *dir, struct name_ref name,
		       struct lentry **ret_)
{
	struct image_node *lower;
	struct lnode *n;
	int r = image_lookup(l, dir->lower, name.str, name.len, &lower);

	*ret_ = NULL;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	n = links_find(l, lower);
	if (S_ISDIR(lower->mode))
		dir_count_link(dir, -1);
	CHECKED(l->lower->ops)->drop(l->lower, lower);
	*ret_ = ltable_add(&dir->table, name.str, name.len);
	if (!*ret_)
		return -ENOMEM;
	(*ret_)->below = true;
	if (n)
		tree_settle(dir, *ret_, n);
	return 0;
}

static int apply_unlink(struct replay *rp)
{
	struct lnode *dir = take_dir(rp), *n;
	struct name_ref name;
	struct lentry *e;
	int r;

	take_when(rp);
	name = take_name(&rp->c);
	if (rp->c.bad)
		return -EINVAL;
	e = ltable_find(&dir->table, name.str, name.len);
	if (!e) {
		r = image_entry(rp->l, dir, name, &e);
		if (r < 0)
			return r;
		if (!e || e->kind == ENTRY_WHITEOUT) {
			lnode_times_now(dir, true);
			return 0;
		}
	}
	n = e->node;
	if (e->kind != ENTRY_OWN || (inode_is_dir(&n->inode) && n->table.own > 0))
		return -EINVAL;
	uncharge_link(n);
	tree_remove(dir, e);
	return 0;
}

/* The two names of a rename. What is to be moved is there. */
static int rename_entries(struct layer *l, struct lnode *od, struct name_ref on, struct lnode *nd,
			  struct name_ref nn, struct lentry **eo, struct lentry **en)
{
	int r = 0;

	*eo = ltable_find(&od->table, on.str, on.len);
	if (!*eo)
		r = image_entry(l, od, on, eo);
	if (r < 0)
		return r;
	if (!*eo || (*eo)->kind != ENTRY_OWN)
		return -EINVAL;
	*en = ltable_find(&nd->table, nn.str, nn.len);
	if (!*en)
		r = image_entry(l, nd, nn, en);
	if (r == 0 && !*en) {
		*en = ltable_add(&nd->table, nn.str, nn.len);
		r = *en ? 0 : -ENOMEM;
	}
	return r;
}

static int apply_rename(struct replay *rp)
{
	struct lnode *od = take_dir(rp), *nd = take_dir(rp), *n, *victim;
	bool exchange = take_u8(&rp->c) & RENAME_EXCHANGE_;
	struct name_ref on, nn;
	struct lentry *eo, *en;
	int r;

	take_when(rp);
	on = take_name(&rp->c);
	nn = take_name(&rp->c);
	if (rp->c.bad || nd->inode.nlink == 0)
		return -EINVAL;
	r = rename_entries(rp->l, od, on, nd, nn, &eo, &en);
	if (r < 0)
		return r;
	n = eo->node;
	victim = en->node;
	if (eo == en || victim == n || (exchange && !victim))
		return -EINVAL;
	if (inode_is_dir(&n->inode) && is_inside(nd, n))
		return -EINVAL;
	if (victim && inode_is_dir(&victim->inode) &&
	    (exchange ? is_inside(od, victim) : victim->table.own > 0 || !inode_is_dir(&n->inode)))
		return -EINVAL;
	if (victim && !exchange && inode_is_dir(&n->inode) && !inode_is_dir(&victim->inode))
		return -EINVAL;
	n->moved = true;
	if (exchange)
		victim->moved = true;
	else if (victim)
		uncharge_link(victim);
	tree_rename(od, eo, nd, en, exchange);
	return 0;
}

static int apply_attr(struct replay *rp)
{
	struct lnode *n = take_node(rp);
	uint32_t nlink = take_u32(&rp->c), mode = take_u32(&rp->c), uid = take_u32(&rp->c),
		 gid = take_u32(&rp->c);
	uint8_t flags = take_u8(&rp->c);
	struct timespec at = take_time(&rp->c), mt = take_time(&rp->c), ct = take_time(&rp->c);

	if (rp->c.bad)
		return -EINVAL;
	n->inode.mode = (n->inode.mode & S_IFMT) | (mode & 07777);
	n->inode.uid = uid;
	n->inode.gid = gid;
	n->inode.atime = at;
	n->inode.mtime = mt;
	n->inode.ctime = ct;
	if (nlink && !inode_is_dir(&n->inode))
		n->inode.nlink = nlink;
	n->mtime_set = flags & ATTR_MTIME_SET;
	n->changed |= !(flags & ATTR_UNCHANGED);
	if (n->inode.immutable && !(mode & 0004))
		n->inode.immutable = false;
	return 0;
}

static int apply_content(struct replay *rp)
{
	struct lnode *n = take_node(rp);
	uint32_t back = take_u32(&rp->c), where;
	uint8_t flags = take_u8(&rp->c);
	uint64_t hint = take_u64(&rp->c);
	struct lcontent *c;

	if (rp->c.bad || !inode_is_reg(&n->inode))
		return -EINVAL;
	/* The first one may stand for all that were below it when the log was written
	 * (layer_merge()). */
	where = rp->index - MIN(back, rp->index);
	c = &n->content;
	n->missing = false;
	n->changed = true;
	n->inode.immutable = false;
	n->mtime_set = flags & CONTENT_EMPTY;
	if (flags & CONTENT_EMPTY) {
		n->own_content = true;
		n->unloaded = n->uncounted = false;
		n->scratch = 0;
		n->inode.size = n->inode.blocks = 0;
		return 0;
	}
	if (!n->own_content || !n->scratch || c->where != where)
		c->before = flags & CONTENT_FRESH	   ? CONTENT_NONE
			    : n->own_content && n->scratch ? c->where
			    : n->own_content || !n->lower  ? CONTENT_NONE
							   : CONTENT_IMAGE;
	c->where = where;
	c->hint = hint;
	c->logged = c->synced = true;
	n->own_content = true;
	n->scratch = n->id;
	n->unloaded = n->uncounted = true;
	return 0;
}

static int apply_xattr(struct replay *rp)
{
	static char text[256];
	struct lnode *n = take_node(rp);
	size_t len = take_u8(&rp->c), size;
	const char *name = take(&rp->c, len), *value;
	bool there = take_u8(&rp->c);

	size = take_u32(&rp->c);
	value = take(&rp->c, there ? size : 0);
	if (rp->c.bad || (len ? memchr(name, 0, len) != NULL : there))
		return -EINVAL;
	if (!len) {
		lnode_clear_xattrs(n);
		return 0;
	}
	memcpy(text, name, len);
	text[len] = '\0';
	return lnode_set_xattr(n, text, there ? value : NULL, there ? size : 0);
}

static int apply_clean(struct replay *rp)
{
	struct layer *l = rp->l;
	uint64_t next_id = take_u64(&rp->c), bytes = take_u64(&rp->c);

	if (rp->c.bad || next_id >= IMAGE_INO_END)
		return -EINVAL;
	l->next_id = MAX(l->next_id, next_id);
	l->store->clean = true;
	l->store->clean_bytes = bytes;
	return 0;
}

static int apply_next(struct replay *rp)
{
	uint64_t next_id = take_u64(&rp->c);

	if (rp->c.bad || next_id >= IMAGE_INO_END)
		return -EINVAL;
	rp->l->next_id = MAX(rp->l->next_id, next_id);
	return 0;
}

static int (*const apply[REC_TYPES])(struct replay *) = {
	[REC_PIN] = apply_pin,	   [REC_ORIGIN] = apply_origin,	  [REC_NEW] = apply_new,
	[REC_LINK] = apply_link,   [REC_UNLINK] = apply_unlink,	  [REC_RENAME] = apply_rename,
	[REC_ATTR] = apply_attr,   [REC_CONTENT] = apply_content, [REC_XATTR] = apply_xattr,
	[REC_CLEAN] = apply_clean, [REC_NEXT] = apply_next,
};

static int record_apply(struct replay *rp)
{
	uint8_t type = take_u8(&rp->c);
	int r;

	rp->l->store->clean = false;
	r = type < REC_TYPES && apply[type] ? apply[type](rp) : -EINVAL;
	/* Everything in it was understood. */
	return r == 0 && rp->c.left ? -EINVAL : r;
}

/* ---- a whole log ---- */

static int header_read(int fd, uint32_t number, struct log_header *h)
{
	static const struct log_header none;
	int64_t n = host_pread(fd, h, sizeof(*h), 0);

	if (n < 0)
		return (int)n;
	/* A power cut leaves a name and nothing behind it, or zeros. */
	if (n < (int64_t)sizeof(*h) || !memcmp(h, &none, sizeof(none)))
		return -ENODATA;
	if (h->magic != LOG_MAGIC || h->version != LOG_VERSION || h->layer != number ||
	    h->crc != crc32c(0, h, offsetof(struct log_header, crc)) || h->next_id >= IMAGE_INO_END)
		return -EINVAL;
	return 0;
}

int store_log_open(struct lstore *s, uint32_t index, bool write)
{
	int dir = store_layer_fd(s, index);

	return dir < 0 ? dir
		       : host_open_beneath(dir, "log",
					   (write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_NOCTTY, 0);
}

int store_log_head(struct lstore *s, uint32_t index, struct log_header *h)
{
	int fd = store_log_open(s, index, false), r;

	if (fd < 0)
		return fd;
	r = header_read(fd, s->chain[index].number, h);
	host_close(fd);
	return r;
}

int store_replay(struct layer *l, uint32_t index, char *why, size_t why_size)
{
	struct lstore *s = l->store;
	struct replay rp = { .l = l, .index = index, .missing = &s->missing };
	struct reader rd = { .off = sizeof(struct log_header) };
	uint32_t number = s->chain[index].number;
	bool write = !s->readonly && index == store_active(s);
	struct log_header h = { 0 };
	struct stat st;
	uint64_t at = 0;
	int r;

	rd.fd = store_log_open(s, index, write);
	if (rd.fd < 0) {
		snprintf(why, why_size, "the log of layer %u: %s", number, strerror(-rd.fd));
		return rd.fd;
	}
	rd.buf = blob_new(RECORD_WINDOW);
	r = rd.buf ? header_read(rd.fd, number, &h) : -ENOMEM;
	/* A file takes about a hundred bytes of the log, and six times that in memory. */
	if (r == 0 && host_fstat(rd.fd, &st) == 0 && st.st_size > 0)
		arena_expect(MIN((uint64_t)st.st_size * 4, (uint64_t)EXPECT_MAX));
	if (r == 0 && !ids_find(&s->ids, 1))
		r = ids_add(&s->ids, lnode_of(l->fs.root));
	l->replay_time = 1;
	if (write)
		s->clean = false;
	rd.crc = h.crc;
	l->next_id = r == 0 ? MAX(l->next_id, h.next_id) : l->next_id;
	while (r == 0) {
		at = rd.off + rd.at;
		if (!record_next(&rd, &rp.c))
			break;
		r = record_apply(&rp);
	}
	if (r == 0)
		r = rd.error;
	if (rd.buf)
		blob_free(rd.buf, RECORD_WINDOW);
	l->replay_time = 0;
	if (r < 0) {
		snprintf(why, why_size, "the log of layer %u is damaged at byte %llu: %s", number,
			 (unsigned long long)at, strerror(-r));
		host_close(rd.fd);
		return r;
	}
	if (!write) {
		host_close(rd.fd);
		return 0;
	}
	s->log.fd = rd.fd;
	s->log.end = s->log.reserved = at;
	s->log.crc = rd.crc;
	(void)!log_reserve(&s->log, 0, false); /* without it, changes are refused that need room */
	return 0;
}

static int missing_entry_drop(struct layer *l, struct lnode *d, struct lentry *e)
{
	int r = log_begin(l);

	if (r == 0) {
		log_unlink(l, d, e->str, e->len);
		r = log_commit(l, true);
	}
	if (r < 0)
		return r;
	uncharge_link(e->node);
	tree_remove(d, e);
	return 0;
}

/* What the image has no more and was never ours goes, in the log too. */
static int missing_drop(struct layer *l)
{
	struct lnode *n, *next;
	struct lentry *e, *tmp;
	int r = 0;

	log_warn("%u files or directories of the image that the cell had changed are gone",
		 l->store->missing);
	list_for_each(n, &l->nodes, all_link)
		if (n->missing)
			inode_get(&n->inode);
	list_for_each(n, &l->nodes, all_link) {
		if (!inode_is_dir(&n->inode) || r < 0)
			continue;
		list_for_each_safe(e, tmp, &n->table.order, order)
			if (e->kind == ENTRY_OWN && e->node->missing && r == 0)
				r = missing_entry_drop(l, n, e);
	}
	list_for_each_safe(n, next, &l->nodes, all_link)
		if (n->missing) {
			n->missing = false;
			n->own_content = inode_is_reg(&n->inode);
			inode_put(&n->inode);
		}
	return r;
}

int store_replay_end(struct layer *l, char *why, size_t why_size)
{
	struct lstore *s = l->store;
	struct lnode *n, *next;
	bool clean = s->clean && !s->leftover;
	int r = 0;

	/* What has no further names after all was held for what the log might have said of it. */
	list_for_each_safe(n, next, &l->nodes, all_link)
		if (n->held && (!n->several || n->inode.nlink == 0))
			links_drop(n);
	/* Made and never linked: the group was cut short. */
	list_for_each_safe(n, next, &l->nodes, all_link) {
		if (!n->fresh)
			continue;
		n->fresh = false;
		if (inode_is_dir(&n->inode) && n->table.own > 0) {
			snprintf(why, why_size, "a log has directories that lead nowhere");
			return -EINVAL;
		}
		inode_put(&n->inode);
	}
	if (s->missing && !s->readonly)
		r = missing_drop(l);
	if (r < 0)
		snprintf(why, why_size, "the log cannot be written: %s", strerror(-r));
	if (clean) {
		l->used_bytes += s->clean_bytes;
		s->content_bytes = s->clean_bytes;
	}
	s->recovering = !clean && !s->readonly;
	/* Who ended otherwise may have ended before the layer was born. */
	s->unborn = s->recovering;
	return r;
}
