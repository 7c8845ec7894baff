/* Inodes of a layer: their making and end, and the inode operations. See node.h for how they hang
 * together. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/task/clock.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

OBJ_TYPE(lnode_type, struct lnode, 0);

static const struct inode_ops layer_iops, layer_reg_iops;

/* ---- quotas ---- */

int layer_charge_inode(struct layer *l)
{
	if (l->max_inodes && l->used_inodes >= l->max_inodes && !l->replay_time) {
		l->inodes_refused++;
		return -ENOSPC;
	}
	l->used_inodes++;
	return 0;
}

static void uncharge_inode(struct layer *l)
{
	l->used_inodes--;
}

int layer_charge_bytes(struct layer *l, uint64_t n)
{
	if (l->max_bytes && !l->replay_time && n > layer_room(l, n)) {
		l->bytes_refused++;
		return -ENOSPC;
	}
	l->used_bytes += n;
	return 0;
}

void layer_uncharge_bytes(struct layer *l, uint64_t n)
{
	l->used_bytes -= MIN(n, l->used_bytes);
}

/* ---- life ---- */

void lnode_times_now(struct lnode *n, bool mtime)
{
	int64_t now = layer_of(n)->replay_time;

	inode_touch(&n->inode);
	if (!now)
		now = now_real();
	n->inode.ctime.tv_sec = now / NSEC_PER_SEC;
	n->inode.ctime.tv_nsec = now % NSEC_PER_SEC;
	if (mtime)
		n->inode.mtime = n->inode.ctime;
}

static struct lnode *lnode_alloc(struct layer *l, uint32_t mode)
{
	struct lnode *n = obj_new(&lnode_type);

	if (!n)
		return NULL;
	inode_init(&n->inode, &l->fs, S_ISREG(mode) ? &layer_reg_iops : &layer_iops, mode);
	n->inode.nlink = S_ISDIR(mode) ? 2 : 1;
	fdref_init(&n->rd);
	fdref_init(&n->wr);
	list_init(&n->content.order);
	list_init(&n->mapped_link);
	n->content.before = CONTENT_NONE;
	if (S_ISDIR(mode)) {
		ltable_init(&n->table);
		n->inode.fops = &layer_dir_fops;
		n->inode.size = l->lower ? 4096 : 40;
		n->inode.blocks = l->lower ? 8 : 0;
	} else if (S_ISREG(mode)) {
		n->inode.fops = &layer_reg_fops;
		n->own_content = true;
	}
	list_append(&l->nodes, &n->all_link);
	return n;
}

struct lnode *lnode_new(struct layer *l, uint32_t mode)
{
	struct lnode *n = lnode_alloc(l, mode);

	if (!n)
		return NULL;
	n->id = l->next_id++;
	n->inode.ino = l->ino_base + n->id;
	return n;
}

struct lnode *lnode_new_mirror(struct layer *l, struct image_node *lower)
{
	struct lnode *n = lnode_alloc(l, lower->mode);

	if (!n)
		return NULL;
	n->lower = lower;
	n->own_content = false;
	n->inode.ino = lower->ino;
	n->inode.uid = lower->uid;
	n->inode.gid = lower->gid;
	n->inode.nlink = lower->nlink;
	n->inode.size = lower->size;
	n->inode.blocks = lower->blocks;
	n->inode.atime = lower->atime;
	n->inode.mtime = lower->mtime;
	n->inode.ctime = n->inode.btime = lower->ctime;
	n->inode.rdev = (dev_t)lower->rdev;
	n->inode.immutable = S_ISREG(lower->mode) && (lower->mode & 0004);
	n->xattrs_below = l->lower->ops->xattr != NULL;
	return n;
}

