/* The tree of a layer: pinning, and the functions that change which name leads where. See node.h.
 *
 * The order inside the layer_apply_ functions is: everything that may fail, the log last; then the
 * effects, which are functions of their own, as reading the log has the same. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/inode.h"

#define PIN_DEPTH 4096

void lnode_detach(struct lnode *n)
{
	struct lnode *parent = n->parent;

	n->home = NULL;
	n->parent = NULL;
	if (parent)
		inode_put(&parent->inode);
}

int layer_log_pin(struct lnode *n)
{
	static struct lnode *up[PIN_DEPTH];
	struct layer *l = layer_of(n);
	uint32_t depth = 0, group = l->store ? l->store->log.group : 0;

	if (!group)
		return 0;
	for (; n->home && n->group != group; n = n->parent) {
		if (depth == PIN_DEPTH)
			return -ENAMETOOLONG;
		up[depth++] = n;
	}
	while (depth-- > 0) {
		log_pin(l, up[depth]->parent, up[depth]->home, up[depth]);
		up[depth]->group = group;
	}
	return 0;
}

void lnode_set_logged(struct lnode *n)
{
	struct lstore *s = layer_of(n)->store;

	if (!s || n->logged)
		return;
	n->logged = true;
	s->live++;
}

void lnode_forget_log(struct lnode *n)
{
	struct lstore *s = layer_of(n)->store;

	if (!s || !n->logged)
		return;
	n->logged = false;
	s->live--;
}

/* The place of a node in its image, kept from when it leaves it: a log that is written anew needs
 * it. */
static void origin_keep(struct lnode *n)
{
	size_t len = 0, at;
	const struct lnode *d;

	if (!layer_of(n)->store || !n->lower || n->origin || !n->at)
		return;
	len = n->at->len;
	for (d = n->up; d->at && !d->origin; d = d->up)
		len += 1 + (size_t)d->at->len;
	if (d->origin)
		len += 1 + (size_t)d->origin_len;
	if (len > UINT16_MAX)
		return;
	n->origin = blob_new(len + 1);
	if (!n->origin)
		return; /* the log then stays as it is */
	n->origin_len = (uint32_t)len;
	at = len - n->at->len;
	n->origin[len] = '\0';
	memcpy(n->origin + at, n->at->str, n->at->len);
	for (d = n->up; d->at && !d->origin; d = d->up) {
		n->origin[--at] = '/';
		at -= d->at->len;
		memcpy(n->origin + at, d->at->str, d->at->len);
	}
	if (d->origin) {
		n->origin[--at] = '/';
		memcpy(n->origin, d->origin, d->origin_len);
	}
}

/* Bottom up. A node's hold on its parent is given back only after the parent was pinned itself. */
void layer_pin(struct lnode *n)
{
	struct lnode *held = NULL;

	while (n && n->home) {
		struct lnode *parent = n->parent;

		n->home->kind = ENTRY_OWN;
		n->up = parent;
		n->at = n->home;
		n->names++;
		lnode_set_logged(n);
		inode_get(&n->inode);
		links_hold(n);
		n->home = NULL;
		n->parent = NULL;
		parent->table.own++;
		if (held)
			inode_put(&held->inode);
		held = n = parent;
	}
	if (held)
		inode_put(&held->inode);
}

int lnode_lower_has(struct lnode *dir, const char *name, size_t len)
{
	struct image *img = layer_of(dir)->lower;
	struct image_node *node;
	int r;

	if (!dir->lower)
		return 0;
	r = CHECKED(img->ops)->lookup(img, dir->lower, name, len, &node);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	CHECKED(img->ops)->drop(img, node);
	return 1;
}

struct empty_sink {
	struct image_sink sink;
	struct lnode *dir;
	bool seen;
};

static bool empty_emit(struct image_sink *s, const char *name, size_t len, uint64_t ino,
		       unsigned dtype)
{
	struct empty_sink *es = (struct empty_sink *)s;
	struct lentry *e = ltable_find(&es->dir->table, name, len);

	(void)ino;
	(void)dtype;
	if (e && e->kind == ENTRY_WHITEOUT)
		return true;
	es->seen = true;
	return false;
}

bool lnode_dir_is_empty(struct lnode *dir, int *ret_error)
{
	struct image *img = layer_of(dir)->lower;
	struct empty_sink es = { .sink = { empty_emit }, .dir = dir };

	*ret_error = 0;
	if (dir->table.own > 0)
		return false;
	if (!dir->lower)
		return true;
	*ret_error = CHECKED(img->ops)->iterate(img, dir->lower, &es.sink);
	return !es.seen;
}

