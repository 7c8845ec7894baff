/* Writing a log anew when it has outgrown its tree.
 *
 * The new one tells the whole tree as it differs from the image, in the fewest records, so the logs
 * of the layers below do not count any more; their contents still do. It is written beside the old
 * one, synced and renamed: at each instant one of the two is there. In three walks over what is
 * ours:
 *   1  every directory, every file by its first name (of a file of the image: the name it has
 *      there), and what was removed
 *   2  further names of files of the image
 *   3  contents, attributes and times, which come last because links change them
 * Files of the image of which only such names are left as the log does not tell (links.c) are in
 * none of them, and come at the end. The time it takes grows with the tree; it happens when the log
 * has at least four times the bytes that it needs. */
#include <errno.h>

#include "base/log.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define WORTH_BYTES (4u << 20)
#define WORTH_TIMES 4
#define NODE_BYTES 200 /* about what a node and its name take in a log */
#define FLUSH_AT (1u << 20)

struct layer_merging {
	int (*content)(void *arg, uint32_t index, uint64_t number);
	void *arg;
};

struct tree_walk {
	struct lnode *dir;
	struct list *at; /* the entry that is next */
};

/* The next entry, parents before their children; NULL at the end. Needs no memory, as directories
 * know where they are. */
static struct lentry *walk_next(struct layer *l, struct tree_walk *w, struct lnode **ret_dir)
{
	struct lentry *e;

	while (w->at == &w->dir->table.order) {
		if (&w->dir->inode == l->fs.root)
			return NULL;
		w->at = w->dir->at->order.next;
		w->dir = w->dir->up;
	}
	e = list_entry(w->at, struct lentry, order);
	*ret_dir = w->dir;
	if (e->kind == ENTRY_OWN && inode_is_dir(&e->node->inode)) {
		w->dir = e->node;
		w->at = w->dir->table.order.next;
	} else {
		w->at = w->at->next;
	}
	return e;
}

static bool is_in_place(const struct lnode *n)
{
	return n->lower && !n->origin;
}

/* 1: structure. */
static int put_entry(struct layer *l, struct lnode *dir, struct lentry *e, uint32_t mark)
{
	struct lnode *n = e->node;

	if (e->kind == ENTRY_MIRROR)
		return 0;
	/* A new number could be one that is given in the layers above. */
	if (e->kind == ENTRY_OWN && !n->id && l->store->merging)
		return -EINVAL;
	if (e->kind == ENTRY_OWN && is_in_place(n)) {
		if (!n->at)
			return -EIO; /* its place could not be kept: no memory */
		if (n->at == e) {
			log_pin(l, dir, e, n);
			n->group = mark;
		}
		return 0;
	}
	if (e->below)
		log_unlink(l, dir, e->str, e->len);
	if (e->kind != ENTRY_OWN)
		return 0;
	if (n->group != mark) {
		if (n->lower)
			log_origin(l, n);
		else
			log_new(l, n);
		n->group = mark;
	}
	log_link(l, dir, e->str, e->len, n);
	return 0;
}

/* 2: further names. */
static void put_name(struct layer *l, struct lnode *dir, struct lentry *e)
{
	if (e->kind != ENTRY_OWN || !is_in_place(e->node) || e->node->at == e)
		return;
	if (e->below)
		log_unlink(l, dir, e->str, e->len);
	log_link(l, dir, e->str, e->len, e->node);
}

struct xattr_arg {
	struct layer *l;
	struct lnode *n;
};

static void put_xattr(void *arg, const char *name, size_t len, const char *value, size_t size)
{
	struct xattr_arg *x = arg;

	log_xattr(x->l, x->n, name, len, value, size);
}

/* Its place is the layer of the log. */
static int put_merged(struct layer *l, struct lnode *n)
{
	const struct layer_merging *m = l->store->merging;

	log_content(l, n, store_active(l->store), true, 0);
	return m->content(m->arg, n->content.where, n->scratch);
}

/* 3: the rest. */
static int put_node(struct layer *l, struct lnode *n)
{
	struct xattr_arg x = { l, n };
	const struct lcontent *c = &n->content;
	int r = 0;

	if (inode_is_reg(&n->inode) && n->own_content && n->scratch && l->store->merging) {
		r = put_merged(l, n);
	} else if (inode_is_reg(&n->inode) && n->own_content) {
		if (n->scratch && c->before < CONTENT_IMAGE)
			log_content(l, n, c->before, true, 0);
		if (n->scratch)
			log_content(l, n, c->where, c->before == CONTENT_NONE, c->hint);
		else if (n->lower)
			log_content(l, n, CONTENT_NONE, true, 0);
	}
	if (n->lower && n->xattrs_changed)
		log_xattr(l, n, "", 0, NULL, 0);
	if (!n->lower || n->xattrs_changed)
		lnode_xattrs(n, put_xattr, &x);
	log_attr(l, n, NULL);
	return r;
}

