/* Changing the tree of mounts: bind, move, detach, pivot, and trees of a process's own.
 *
 * A mount is found by its parent and the name it covers, so two trees can share file systems and
 * names and still differ. All mounts are in one list; a tree of a process's own (mntns) is those
 * that say so. The first tree is the cell's, which is never freed.
 *
 * What the operator mounted is fixed: a guest can put something on top of it, but not take it away
 * or look below it. A mount that is detached while it is in use has neither parent nor place, and
 * goes with its last user; what is fixed on it stays on it so long (kept), as who still stands
 * there is not to see below it either. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/ref.h"
#include "kernel/vfs/fsctx.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/mount.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/vfs_priv.h"

struct mntns {
	uint32_t refs;
	uint64_t number;
};
OBJ_TYPE(mntns_type, struct mntns, 1024);

#define NUMBER_OF_CELL 4026531840 /* its own tree; the others' are above all fixed ones */
static uint64_t number_last = NUMBER_OF_CELL + 999;

static struct mntns nowhere; /* of what was detached: in nobody's tree */

bool mount_is_below(const struct mount *m, const struct mount *top)
{
	while (m && m != top)
		m = m->parent;
	return m != NULL;
}

static bool name_is_below(const struct name *n, const struct name *top)
{
	while (n && n != top)
		n = n->parent;
	return n != NULL;
}

/* A child of what is shown at p, directly on its mount. */
static bool is_child_at(const struct mount *m, const struct path *p)
{
	return m->parent == p->mnt && name_is_below(m->point, p->name);
}

/* top, too: it may be detached, and then it is not in the list. */
static void copies_forget(struct mount *top)
{
	top->copy = NULL;
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
		m->copy = NULL;
}

static bool mount_copy(struct mount *m, struct mntns *ns)
{
	struct path at = { m->parent->copy, m->point };

	m->copy = mount_clone(m, m->root);
	if (!m->copy)
		return false;
	m->copy->ns = ns;
	m->copy->fixed = m->fixed;
	mount_hook(m->copy, &at);
	return true;
}

/* Marks what is mounted on from's mount below its name, level by level (list order does not
 * matter), with a copy on the copies, or with itself if dry. How many; -ENOSPC. */
static int children_mark(const struct path *from, struct mount *top, struct mntns *ns, bool dry)
{
	struct mount *m, *last = NULL;
	bool again = true;
	int count = 0;

	from->mnt->copy = top;
	for (struct mount *n = mount_next(NULL); n; n = mount_next(n))
		last = n; /* what is made here is behind it */
	while (again) {
		again = false;
		for (m = mount_next(NULL); m; m = m == last ? NULL : mount_next(m)) {
			if (!m->parent || !m->parent->copy || m->copy || m == top ||
			    m->ns != from->mnt->ns)
				continue;
			if (m->parent == from->mnt && !is_child_at(m, from))
				continue;
			if (dry)
				m->copy = m;
			else if (!mount_copy(m, ns))
				return -ENOSPC;
			count++;
			again = true;
		}
	}
	return count;
}

/* Counted first, as Linux does: what does not fit costs no copies that have to be undone. */
static int children_copy(const struct path *from, struct mount *top, struct mntns *ns)
{
	int count = children_mark(from, top, ns, true);

	copies_forget(from->mnt);
	if ((uint32_t)count > mounts_room())
		return -ENOSPC;
	count = children_mark(from, top, ns, false);
	return count < 0 ? count : 0;
}

bool mount_covers_below(const struct name *dir)
{
	for (struct mount *m = mount_next(NULL); m; m = mount_next(m))
		if (m->fixed && m->point && name_is_below(m->point, dir))
			return true;
	return false;
}

static int place_check(const struct path *place, const struct inode *root)
{
	if (!place->name->inode || place->name->deleted)
		return -ENOENT;
	return inode_is_dir(place->name->inode) != inode_is_dir(root) ? -ENOTDIR : 0;
}

int mount_bind(const struct path *from, const struct path *place, bool rec)
{
	struct mount *top, *m;
	int ret;

	if (list_is_empty(&from->mnt->link))
		return -EINVAL;
	/* What the operator put on top of a part of it must not be uncovered. */
	for (m = mount_next(NULL); m && !rec; m = mount_next(m))
		if (m->fixed && is_child_at(m, from))
			return -EINVAL;
	ret = place_check(place, from->name->inode);
	if (ret < 0)
		return ret;
	top = mount_clone(from->mnt, from->name);
	if (!top)
		return -ENOSPC;
	if (rec) {
		ret = children_copy(from, top, from->mnt->ns);
		copies_forget(from->mnt);
	}
	mount_hook(top, place);
	if (ret < 0)
		mount_detach(top);
	return ret;
}

int mount_move(struct mount *m, const struct path *place)
{
	struct mount *parent = m->parent;
	struct name *point = m->point;
	int ret;

	if (!parent || m->fixed)
		return -EINVAL;
	ret = place_check(place, m->root->inode);
	if (ret < 0)
		return ret == -ENOENT ? ret : -EINVAL;
	if (mount_is_below(place->mnt, m))
		return -ELOOP;
	mount_unhook(m);
	mount_hook(m, place);
	name_put(point);
	mount_put(parent);
	return 0;
}

