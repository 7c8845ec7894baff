/* The tree of an S3 file system: what the server told lately, and what was changed here.
 *
 * The tree holds one reference of each node in it, a node one of its parent. Nodes of type
 * S3_NOTHING are remembered absences. When there are too many nodes, those that nobody holds and
 * that were told long ago are dropped. Walks are loops. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "kernel/fs/s3/s3node.h"
#include "kernel/task/clock.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define NODES_MAX 262144
#define NODES_SOFT 65536u
#define FINISH_LIMIT (600 * NSEC_PER_SEC)

OBJ_TYPE(s3node_type_, struct s3node, NODES_MAX);

static struct list *bucket_of(struct s3fs *s, const struct s3node *dir, const char *name,
			      size_t len)
{
	uint64_t h = (uint64_t)(uintptr_t)dir * 0x9e3779b97f4a7c15UL;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3UL;
	return &s->buckets[(h >> 20) % S3_BUCKETS];
}

struct s3node *s3node_find(struct s3node *dir, const char *name, size_t len)
{
	struct s3node *n;

	list_for_each(n, bucket_of(s3fs_of(dir), dir, name, len), hash_link)
		if (n->parent == dir && n->len == len && memcmp(n->name, name, len) == 0)
			return n;
	return NULL;
}

bool s3node_is_own(const struct s3node *n)
{
	return n->dirty || n->local || n->rec.op || n->req_op == S3_PUT || n->inode.writers;
}

static bool is_droppable(const struct s3node *n)
{
	return n->inode.refs == 1 && n->parent && !n->req_op && !s3node_is_own(n) &&
	       list_is_empty(&n->children) && !s3_is_fresh(n->seen_at);
}

static void shrink(struct s3fs *s)
{
	struct s3node *n, *tmp;

	if (now_mono() - s->shrunk_at < NSEC_PER_SEC)
		return;
	s->shrunk_at = now_mono();
	for (unsigned i = 0; i < S3_BUCKETS; i++)
		list_for_each_safe(n, tmp, &s->buckets[i], hash_link)
			if (is_droppable(n)) {
				n->parent->complete = false;
				s3node_cut(n);
			}
}

static struct s3node *node_new(struct s3fs *s)
{
	struct s3node *n;

	if (s->nodes > NODES_SOFT)
		shrink(s);
	n = obj_new(&s3node_type_);
	if (!n)
		return NULL;
	inode_init(&n->inode, &s->fs, &s3_iops, 0);
	n->inode.ino = ino_next();
	n->inode.uid = s->uid;
	n->inode.gid = s->gid;
	list_init(&n->hash_link);
	list_init(&n->sibling_link);
	list_init(&n->children);
	list_init(&n->cache_link);
	waitq_init(&n->q);
	n->fd = -1;
	s->nodes++;
	return n;
}

static void place(struct s3node *n, struct s3node *dir, const char *name, size_t len)
{
	struct s3fs *s = s3fs_of(n);

	inode_get(&dir->inode);
	n->parent = dir;
	n->len = (uint8_t)len;
	memcpy(n->name, name, len);
	n->name[len] = '\0';
	n->cookie = ++s->last_cookie;
	list_push(bucket_of(s, dir, name, len), &n->hash_link);
	list_append(&dir->children, &n->sibling_link);
}

static void unplace(struct s3node *n)
{
	struct s3node *dir = n->parent;

	list_remove(&n->hash_link);
	list_remove(&n->sibling_link);
	n->parent = NULL;
	inode_put(&dir->inode);
}

struct s3node *s3node_add(struct s3node *dir, const char *name, size_t len)
{
	struct s3node *n = node_new(s3fs_of(dir));

	if (n)
		place(n, dir, name, len);
	return n;
}

void s3node_type(struct s3node *n, enum s3_type type)
{
	n->type = type;
	n->complete = n->marker = false;
	n->listed_at = 0;
	n->inode.mode = type == S3_DIR ? S_IFDIR | 0755 : type == S3_FILE ? S_IFREG | 0644 : 0;
	n->inode.nlink = type == S3_DIR ? 2 : 1;
	n->inode.fops = type == S3_DIR ? &s3_dir_fops : &s3_reg_fops;
	n->inode.size = n->inode.blocks = 0;
	inode_touch(&n->inode);
}

void s3node_cut(struct s3node *top)
{
	struct s3node *n = top, *up;

	if (!top->parent)
		return;
	/* From the leaves up, so that no end of a parent ends another. */
	for (;;) {
		while (!list_is_empty(&n->children))
			n = list_first(&n->children, struct s3node, sibling_link);
		up = n->parent;
		n->dirty = n->map_written = false;
		n->inode.nlink = 0;
		inode_touch(&n->inode);
		unplace(n); /* top and what is above it are held by their own places */
		inode_put(&n->inode);
		if (n == top)
			return;
		n = up;
	}
}

void s3node_move(struct s3node *n, struct s3node *dir, const char *name, size_t len)
{
	unplace(n);
	place(n, dir, name, len);
}

void s3node_free(struct s3node *n)
{
	s3_content_drop(n);
	waitq_fini(&n->q);
	s3fs_of(n)->nodes--;
	obj_free(&s3node_type_, n);
}

/* Is something at or below it that was changed here? */
static bool holds_own(struct s3node *top)
{
	struct s3node *n = top;

	for (;;) {
		if (s3node_is_own(n) || (n->req_op && n != top))
			return true;
		if (!list_is_empty(&n->children)) {
			n = list_first(&n->children, struct s3node, sibling_link);
			continue;
		}
		while (n != top && n->sibling_link.next == &n->parent->children)
			n = n->parent;
		if (n == top)
			return false;
		n = list_entry(n->sibling_link.next, struct s3node, sibling_link);
	}
}