void lnode_destroy(struct lnode *n)
{
	struct layer *l = layer_of(n);

	/* A node that has a name goes with the whole layer, and its content is for the next
	 * time. */
	if (l->store && (n->names || n->held))
		lnode_content_close(n);
	else
		lnode_content_free(n);
	if (l->store) {
		list_remove(&n->mapped_link);
		ids_remove(&l->store->ids, n);
		if (l->store->ids_dir == n)
			l->store->ids_dir = NULL;
		store_recover_forget(l, n);
	}
	if (n->several)
		ids_remove(&l->links, n);
	if (n->origin)
		blob_free(n->origin, (size_t)n->origin_len + 1);
	ltable_fini(&n->table);
	if (n->target) {
		if (!n->lower)
			layer_uncharge_bytes(l, n->target_len);
		blob_free(n->target, (size_t)n->target_len + 1);
	}
	if (n->xattrs) {
		layer_uncharge_bytes(l, n->xattr_size);
		blob_free(n->xattrs, n->xattr_size);
	}
	if (n->lower && n->lower != l->lower->root) /* the root's is the image's own */
		CHECKED(l->lower->ops)->drop(l->lower, n->lower);
	if (n->charged_inode)
		uncharge_inode(l);
	l->used_inodes -= n->extra_links;
	list_remove(&n->all_link);
	obj_free(&lnode_type, n);
}

/* A mirror that goes lets its parent go, which may be a mirror that nobody else holds. */
static void layer_evict(struct inode *ino)
{
	struct lnode *n = lnode_of(ino), *parent = n->parent;

	if (n->home)
		ltable_remove(&parent->table, n->home);
	lnode_destroy(n);
	inode_put_parent(parent ? &parent->inode : NULL);
}

/* ---- directory operations ---- */

static int layer_lookup(struct inode *dir, const char *name, size_t len, struct inode **ret_)
{
	struct lnode *d = lnode_of(dir), *n;
	struct layer *l = layer_of(d);
	struct lentry *e = ltable_find(&d->table, name, len);
	struct image_node *lower;
	int r;

	if (e) {
		if (e->kind == ENTRY_WHITEOUT)
			return -ENOENT;
		*ret_ = inode_get(&e->node->inode);
		return 0;
	}
	if (!d->lower)
		return -ENOENT;
	r = CHECKED(l->lower->ops)->lookup(l->lower, d->lower, name, len, &lower);
	if (r < 0)
		return r;
	n = links_find(l, lower);
	if (n) {
		CHECKED(l->lower->ops)->drop(l->lower, lower);
		*ret_ = inode_get(&n->inode);
		return 0;
	}
	e = ltable_add(&d->table, name, len);
	n = e ? lnode_new_mirror(l, lower) : NULL;
	if (!n || links_add(n) < 0) {
		if (e)
			ltable_remove(&d->table, e);
		if (n)
			lnode_destroy(n);
		else
			CHECKED(l->lower->ops)->drop(l->lower, lower);
		return -ENOMEM;
	}
	e->kind = ENTRY_MIRROR;
	e->below = true;
	e->node = n;
	n->home = e;
	n->parent = d;
	inode_get(dir);
	*ret_ = &n->inode;
	return 0;
}

/* A new node with its quota, not yet linked; refs = 1. */
int node_make(struct layer *l, const struct newnode *nn, struct lnode **ret_)
{
	size_t len = S_ISLNK(nn->mode) && nn->target ? strlen(nn->target) : 0;
	struct lnode *n;
	int r = layer_charge_inode(l);

	if (r < 0)
		return r;
	n = lnode_new(l, nn->mode);
	if (!n) {
		uncharge_inode(l);
		return -ENOSPC;
	}
	n->charged_inode = true;
	n->inode.uid = nn->uid;
	n->inode.gid = nn->gid;
	n->inode.rdev = S_ISCHR(nn->mode) || S_ISBLK(nn->mode) ? nn->rdev : 0;
	if (S_ISLNK(nn->mode)) {
		r = layer_charge_bytes(l, len);
		if (r == 0) {
			n->target = blob_strndup(nn->target ? nn->target : "", len);
			if (!n->target) {
				layer_uncharge_bytes(l, len);
				r = -ENOSPC;
			}
		}
		if (r < 0) {
			lnode_destroy(n);
			return r;
		}
		n->target_len = (uint32_t)len;
		n->inode.size = len;
	}
	*ret_ = n;
	return 0;
}

static int layer_create(struct inode *dir, const char *name, size_t len, const struct newnode *nn,
			struct inode **ret_)
{
	struct lnode *n;
	int r;

	if (dir->nlink == 0)
		return -ENOENT;
	r = node_make(layer_of(lnode_of(dir)), nn, &n);
	if (r < 0)
		return r;
	r = layer_apply_add(lnode_of(dir), name, len, n);
	if (r < 0) {
		lnode_destroy(n);
		return r;
	}
	*ret_ = &n->inode;
	return 0;
}