/* Out of its parent; the reference that the list has is the caller's to put. */
static void mount_cut(struct mount *m)
{
	struct mount *parent = m->parent;
	struct name *point = m->point;

	mount_unhook(m);
	m->parent = NULL;
	m->point = NULL;
	if (point)
		name_put(point);
	if (parent)
		mount_put(parent);
}

/* A fixed one whose parent goes out of the tree. The list's reference stays, its own on the parent
 * goes. */
static void mount_keep(struct mount *m)
{
	m->kept = true;
	m->ns = &nowhere;
	mounts_changed();
	mount_put(m->parent);
}

void mount_detach(struct mount *top)
{
	struct mount *m, *next;

	mount_get(top);
	/* Leaves first would need an order; the marks say who belongs to it before anything is
	 * cut. */
	for (m = mount_next(NULL); m; m = mount_next(m))
		m->copy = mount_is_below(m, top) ? m : NULL;
	for (m = mount_next(NULL); m; m = next) {
		next = mount_next(m);
		if (!m->copy)
			continue;
		m->copy = NULL;
		if (m->fixed && m != top) {
			mount_keep(m);
			continue;
		}
		/* Putting m may free its parents, never the next of the list: each has the list's
		 * own reference until its turn. */
		list_remove(&m->link);
		m->ns = &nowhere;
		mount_cut(m);
		mount_put(m);
	}
	mount_put(top);
}

int mount_pivot(struct mount *new_root, const struct path *put_old, struct mount *old_root)
{
	struct path up = { old_root->parent, old_root->point }, to = *put_old;

	path_get(&up);
	path_get(&to);
	mount_cut(new_root);
	if (up.mnt) {
		mount_cut(old_root);
		mount_hook(new_root, &up);
	}
	mount_hook(old_root, &to);
	path_put(&up);
	path_put(&to);
	return 0;
}

const char *mount_root_text(const struct mount *m, char *buf, size_t size)
{
	size_t at = size - 1;
	const struct name *n = m->root;

	buf[at] = 0;
	for (; n->parent; n = n->parent) {
		if (at < (size_t)n->len + 1)
			break;
		at -= n->len;
		memcpy(buf + at, n->str, n->len);
		buf[--at] = '/';
	}
	return buf[at] ? buf + at : "/";
}

/* ---- trees of their own ---- */

struct mntns *mntns_get(struct mntns *ns)
{
	if (ns)
		ref_get(&ns->refs);
	return ns;
}

void mntns_put(struct mntns *ns)
{
	struct mount *m;

	if (!ns || !ref_put(&ns->refs))
		return;
	for (;;) {
		for (m = mount_next(NULL); m && m->ns != ns; m = mount_next(m))
			;
		if (!m)
			break;
		while (m->parent && m->parent->ns == ns)
			m = m->parent;
		mount_detach(m);
	}
	obj_free(&mntns_type, ns);
}

uint64_t mntns_number(const struct mntns *ns)
{
	return ns ? ns->number : NUMBER_OF_CELL;
}

static void place_follow(struct path *p)
{
	struct mount *to = p->mnt->copy;

	if (!to)
		return;
	mount_get(to);
	mount_put(p->mnt);
	p->mnt = to;
}

int fsctx_unshare_mounts(struct fsctx *fs)
{
	struct mount *top = fs->root.mnt, *copy;
	struct mntns *ns = obj_new(&mntns_type);
	struct path from;
	int ret;

	if (!ns)
		return -ENOSPC;
	ns->refs = 1;
	ns->number = ++number_last;
	while (top->parent)
		top = top->parent;
	copy = mount_clone(top, top->root);
	if (!copy) {
		obj_free(&mntns_type, ns);
		return -ENOSPC;
	}
	copy->ns = ns;
	from = (struct path){ top, top->root };
	ret = children_copy(&from, copy, ns);
	if (ret == 0) {
		place_follow(&fs->root);
		place_follow(&fs->cwd);
	}
	copies_forget(top);
	if (ret < 0) {
		mntns_put(ns);
		return ret;
	}
	mntns_put(fs->ns);
	fs->ns = ns;
	return 0;
}

int fsctx_enter_mounts(struct fsctx *fs, struct mntns *ns)
{
	struct path root = { NULL, NULL };
	struct mount *m;

	for (m = mount_next(NULL); m && (m->ns != ns || m->parent); m = mount_next(m))
		;
	if (!m)
		return -EINVAL;
	root = (struct path){ m, m->root };
	path_get(&root);
	path_cross_mounts(&root);
	mntns_get(ns);
	path_put(&fs->root);
	path_put(&fs->cwd);
	mntns_put(fs->ns);
	fs->root = fs->cwd = root;
	path_get(&root);
	fs->ns = ns;
	return 0;
}
