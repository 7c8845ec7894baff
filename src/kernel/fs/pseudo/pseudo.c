/* File systems made of tables: inodes and directories of the rows that pseudo.h describes.
 *
 * Live inodes are found again in one hash table, so an inode is stable while anyone holds it; it
 * is dropped with its last reference and made anew from its row. There is nothing to write back:
 * what can be changed is changed by store().
 * Left out: creating, removing and renaming entries, hard links, extended attributes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/arena.h"
#include "base/program.h"
#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/fs/pseudo/pseudo_file.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/upcalls.h"

OBJ_TYPE(pinode_type, struct pinode, 0);
OBJ_TYPE(pseudo_fs_type, struct pseudo_fs, 0);

#define PINODE_BUCKETS 256
static struct list pinode_table[PINODE_BUCKETS];

static const struct inode_ops dir_ops, file_ops_, link_ops, magic_ops;
static const struct file_ops dir_fops;

static uint64_t key_hash(const struct fs *fs, const struct pnode *node, uint64_t id, uint64_t sub)
{
	uint64_t h = 0xcbf29ce484222325UL;
	const uint64_t parts[4] = { fs->dev, (uint64_t)(uintptr_t)node, id, sub };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		h ^= parts[i];
		h *= 0x9e3779b97f4a7c15UL;
		h ^= h >> 29;
	}
	return h;
}

struct pinode *pinode_of(struct inode *ino)
{
	if (ino->ops == &dir_ops || ino->ops == &file_ops_ || ino->ops == &link_ops ||
	    ino->ops == &magic_ops)
		return container_of(ino, struct pinode, inode);
	return NULL;
}

static struct pseudo_fs *pfs_of(struct pinode *pi)
{
	return container_of(pi->inode.fs, struct pseudo_fs, fs);
}

static uint32_t node_nlink(const struct pnode *node)
{
	uint32_t n = 2;

	if (!S_ISDIR(node->mode))
		return 1;
	for (const struct pnode *c = node->children; c && c->name; c++)
		n += S_ISDIR(c->mode);
	return n;
}

struct inode *pseudo_inode(struct fs *fs, const struct pnode *node, uint64_t id, uint64_t sub,
			   uint64_t gen)
{
	uint64_t h = key_hash(fs, node, id, sub);
	struct list *head = &pinode_table[h % PINODE_BUCKETS];
	const struct inode_ops *ops = &file_ops_;
	struct pinode *pi;

	if (!head->next)
		list_init(head);
	list_for_each(pi, head, link)
		if (pi->node == node && pi->id == id && pi->sub == sub && pi->gen == gen &&
		    pi->inode.fs == fs) {
			/* Somebody holds it, from a time when its object may have had another
			 * owner. */
			if (pfs_of(pi)->refresh)
				(*CHECKED(pfs_of(pi)->refresh))(pi);
			return inode_get(&pi->inode);
		}
	pi = obj_new(&pinode_type);
	if (!pi)
		return NULL;
	if (S_ISDIR(node->mode))
		ops = &dir_ops;
	else if (S_ISLNK(node->mode))
		ops = node->follow ? &magic_ops : &link_ops;
	inode_init(&pi->inode, fs, ops, node->mode);
	pi->inode.ino = (h & 0x7fffffff) | 0x100000000UL;
	pi->inode.nlink = node_nlink(node);
	pi->inode.rdev = pnode_is_device(node) ? node->rdev : 0;
	if (S_ISDIR(node->mode))
		pi->inode.fops = &dir_fops;
	else if (S_ISREG(node->mode))
		pi->inode.fops = node->fops ? node->fops : &pseudo_fops;
	pi->inode.fixed = node->fixed;
	pi->inode.strict = node->strict;
	if (S_ISLNK(node->mode) && node->text && !fs->nocache)
		pi->inode.size = strlen(node->text);
	pi->node = node;
	pi->id = id;
	pi->sub = sub;
	pi->gen = gen;
	list_push(head, &pi->link);
	if (pfs_of(pi)->refresh)
		(*CHECKED(pfs_of(pi)->refresh))(pi);
	return &pi->inode;
}

static void pinode_evict(struct inode *ino)
{
	struct pinode *pi = container_of(ino, struct pinode, inode);

	list_remove(&pi->link);
	obj_free(&pinode_type, pi);
}