static int layer_tmpfile(struct inode *dir, const struct newnode *nn, struct inode **ret_)
{
	struct lnode *n;
	int r = node_make(layer_of(lnode_of(dir)), nn, &n);

	if (r < 0)
		return r;
	n->inode.nlink = 0;
	*ret_ = &n->inode;
	return 0;
}

void lnode_linked(struct lnode *n, bool extra)
{
	if (extra)
		n->extra_links++;
	n->inode.nlink++;
	n->changed = n->moved = true;
	lnode_times_now(n, false);
}

/* Further names count as inodes too, or they would be memory without a limit. */
static int layer_link(struct inode *dir, const char *name, size_t len, struct inode *target)
{
	struct lnode *n = lnode_of(target);
	struct layer *l = layer_of(n);
	bool extra = target->nlink > 0;
	int r = 0;

	if (dir->nlink == 0)
		return -ENOENT;
	/* Another name of it that only the image has cannot be told to the log. */
	if (l->store && extra && !n->names && !n->home && !n->held)
		return -ENOENT;
	if (extra)
		r = layer_charge_inode(l);
	if (r < 0)
		return r;
	r = layer_apply_add(lnode_of(dir), name, len, n);
	if (r < 0) {
		if (extra)
			uncharge_inode(l);
		return r;
	}
	lnode_linked(n, extra);
	return 0;
}

/* Gives back what layer_link took. */
void uncharge_link(struct lnode *n)
{
	if (n->extra_links > 0) {
		n->extra_links--;
		uncharge_inode(layer_of(n));
	}
}

static int layer_unlink(struct inode *dir, const char *name, size_t len, struct inode *victim)
{
	struct lnode *d = lnode_of(dir), *n = lnode_of(victim);
	struct lentry *e = NULL;
	int r = 0;

	if (inode_is_dir(victim) && !lnode_dir_is_empty(n, &r))
		return -ENOTEMPTY;
	if (r < 0)
		return r;
	r = tree_entry(d, name, len, n, &e);
	if (r < 0)
		return r;
	r = layer_apply_remove(d, e, n);
	if (r == 0)
		uncharge_link(n);
	return r;
}

static int layer_rename(struct inode *odir, const char *oname, size_t olen, struct inode *moved,
			struct inode *ndir, const char *nname, size_t nlen, struct inode *victim,
			unsigned flags)
{
	struct lnode *od = lnode_of(odir), *nd = lnode_of(ndir);
	struct lnode *n = lnode_of(moved), *other = victim ? lnode_of(victim) : NULL;
	struct lentry *eo = NULL, *en = ltable_find(&nd->table, nname, nlen);
	bool exchange = flags & RENAME_EXCHANGE_;
	int r = 0;

	if ((en && en->node != other) || (exchange && !other))
		return victim || exchange ? -ENOENT : -EEXIST;
	if (moved == victim)
		return 0;
	if (ndir->nlink == 0)
		return -ENOENT;
	if (victim && !exchange) {
		if (inode_is_dir(victim) && !lnode_dir_is_empty(lnode_of(victim), &r))
			return -ENOTEMPTY;
		if (r == 0)
			r = store_sync_replacing(layer_of(od), lnode_of(moved));
		if (r < 0)
			return r;
	}
	r = tree_entry(od, oname, olen, n, &eo);
	if (r < 0)
		return r;
	r = layer_apply_rename(od, eo, n, nd, nname, nlen, other, exchange);
	if (r == 0) {
		n->moved = true;
		if (exchange)
			other->moved = true;
		else if (victim)
			uncharge_link(other);
	}
	return r;
}

/* ---- the rest ---- */

static int layer_readlink(struct inode *ino, struct task *t, char *buf, size_t size)
{
	static char text[PATH_MAX_LEN];
	struct lnode *n = lnode_of(ino);
	struct layer *l = layer_of(n);
	int r;

	(void)t;
	if (!n->target) {
		/* Kept from now on: path walks follow the same few links again and again. */
		if (!n->lower)
			return -EINVAL;
		r = CHECKED(l->lower->ops)->readlink(l->lower, n->lower, text, sizeof(text));
		if (r < 0)
			return r;
		n->target = blob_strndup(text, (size_t)r);
		if (!n->target)
			return -ENOMEM;
		n->target_len = (uint32_t)r;
	}
	size = MIN(size, (size_t)n->target_len);
	memcpy(buf, n->target, size);
	return (int)size;
}