/* The number of a directory's links; 1 is what hosts that do not count say, and it stays. */
void dir_count_link(struct lnode *dir, int by)
{
	if (dir->inode.nlink != 1)
		dir->inode.nlink += (uint32_t)by;
}

/* The entry leads to n from now on, counted. */
static void entry_set(struct lnode *dir, struct lentry *e, struct lnode *n)
{
	e->kind = ENTRY_OWN;
	e->node = n;
	if (inode_is_dir(&n->inode))
		origin_keep(n);
	/* Without its place in the image, none may be taken for it. */
	if (inode_is_dir(&n->inode) || (!n->at && (!n->lower || n->origin))) {
		n->up = dir;
		n->at = e;
	}
	n->names++;
	lnode_set_logged(n);
	inode_get(&n->inode);
	dir->table.own++;
}

/* The entry leads nowhere any more; its node is uncounted (and may be gone). The entry becomes a
 * whiteout. */
static void entry_clear(struct lnode *dir, struct lentry *e)
{
	struct lnode *n = e->node;
	bool own = e->kind == ENTRY_OWN;

	e->kind = ENTRY_WHITEOUT;
	e->node = NULL;
	if (own) {
		if (n->at == e) {
			if (n->names > 1 || n->held)
				origin_keep(n);
			n->up = NULL;
			n->at = NULL;
		}
		if (--n->names == 0 && !n->held)
			lnode_forget_log(n);
		dir->table.own--;
		inode_put(&n->inode);
	} else if (n) {
		lnode_detach(n);
	}
}

static void entry_drop_if_useless(struct lnode *dir, struct lentry *e)
{
	if (e->kind == ENTRY_WHITEOUT && !e->below)
		ltable_remove(&dir->table, e);
}

/* The entry's node loses a link. */
static void node_count_unlink(struct lnode *dir, struct lnode *n)
{
	if (inode_is_dir(&n->inode)) {
		n->inode.nlink = 0;
		dir_count_link(dir, -1);
	} else if (n->inode.nlink > 0) {
		n->inode.nlink--;
	}
	lnode_times_now(n, false);
	/* What a log says of it later has to find it. */
	if (n->inode.nlink == 0 && !layer_of(n)->replay_time)
		links_drop(n);
}

void tree_add(struct lnode *dir, struct lentry *e, struct lnode *n)
{
	layer_pin(dir);
	layer_pin(n);
	entry_set(dir, e, n);
	if (inode_is_dir(&n->inode))
		dir_count_link(dir, 1);
	lnode_times_now(dir, true);
}

int layer_apply_add(struct lnode *dir, const char *name, size_t len, struct lnode *n)
{
	struct layer *l = layer_of(dir);
	struct lentry *e = ltable_find(&dir->table, name, len);
	bool fresh = !e;
	int r = 0;

	if (e && e->kind != ENTRY_WHITEOUT)
		return -EEXIST;
	if (!e) {
		r = lnode_lower_has(dir, name, len);
		if (r)
			return r < 0 ? r : -EEXIST;
		e = ltable_add(&dir->table, name, len);
		if (!e)
			return -ENOSPC;
	}
	r = log_begin(l);
	if (r == 0)
		r = layer_log_pin(dir);
	if (r == 0)
		r = layer_log_pin(n);
	if (r == 0) {
		if (!n->logged && !n->home)
			log_whole(l, n);
		log_link(l, dir, name, len, n);
		r = log_commit(l, false);
	}
	if (r < 0) {
		log_abort(l);
		if (fresh)
			ltable_remove(&dir->table, e);
		return r;
	}
	if (n->scratch)
		n->content.logged = true;
	tree_add(dir, e, n);
	return 0;
}

void tree_remove(struct lnode *dir, struct lentry *e)
{
	layer_pin(dir);
	node_count_unlink(dir, e->node);
	entry_clear(dir, e);
	entry_drop_if_useless(dir, e);
	lnode_times_now(dir, true);
}

int tree_entry(struct lnode *dir, const char *name, size_t len, struct lnode *n,
	       struct lentry **ret_)
{
	struct lentry *e = ltable_find(&dir->table, name, len);

	if (e ? e->node != n : links_at(dir, name, len) != n)
		return -ENOENT;
	if (!e) {
		e = ltable_add(&dir->table, name, len);
		if (!e)
			return -ENOSPC;
		e->below = true;
	}
	*ret_ = e;
	return 0;
}

/* What keeps names that have no entry is known to the log, whichever of its names goes. */
void tree_settle(struct lnode *dir, struct lentry *e, struct lnode *n)
{
	if (n->several)
		layer_pin(n);
	if (e->kind != ENTRY_WHITEOUT)
		return;
	layer_pin(dir);
	entry_set(dir, e, n);
}