static int pinode_getattr(struct inode *ino)
{
	struct pinode *pi = container_of(ino, struct pinode, inode);

	if (S_ISREG(ino->mode))
		ino->size = pfs_of(pi)->file_size; /* whatever was written to it */
	/* An open file of an object that is gone can still be asked. */
	if (pfs_of(pi)->refresh)
		(*CHECKED(pfs_of(pi)->refresh))(pi);
	return 0;
}

/* Truncating to write and setting times succeed without effect, as on Linux's own. */
static int pinode_setattr(struct inode *ino, const struct attr *a)
{
	struct pinode *pi = container_of(ino, struct pinode, inode);

	if (!(a->valid & (ATTR_MODE | ATTR_UID | ATTR_GID)))
		return 0;
	if (!pfs_of(pi)->attr_kept)
		return -EPERM;
	if (a->valid & ATTR_MODE)
		ino->mode = (ino->mode & S_IFMT) | (a->mode & 07777);
	if (a->valid & ATTR_UID)
		ino->uid = a->uid;
	if (a->valid & ATTR_GID)
		ino->gid = a->gid;
	return 0;
}

static int pinode_lookup(struct inode *dir, const char *name, size_t len, struct inode **ret_)
{
	struct pinode *pi = container_of(dir, struct pinode, inode);
	struct pentry e;
	char text[sizeof(e.name)];
	int err;

	if (pfs_of(pi)->refresh) {
		err = (*CHECKED(pfs_of(pi)->refresh))(pi);
		if (err)
			return -ENOENT;
	}
	for (const struct pnode *c = pi->node->children; c && c->name; c++) {
		if (strlen(c->name) != len || memcmp(c->name, name, len) != 0)
			continue;
		*ret_ = pnode_is_device(c) && c->inode ? c->inode() : NULL;
		if (*ret_)
			return 0;
		*ret_ = pseudo_inode(dir->fs, c, pi->id, pi->sub, pi->gen);
		return *ret_ ? 0 : -ENOMEM;
	}
	if (!pi->node->dir || len >= sizeof(text))
		return -ENOENT;
	memcpy(text, name, len);
	text[len] = 0;
	memset(&e, 0, sizeof(e));
	err = CHECKED(pi->node)->dir->find(pi, text, &e);
	if (err)
		return err;
	*ret_ = pseudo_inode(dir->fs, e.node, e.id, e.sub, e.gen);
	return *ret_ ? 0 : -ENOMEM;
}

static int pinode_readlink(struct inode *ino, struct task *t, char *buf, size_t size)
{
	struct pinode *pi = container_of(ino, struct pinode, inode);
	size_t len;

	if (pi->node->readlink)
		return CHECKED(pi->node)->readlink(pi, t, buf, size);
	if (!pi->node->text)
		return -EINVAL;
	len = MIN(strlen(pi->node->text), size);
	memcpy(buf, pi->node->text, len);
	return (int)len;
}

static int pinode_follow(struct inode *ino, struct task *t, struct path *ret_)
{
	struct pinode *pi = container_of(ino, struct pinode, inode);

	return CHECKED(pi->node)->follow(pi, t, ret_);
}

static int pinode_open(struct inode *ino, struct task *t, struct file *f)
{
	struct pinode *pi = container_of(ino, struct pinode, inode);
	int err = 0;

	if (pfs_of(pi)->refresh)
		err = (*CHECKED(pfs_of(pi)->refresh))(pi);
	if (!err && S_ISREG(pi->node->mode) && (f->flags & O_ACCMODE) != O_RDONLY &&
	    !pi->node->store && !pi->node->fops)
		err = -EACCES;
	if (!err && pi->node->may_open)
		err = CHECKED(pi->node)->may_open(pi, t, f->flags);
	if (err)
		return err;
	if (pnode_is_device(pi->node))
		return vfs_upcalls.dev_open ? vfs_upcalls.dev_open(ino, t, f) : -ENXIO;
	f->ops = ino->fops ? ino->fops : &pseudo_fops;
	if (f->ops == &pseudo_fops) {
		if (pi->node->watch)
			err = pseudo_watch_begin(f, pi->node->watch);
		if (pi->node->watch || !pi->id || !pfs_of(pi)->objects_unwatched)
			f->ops = &pseudo_watch_fops;
	}
	return err;
}

static const struct inode_ops dir_ops = {
	.lookup = pinode_lookup,
	.getattr = pinode_getattr,
	.setattr = pinode_setattr,
	.open = pinode_open,
	.evict = pinode_evict,
};

static const struct inode_ops file_ops_ = {
	.getattr = pinode_getattr,
	.setattr = pinode_setattr,
	.open = pinode_open,
	.evict = pinode_evict,
};

