/* Listing a directory of a layer: names of the layer and of the image, merged.
 *
 * The names are collected at the first read (and again after a rewind to 0) and kept with the open
 * file, so a position is simply an index: 0 is ".", 1 is "..", n + 2 the n-th name, and no name is
 * seen twice or missed while others come and go. A name that was removed since is left out when its
 * turn comes. */
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/fs/layer/store.h"
#include "kernel/vfs/dir.h"
#include "kernel/vfs/file.h"

struct listing {
	char *buf; /* blob of cap bytes: ino (8), type (1), lower (1), length (1), name; again */
	size_t len, cap;
	uint32_t *at; /* blob of at_cap offsets */
	uint32_t count, at_cap;
};

#define RECORD_HEAD 11

OBJ_TYPE(listing_type, struct listing, 0);

static void listing_clear(struct listing *ls)
{
	if (ls->buf)
		blob_free(ls->buf, ls->cap);
	if (ls->at)
		blob_free(ls->at, ls->at_cap * sizeof(*ls->at));
	memset(ls, 0, sizeof(*ls));
}

static bool grow(void **blob, size_t old, size_t size)
{
	void *p;

	if (size > BLOB_MAX)
		return false;
	p = *blob ? blob_resize(*blob, old, size) : blob_new(size);
	if (!p)
		return false;
	*blob = p;
	return true;
}

static bool listing_add(struct listing *ls, const char *name, size_t len, uint64_t ino,
			unsigned dtype, bool lower)
{
	char *p;

	if (ls->len + RECORD_HEAD + len > ls->cap) {
		size_t cap = ls->cap ? ls->cap * 2 : 2048;

		if (!grow((void **)&ls->buf, ls->cap, cap))
			return false;
		ls->cap = cap;
	}
	if (ls->count == ls->at_cap) {
		uint32_t cap = ls->at_cap ? ls->at_cap * 2 : 128;

		if (!grow((void **)&ls->at, ls->at_cap * sizeof(*ls->at), cap * sizeof(*ls->at)))
			return false;
		ls->at_cap = cap;
	}
	ls->at[ls->count++] = (uint32_t)ls->len;
	p = ls->buf + ls->len;
	memcpy(p, &ino, 8);
	p[8] = (char)dtype;
	p[9] = lower;
	p[10] = (char)len;
	memcpy(p + RECORD_HEAD, name, len);
	ls->len += RECORD_HEAD + len;
	return true;
}

struct merge_sink {
	struct image_sink sink;
	struct listing *ls;
	struct lnode *dir;
	bool failed;
};

static bool merge_emit(struct image_sink *s, const char *name, size_t len, uint64_t ino,
		       unsigned dtype)
{
	struct merge_sink *ms = (struct merge_sink *)s;
	struct lentry *e = ltable_find(&ms->dir->table, name, len);

	if (e && e->kind != ENTRY_MIRROR)
		return true;
	if (!listing_add(ms->ls, name, len, ino, dtype, true))
		ms->failed = true;
	return !ms->failed;
}

static unsigned dtype_of(const struct inode *ino)
{
	return (ino->mode & S_IFMT) >> 12;
}

static int listing_fill(struct listing *ls, struct lnode *dir)
{
	struct image *img = layer_of(dir)->lower;
	struct merge_sink ms = { .sink = { merge_emit }, .ls = ls, .dir = dir };
	struct lentry *e;
	int r;

	listing_clear(ls);
	list_for_each(e, &dir->table.order, order)
		if (e->kind == ENTRY_OWN && !listing_add(ls, e->str, e->len, e->node->inode.ino,
							 dtype_of(&e->node->inode), false))
			return -ENOMEM;
	if (!dir->lower)
		return 0;
	r = CHECKED(img->ops)->iterate(img, dir->lower, &ms.sink);
	return ms.failed ? -ENOMEM : r;
}

/* false: the sink is full. */
static bool record_emit(struct listing *ls, uint32_t i, struct lnode *dir, struct dirsink *sink)
{
	const char *p = ls->buf + ls->at[i];
	size_t len = (uint8_t)p[10];
	const char *name = p + RECORD_HEAD;
	struct lentry *e = ltable_find(&dir->table, name, len);
	unsigned dtype = (uint8_t)p[8];
	uint64_t ino;

	memcpy(&ino, p, 8);
	if (e ? e->kind == ENTRY_WHITEOUT : !p[9])
		return true;
	if (e) {
		ino = e->node->inode.ino;
		dtype = dtype_of(&e->node->inode);
	}
	return dirsink_emit(sink, name, len, ino, dtype, (int64_t)i + 3);
}

static int layer_iterate(struct file *f, struct dirsink *sink)
{
	struct lnode *dir = lnode_of(f->inode);
	struct listing *ls = f->priv;
	int r;

	if (dir->inode.nlink == 0)
		return -ENOENT;
	if (!ls || f->pos == 0) {
		if (!ls)
			f->priv = ls = obj_new(&listing_type);
		if (!ls)
			return -ENOMEM;
		r = listing_fill(ls, dir);
		if (r < 0) {
			listing_clear(ls);
			return r;
		}
	}
	if (f->pos < 0)
		return -EINVAL;
	if (!dirsink_dots(sink, f))
		return 0;
	while (f->pos - 2 < (int64_t)ls->count) {
		if (!record_emit(ls, (uint32_t)(f->pos - 2), dir, sink))
			return 0;
		f->pos++;
	}
	return 0;
}

static int64_t layer_dir_read(struct file *f, struct uio *u, int64_t pos)
{
	(void)f;
	(void)u;
	(void)pos;
	return -EISDIR;
}

static int layer_dir_fsync(struct file *f, bool data_only)
{
	struct layer *l = layer_of(lnode_of(f->inode));

	(void)data_only;
	return l->store && !l->store->readonly ? store_sync_names(l) : 0;
}

static void layer_dir_release(struct file *f)
{
	struct listing *ls = f->priv;

	if (!ls)
		return;
	listing_clear(ls);
	obj_free(&listing_type, ls);
	f->priv = NULL;
}

const struct file_ops layer_dir_fops = {
	.read = layer_dir_read,
	.iterate = layer_iterate,
	.fsync = layer_dir_fsync,
	.release = layer_dir_release,
};