/* The content's own time of modification is the file's, where it is ours to set. */
static int content_utime(struct lnode *n, const struct timespec *mtime)
{
	struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT }, *mtime };
	int fd = layer_hostfd(&n->inode, false);

	return fd < 0 ? fd : host_utimensat(fd, NULL, ts, 0);
}

static int apply_attr(struct lnode *n, const struct attr *a)
{
	struct layer *l = layer_of(n);
	struct timespec before = n->inode.mtime;
	bool timed =
		l->store && (a->valid & ATTR_MTIME) && n->scratch && lnode_content_is_writable(n);
	int r = log_begin(l);

	if (r == 0)
		r = layer_log_pin(n);
	if (r == 0 && timed)
		r = content_utime(n, &a->mtime);
	if (r == 0) {
		/* A file that was unlinked is nothing to the log. */
		if (n->logged || n->home)
			log_attr(l, n, a);
		r = log_commit(l, false);
		if (r < 0 && timed && content_utime(n, &before) < 0)
			store_break(l, "a file's time could not be set back", r);
	}
	if (r < 0) {
		log_abort(l);
		return r;
	}
	layer_pin(n);
	n->changed = true;
	if ((a->valid & ATTR_MTIME) && !timed)
		n->mtime_set = true;
	inode_set_attr(&n->inode, a);
	/* A descriptor that stays in runners is for those who may read the file as the image has
	 * it. */
	if (n->inode.immutable && !(n->inode.mode & 0004))
		n->inode.immutable = false;
	return 0;
}

static int layer_setattr(struct inode *ino, const struct attr *a)
{
	struct lnode *n = lnode_of(ino);
	struct attr rest = *a;
	int r = lnode_load(n);

	if (r < 0)
		return r;
	if (a->valid & ATTR_SIZE) {
		if (!inode_is_reg(ino))
			return inode_is_dir(ino) ? -EISDIR : -EINVAL;
		r = layer_apply_size(n, a->size);
		if (r < 0)
			return r;
		lnode_times_now(n, true);
		/* The host has set the time of its file, which is what counts with a disk. */
		if (layer_of(n)->store && n->scratch) {
			n->wrote = true;
			rest.valid &= ~(ATTR_SIZE | ATTR_MTIME | ATTR_CTIME);
			if (!rest.valid) {
				n->changed = true;
				return 0;
			}
			rest.valid |= ATTR_CTIME;
		}
	}
	return apply_attr(n, &rest);
}

/* What the image refuses to everybody is refused here, and not only at the first read. */
static int layer_reg_open(struct inode *ino, struct task *t, struct file *f)
{
	struct lnode *n = lnode_of(ino);
	int r;

	(void)t;
	f->ops = &layer_reg_fops;
	r = lnode_load(n);
	if (r < 0)
		return r;
	if (lnode_content_is_writable(n))
		return 0;
	if (!n->own_content && layer_of(n)->lower->guarded && !(n->lower->mode & 0004))
		return -EACCES;
	if (!(f->mode & FMODE_WRITE) || f->flags & O_TRUNC || !content_may_wait())
		return 0;
	return layer_copy_up_piece(n, UINT64_MAX);
}

/* Regular files have a table of their own: with an open op in it, FIFOs and devices would not be
 * opened by type. */
static const struct inode_ops layer_reg_iops = {
	.getattr = layer_getattr,
	.setattr = layer_setattr,
	.open = layer_reg_open,
	.hostfd = layer_hostfd,
	.hash = layer_hash,
	.getxattr = layer_getxattr,
	.setxattr = layer_setxattr,
	.listxattr = layer_listxattr,
	.evict = layer_evict,
};

static const struct inode_ops layer_iops = {
	.lookup = layer_lookup,
	.create = layer_create,
	.tmpfile = layer_tmpfile,
	.link = layer_link,
	.unlink = layer_unlink,
	.rename = layer_rename,
	.readlink = layer_readlink,
	.getattr = layer_getattr,
	.setattr = layer_setattr,
	.getxattr = layer_getxattr,
	.setxattr = layer_setxattr,
	.listxattr = layer_listxattr,
	.evict = layer_evict,
};