static const struct inode_ops link_ops = {
	.readlink = pinode_readlink,
	.getattr = pinode_getattr,
	.setattr = pinode_setattr,
	.evict = pinode_evict,
};

static const struct inode_ops magic_ops = {
	.readlink = pinode_readlink,
	.follow = pinode_follow,
	.getattr = pinode_getattr,
	.setattr = pinode_setattr,
	.evict = pinode_evict,
};

/* ---- directory listings ---- */

void pwalk_offer(struct pwalk *w, uint64_t n)
{
	uint32_t i;

	if (n < w->cursor)
		return;
	if (w->have == ARRAY_LEN(w->batch)) {
		if (n > w->batch[w->have - 1])
			return;
		w->have--;
	}
	/* Numbers mostly come in rising order: look for the place from the end. */
	for (i = w->have; i > 0 && w->batch[i - 1] > n; i--)
		w->batch[i] = w->batch[i - 1];
	w->batch[i] = n;
	w->have++;
}

bool pwalk_take(struct pwalk *w)
{
	while (w->used < w->have) {
		uint64_t n = w->batch[w->used++];

		if (n >= w->cursor) {
			w->cursor = n;
			return true;
		}
	}
	return false;
}

static unsigned mode_dtype(uint32_t mode)
{
	return (mode & S_IFMT) >> 12;
}

static uint64_t entry_ino(struct fs *fs, const struct pnode *node, uint64_t id, uint64_t sub)
{
	return (key_hash(fs, node, id, sub) & 0x7fffffff) | 0x100000000UL;
}

/* Positions: 0 ".", 1 "..", then the rows, then the pdir's entries by their number. */
static int dir_iterate(struct file *f, struct dirsink *sink)
{
	struct pinode *pi = container_of(f->inode, struct pinode, inode);
	struct fs *fs = f->inode->fs;
	struct pwalk w = { 0 };
	struct pentry e;
	int64_t rows = 0;

	if (pfs_of(pi)->refresh && (*CHECKED(pfs_of(pi)->refresh))(pi) != 0)
		return -ENOENT;
	if (f->pos < 0)
		return -EINVAL;
	if (!dirsink_dots(sink, f))
		return 0;
	for (const struct pnode *c = pi->node->children; c && c->name; c++, rows++) {
		if (f->pos > 2 + rows)
			continue;
		if (!dirsink_emit(sink, c->name, strlen(c->name), entry_ino(fs, c, pi->id, pi->sub),
				  mode_dtype(c->mode), 3 + rows))
			return 0;
		f->pos = 3 + rows;
	}
	if (!pi->node->dir)
		return 0;
	w.cursor = (uint64_t)(f->pos - 2 - rows);
	for (;;) {
		memset(&e, 0, sizeof(e));
		if (CHECKED(pi->node)->dir->next(pi, &w, &e) != 0)
			return 0;
		w.cursor++;
		if (!dirsink_emit(sink, e.name, strlen(e.name), entry_ino(fs, e.node, e.id, e.sub),
				  mode_dtype(e.node->mode), 2 + rows + (int64_t)w.cursor))
			return 0;
		f->pos = 2 + rows + (int64_t)w.cursor;
	}
}

static const struct file_ops dir_fops = {
	.iterate = dir_iterate,
};

/* ---- file systems ---- */

static void pseudo_statfs(const struct inode *ino, struct fs_stat *out)
{
	out->type = container_of(ino->fs, struct pseudo_fs, fs)->type;
}

static void pseudo_free(struct fs *fs)
{
	if (fs->root)
		inode_put(fs->root);
	obj_free(&pseudo_fs_type, container_of(fs, struct pseudo_fs, fs));
}

static const struct fs_ops pseudo_fs_ops = {
	.statfs = pseudo_statfs,
	.free = pseudo_free,
};

struct pseudo_fs *pseudo_new(const char *type_name, uint64_t type, const struct pnode *root)
{
	struct pseudo_fs *pfs = obj_new(&pseudo_fs_type);

	if (!pfs)
		return NULL;
	fs_init(&pfs->fs, &pseudo_fs_ops, type_name);
	pfs->fs.single = true;
	pfs->type = type;
	pfs->fs.root = pseudo_inode(&pfs->fs, root, 0, 0, 0);
	if (!pfs->fs.root) {
		obj_free(&pseudo_fs_type, pfs);
		return NULL;
	}
	return pfs;
}