static int put_nameless(struct layer *l)
{
	struct lnode *n;
	int r = 0;

	if (!l->links.count)
		return 0;
	list_for_each(n, &l->nodes, all_link) {
		if (!n->held || n->names || r < 0)
			continue;
		if (!n->origin)
			return -EIO;
		log_origin(l, n);
		r = put_node(l, n);
		if (r == 0)
			r = log_flush(l, FLUSH_AT);
	}
	return r;
}

static int put_tree(struct layer *l, uint32_t mark)
{
	struct lnode *root = lnode_of(l->fs.root), *dir;
	struct lentry *e;
	int r = 0;

	for (int pass = 1; pass <= 3 && r == 0; pass++) {
		struct tree_walk w = { root, root->table.order.next };

		while (r == 0 && (e = walk_next(l, &w, &dir))) {
			if (pass == 1)
				r = put_entry(l, dir, e, mark);
			else if (pass == 2)
				put_name(l, dir, e);
			else if (e->kind == ENTRY_OWN && (e->node->group == mark)) {
				r = put_node(l, e->node);
				e->node->group = 0;
			}
			if (r == 0)
				r = log_flush(l, FLUSH_AT);
		}
	}
	if (r == 0)
		r = put_nameless(l);
	if (r == 0)
		log_attr(l, root, NULL);
	return r < 0 ? r : log_flush(l, 0);
}

/* All of it, and nothing else, in s->log. */
static int log_fill(struct layer *l)
{
	struct llog *g = &l->store->log;
	int r;

	g->group = UINT32_MAX;
	g->len = 0;
	g->buf_crc = g->crc;
	r = put_tree(l, UINT32_MAX);
	g->group = 0;
	return r;
}

static int compact(struct layer *l)
{
	struct lstore *s = l->store;
	const uint32_t at = store_active(s);
	struct llog old;
	int r = log_sync(l); /* what waits for the old one */

	if (r < 0)
		return r;
	r = log_create_begin(l, at, LOG_FULL, &old);
	if (r < 0)
		return r;
	return log_create_end(l, at, &old, log_fill(l));
}

int store_compact(struct layer *l)
{
	int r;

	store_sync_hold(l);
	r = compact(l);
	store_sync_release(l);
	return r;
}

void store_compact_if_worth(struct layer *l)
{
	struct lstore *s = l->store;
	uint64_t end = s->log.end;
	int r;

	/* It would have to wait for a sync that is on its way. */
	if (s->flight || end < WORTH_BYTES || end < s->compact_at ||
	    end / WORTH_TIMES < s->live * NODE_BYTES)
		return;
	/* It begins with a sync of what is ordered before the log: if that is much, it is written
	 * out beside the loop first. */
	if (!s->compact_waits && store_order_is_long(l) && store_sync_beside(l))
		s->compact_waits = true;
	if (s->compact_waits && s->own_request)
		return;
	s->compact_waits = false;
	r = store_compact(l);
	/* Not again soon, whatever became of it. */
	s->compact_at = r < 0 ? end * 2 : s->log.end * 2;
	if (r < 0)
		log_debug("the log could not be written anew: %d", r);
}

/* Contents that a power cut left incomplete are settled first, as nothing is to lie behind those of
 * the new layer. */
static int contents_settle(struct layer *l)
{
	struct lnode *n;
	int r = 0;

	list_for_each(n, &l->nodes, all_link)
		if (r == 0 && inode_is_reg(&n->inode))
			r = lnode_load(n);
	return r;
}

int layer_merge(struct fs *fs, int log_fd, uint32_t number,
		int (*content)(void *arg, uint32_t index, uint64_t number), void *arg)
{
	const struct layer_merging m = { content, arg };
	struct layer *l = (struct layer *)fs;
	struct lstore *s = l->store;
	int r;

	/* What the image has no more is only dropped by who runs the cell. */
	if (!s || !s->readonly)
		return -EINVAL;
	if (s->missing)
		return -ESTALE;
	r = contents_settle(l);
	if (r == 0)
		r = log_start(l, log_fd, number, LOG_FULL, &s->log);
	if (r < 0)
		return r;
	s->merging = &m;
	r = log_fill(l);
	s->merging = NULL;
	if (r == 0 && s->clean) {
		s->log.group = UINT32_MAX;
		log_clean(l);
		r = log_flush(l, 0);
		s->log.group = 0;
	}
	/* What was reserved ahead nobody will use. */
	if (r == 0)
		r = host_ftruncate(log_fd, (int64_t)s->log.end);
	return r;
}