/* A node of another type takes the place of n. Returns it, or NULL: no memory. */
static struct s3node *replace(struct s3node *n, enum s3_type type)
{
	struct s3node *dir = n->parent, *fresh = n;

	/* Nobody has the inode of what was not there. */
	if (n->type != S3_NOTHING) {
		fresh = s3node_add(dir, n->name, n->len);
		if (!fresh)
			return NULL;
		fresh->named_gen = n->named_gen;
		s3node_cut(n);
	}
	s3node_type(fresh, type);
	return fresh;
}

void s3node_told(struct s3node *n, enum s3_type type, uint64_t size, int64_t mtime, uint64_t etag)
{
	n->seen_at = now_mono();
	if (s3node_is_own(n) || !n->parent)
		return;
	if (n->type != type) {
		if (n->type == S3_DIR && holds_own(n))
			return;
		n = replace(n, type);
		if (!n)
			return;
		n->seen_at = now_mono();
	}
	if (type != S3_FILE)
		return;
	if (n->etag != etag || n->inode.size != size)
		s3_content_drop(n);
	n->etag = etag;
	n->inode.size = size;
	n->inode.blocks = (size + 511) / 512;
	if (mtime)
		n->inode.mtime = n->inode.ctime = n->inode.atime = n->inode.btime =
			(struct timespec){ .tv_sec = mtime };
	inode_touch(&n->inode);
}

int s3node_key(const struct s3node *n, char *buf, size_t size, size_t *ret_len)
{
	size_t at = size;

	for (; n->parent; n = n->parent) {
		if (at < (size_t)n->len + 1)
			return -ENAMETOOLONG;
		at -= n->len;
		memcpy(buf + at, n->name, n->len);
		if (n->parent->parent)
			buf[--at] = '/';
	}
	*ret_len = size - at;
	memmove(buf, buf + at, size - at);
	return 0;
}

/* ---- the file system ---- */

OBJ_TYPE(s3fs_type, struct s3fs, 32);

static void s3_statfs(const struct inode *ino, struct fs_stat *out)
{
	(void)ino;
	out->type = 0x53334653; /* "S3FS" */
	out->blocks = out->bfree = 1UL << 38; /* a pebibyte: nobody knows how much there is */
}

/* All that is dirty, on its way; waits for one of them. */
static int s3_sync(struct fs *fs)
{
	struct s3fs *s = (struct s3fs *)fs;
	struct s3node *n;
	int r;

	for (unsigned i = 0; i < S3_BUCKETS; i++)
		list_for_each(n, &s->buckets[i], hash_link) {
			if (!n->dirty)
				continue;
			r = s3_upload(n);
			if (r < 0)
				return r;
		}
	return 0;
}

static void s3_drop(struct fs *fs, unsigned what)
{
	struct s3fs *s = (struct s3fs *)fs;

	if (what & DROP_CONTENTS)
		s3_contents_drop(s);
	if (what & DROP_NODES)
		shrink(s);
}

static void s3_free(struct fs *fs)
{
	fs_waiting--;
	obj_free(&s3fs_type, (struct s3fs *)fs);
}

static const struct fs_ops s3_fs_ops = {
	.statfs = s3_statfs,
	.sync = s3_sync,
	.drop = s3_drop,
	.free = s3_free,
};

struct fs *s3fs_new(int sock, bool readonly, uint32_t uid, uint32_t gid)
{
	struct s3fs *s = obj_new(&s3fs_type);
	struct s3node *root;

	if (!s)
		return NULL;
	fs_init(&s->fs, &s3_fs_ops, "s3");
	s->fs.nocache = true;
	s->fs.waits = true;
	s->fs.readonly = readonly;
	s->sock = sock;
	s->uid = uid;
	s->gid = gid;
	s->last_cookie = 2; /* "." and ".." */
	list_init(&s->pending);
	list_init(&s->unsent);
	list_init(&s->cached);
	for (unsigned i = 0; i < S3_BUCKETS; i++)
		list_init(&s->buckets[i]);
	root = node_new(s);
	if (!root || s3_watch(s) < 0) {
		obj_free(&s3fs_type, s);
		return NULL;
	}
	s3node_type(root, S3_DIR);
	s->fs.root = &root->inode;
	fs_waiting++;
	return &s->fs;
}

/* Starts what is not uploaded yet; false: nothing was left. */
static bool uploads_start(struct s3fs *s)
{
	struct s3node *n;
	bool any = false;

	for (unsigned i = 0; i < S3_BUCKETS; i++)
		list_for_each(n, &s->buckets[i], hash_link) {
			if (!n->dirty || n->tried || n->req_op)
				continue;
			n->tried = true;
			any |= s3_upload_start(n) == 0;
		}
	return any;
}

void s3fs_finish(struct fs *fs)
{
	struct s3fs *s = (struct s3fs *)fs;
	int64_t end;

	if (fs->ops != &s3_fs_ops)
		return;
	end = now_mono() + FINISH_LIMIT;
	while (!s->dead && (uploads_start(s) || !s3_is_settled(s)) && now_mono() < end)
		while (!s->dead && !s3_is_settled(s) && now_mono() < end)
			s3_pump(s);
	if (!s->dead && !s3_is_settled(s))
		log_warn("the cell ends although S3 has not taken all of its files yet");
}