static void entry_drop_unsettled(struct lnode *dir, struct lentry *e)
{
	if (e->kind == ENTRY_WHITEOUT)
		ltable_remove(&dir->table, e);
}

int layer_apply_remove(struct lnode *dir, struct lentry *e, struct lnode *n)
{
	struct layer *l = layer_of(dir);
	int r = log_begin(l);

	if (r == 0)
		r = layer_log_pin(dir);
	if (r == 0 && n->several)
		r = layer_log_pin(n);
	if (r == 0) {
		log_unlink(l, dir, e->str, e->len);
		r = log_commit(l, true);
	}
	if (r < 0) {
		log_abort(l);
		entry_drop_unsettled(dir, e);
		return r;
	}
	tree_settle(dir, e, n);
	tree_remove(dir, e);
	return 0;
}

static void rename_exchange(struct lnode *odir, struct lentry *eo, struct lnode *ndir,
			    struct lentry *en)
{
	struct lnode *a = eo->node, *b = en->node;
	int moved = (inode_is_dir(&b->inode) ? 1 : 0) - (inode_is_dir(&a->inode) ? 1 : 0);

	layer_pin(a);
	layer_pin(b);
	if (a->at == eo)
		origin_keep(a);
	if (b->at == en)
		origin_keep(b);
	if (a->at == eo) {
		a->up = ndir;
		a->at = en;
	}
	if (b->at == en) {
		b->up = odir;
		b->at = eo;
	}
	eo->node = b;
	en->node = a;
	if (odir != ndir && moved) {
		dir_count_link(odir, moved);
		dir_count_link(ndir, -moved);
	}
	lnode_times_now(b, false);
}

void tree_rename(struct lnode *odir, struct lentry *eo, struct lnode *ndir, struct lentry *en,
		 bool exchange)
{
	struct lnode *n = eo->node;

	layer_pin(odir);
	layer_pin(ndir);
	if (exchange) {
		rename_exchange(odir, eo, ndir, en);
	} else {
		layer_pin(n);
		if (en->node) {
			node_count_unlink(ndir, en->node);
			entry_clear(ndir, en);
		}
		entry_set(ndir, en, n);
		entry_clear(odir, eo);
		entry_drop_if_useless(odir, eo);
		if (inode_is_dir(&n->inode) && odir != ndir) {
			dir_count_link(odir, -1);
			dir_count_link(ndir, 1);
		}
	}
	lnode_times_now(odir, true);
	lnode_times_now(ndir, true);
	lnode_times_now(n, false);
}

/* Where a name leads to, or will. */
static int rename_target(struct lnode *dir, const char *name, size_t len, struct lnode *victim,
			 struct lentry **ret_)
{
	int r;

	if (victim)
		return tree_entry(dir, name, len, victim, ret_);
	r = lnode_lower_has(dir, name, len);
	if (r)
		return r < 0 ? r : -ESTALE;
	*ret_ = ltable_add(&dir->table, name, len);
	return *ret_ ? 0 : -ENOSPC;
}

int layer_apply_rename(struct lnode *odir, struct lentry *eo, struct lnode *n, struct lnode *ndir,
		       const char *name, size_t len, struct lnode *victim, bool exchange)
{
	struct layer *l = layer_of(odir);
	struct lentry *en = ltable_find(&ndir->table, name, len);
	bool fresh = !en;
	int r = 0;

	if (!en)
		r = rename_target(ndir, name, len, victim, &en);
	if (r < 0) {
		entry_drop_unsettled(odir, eo);
		return r;
	}
	r = log_begin(l);
	if (r == 0)
		r = layer_log_pin(odir);
	if (r == 0)
		r = layer_log_pin(ndir);
	if (r == 0)
		r = layer_log_pin(n);
	if (r == 0 && victim && (exchange || victim->several))
		r = layer_log_pin(victim);
	if (r == 0) {
		log_rename(l, odir, eo, ndir, name, len, exchange);
		r = log_commit(l, victim && !exchange);
	}
	if (r < 0) {
		log_abort(l);
		if (fresh)
			ltable_remove(&ndir->table, en);
		entry_drop_unsettled(odir, eo);
		return r;
	}
	tree_settle(odir, eo, n);
	if (victim)
		tree_settle(ndir, en, victim);
	/* Programs replace a file by a new one without syncing it, and expect one of the two after
	 * a power cut. */
	if (l->store && victim && !exchange && n->scratch && !n->content.synced)
		store_order(l, n);
	tree_rename(odir, eo, ndir, en, exchange);
	return 0;
}
