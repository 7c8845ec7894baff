/* A layer as a file system: its making, its figures, its end, and the list of what was changed. See
 * node.h. */
#include "kernel/fs/layer/layer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/fs/layer/store.h"
#include "kernel/platform/cell.h"
#include "kernel/task/clock.h"
#include "kernel/task/timer.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/path.h"

OBJ_TYPE(layer_type, struct layer, 256);

/* Without a limit of its own it is as large as what it is on: with a disk the host's file system,
 * else what is left of the scratch directory. */
static void layer_statfs(const struct inode *ino, struct fs_stat *out)
{
	struct layer *l = (struct layer *)ino->fs;
	uint64_t bytes = l->max_bytes, inodes = l->max_inodes;
	uint64_t free_bytes = bytes ? layer_room(l, UINT64_MAX) : 0;
	uint64_t free_inodes = inodes - MIN(l->used_inodes, inodes);
	int fd = l->store ? l->store->data_fd : cell.scratch_fd;
	struct statfs st;

	out->type = l->lower || l->store ? OVERLAYFS_MAGIC_ : TMPFS_MAGIC_;
	if ((!bytes || !inodes) && host_fstatfs(fd, &st) == 0) {
		uint64_t unit = (uint64_t)st.f_bsize;

		if (!bytes) {
			free_bytes =
				(l->store ? (uint64_t)st.f_bavail : (uint64_t)st.f_bfree) * unit;
			bytes = l->store ? (uint64_t)st.f_blocks * unit
					 : free_bytes + l->used_bytes;
		}
		if (!inodes) {
			free_inodes = st.f_ffree;
			inodes = l->store ? st.f_files : free_inodes + l->used_inodes;
		}
	}
	out->blocks = bytes / PAGE_SIZE;
	out->bfree = free_bytes / PAGE_SIZE;
	out->files = inodes;
	out->ffree = free_inodes;
}

/* Nobody can reach any of it any more, so no counts are kept: everything goes. False: there is more
 * than fits into this turn. */
static bool nodes_end(struct layer *l)
{
	for (uint32_t i = 1; !list_is_empty(&l->nodes); i++) {
		lnode_destroy(list_first(&l->nodes, struct lnode, all_link));
		if (i % 16 == 0 && turn_is_long())
			return list_is_empty(&l->nodes);
	}
	return true;
}

static void layer_end(struct layer *l)
{
	ids_free(&l->links);
	store_close(l);
	if (l->lower)
		CHECKED(l->lower->ops)->free(l->lower);
	obj_free(&layer_type, l);
}

/* Those that have more nodes than fit into one turn. */
static struct list ending = LIST_INIT(ending);

static void ending_go_on(struct ktimer *timer)
{
	while (!list_is_empty(&ending)) {
		struct layer *l = list_first(&ending, struct layer, ending_link);

		if (!nodes_end(l)) { /* there is room for the timer: it has just run */
			(void)ktimer_start(timer, now_mono() + 1);
			return;
		}
		list_remove(&l->ending_link);
		layer_end(l);
	}
}
KTIMER(ending_timer, ending_go_on);

static void layer_free(struct fs *fs)
{
	struct layer *l = (struct layer *)fs;

	if (!nodes_end(l)) {
		/* A disk goes only with its cell, or after a start that failed. */
		if (!l->store && (ktimer_is_started(&ending_timer) ||
				  ktimer_start(&ending_timer, now_mono() + 1) == 0)) {
			list_append(&ending, &l->ending_link);
			return;
		}
		while (!nodes_end(l))
			;
	}
	layer_end(l);
}

static int layer_sync(struct fs *fs)
{
	struct layer *l = (struct layer *)fs;

	return l->store ? store_sync_all(l) : 0;
}

/* The nodes that mirror the image's go with the names that hold them. */
static void layer_drop(struct fs *fs, unsigned what)
{
	(void)fs;
	if (what & DROP_CONTENTS)
		layer_content_forget();
}

static const struct fs_ops layer_fs_ops = {
	.statfs = layer_statfs,
	.sync = layer_sync,
	.drop = layer_drop,
	.free = layer_free,
};

void layer_usage_get(struct fs *fs, struct layer_usage *out)
{
	const struct layer *l = (const struct layer *)fs;

	*out = (struct layer_usage){ 0 };
	if (!fs || fs->ops != &layer_fs_ops)
		return;
	*out = (struct layer_usage){ .bytes = l->used_bytes,
				     .max_bytes = l->max_bytes,
				     .inodes = l->used_inodes,
				     .max_inodes = l->max_inodes,
				     .bytes_refused = l->bytes_refused,
				     .inodes_refused = l->inodes_refused };
}

void layer_limits_set(struct fs *fs, uint64_t max_bytes, uint64_t max_inodes)
{
	struct layer *l = (struct layer *)fs;

	if (!fs || fs->ops != &layer_fs_ops)
		return;
	l->max_bytes = max_bytes;
	l->max_inodes = max_inodes;
}

static struct layer *layer_make(struct image *lower, uint64_t max_bytes, uint64_t max_inodes,
				const char *type_name)
{
	struct layer *l = obj_new(&layer_type);
	struct lnode *root;

	if (!l)
		return NULL;
	layer_content_init();
	fs_init(&l->fs, &layer_fs_ops, type_name);
	l->fs.stable = true;
	l->lower = lower;
	l->max_bytes = max_bytes;
	l->max_inodes = max_inodes;
	l->ino_base = lower ? IMAGE_INO_END : 0;
	l->next_id = 1;
	list_init(&l->nodes);
	list_init(&l->ending_link);
	l->links.by = IDS_BY_IMAGE;
	root = lower ? lnode_new_mirror(l, lower->root) : lnode_new(l, S_IFDIR | 01777);
	if (!root) {
		obj_free(&layer_type, l);
		return NULL;
	}
	root->id = 1;
	root->logged = true;
	l->next_id = 2;
	l->fs.root = &root->inode;
	return l;
}

struct fs *layer_new(struct image *lower, uint64_t max_bytes, uint64_t max_inodes,
		     const char *type_name)
{
	struct layer *l = layer_make(lower, max_bytes, max_inodes, type_name);

	return l ? &l->fs : NULL;
}

int layer_new_on_disk(struct image *lower, const struct layer_disk *disk, uint64_t max_bytes,
		      uint64_t max_inodes, const char *type_name, struct fs **ret_, char *why,
		      size_t why_size)
{
	struct layer *l = layer_make(lower, max_bytes, max_inodes, type_name);
	int r;

	snprintf(why, why_size, "no memory");
	if (!l)
		return -ENOMEM;
	if (!lower)
		l->fs.root->mode = S_IFDIR | 0755;
	r = store_open(l, disk, why, why_size);
	if (r < 0) {
		l->replay_time = 0;
		fs_put(&l->fs);
		return r;
	}
	*ret_ = &l->fs;
	return 0;
}

/* The last record says what was used, so that nothing has to be counted at the next start. */
void layer_finish(struct fs *fs)
{
	struct layer *l = (struct layer *)fs;
	struct lstore *s = fs->ops == &layer_fs_ops ? l->store : NULL;
	struct lnode *n;

	if (!s || s->log.fd < 0 || s->broken)
		return;
	content_settle_all(l); /* what it frees is counted */
	while (store_recover_step(l))
		;
	/* Files without a name go now; the next start looks for none. A sync that this waits for
	 * may end nodes. */
	s->recount_at = list_first(&l->nodes, struct lnode, all_link);
	while ((n = store_recount_next(l))) {
		if (n->names || n->held || !n->scratch)
			continue;
		inode_get(&n->inode);
		lnode_content_free(n);
		inode_put(&n->inode);
	}
	if (s->clean && !s->ngraves)
		return;
	if (((s->ngraves || s->unborn) && log_sync(l) < 0) || log_begin(l) < 0)
		return;
	log_clean(l);
	if (log_commit(l, true) == 0)
		s->clean = true;
}

int layer_sync_names(struct fs *fs)
{
	struct layer *l = (struct layer *)fs;

	if (fs->ops != &layer_fs_ops || !l->store || l->store->readonly)
		return 0;
	return store_sync_names(l);
}

/* ---- what was changed ---- */

struct walk_level {
	struct lnode *dir;
	struct list *at; /* the entry to look at next */
	uint32_t path_len;
};

#define WALK_DEPTH (PATH_MAX_LEN / 2)

/* 'A', 'C', 'D', or 0 for an entry that is as the image has it. */
static char entry_change(const struct lentry *e)
{
	if (e->kind == ENTRY_WHITEOUT)
		return 'D';
	if (e->kind == ENTRY_MIRROR)
		return 0;
	if (!e->node->lower || e->node->moved)
		return e->below ? 'C' : 'A';
	return e->node->changed ? 'C' : 0;
}

/* One step: looks at the next entry of the top level. Returns the directory to go down into, or
 * NULL. */
static struct lnode *walk_entry(struct walk_level *top, char *path, uint32_t *ret_len,
				void (*fn)(void *, char, const char *), void *arg)
{
	struct lentry *e = list_entry(top->at, struct lentry, order);
	char kind = entry_change(e);

	top->at = top->at->next;
	if (top->path_len + 1 + e->len + 1 > PATH_MAX_LEN)
		return NULL;
	path[top->path_len] = '/';
	memcpy(path + top->path_len + 1, e->str, (size_t)e->len + 1);
	if (kind)
		fn(arg, kind, path);
	if (e->kind == ENTRY_WHITEOUT || !inode_is_dir(&e->node->inode))
		return NULL;
	*ret_len = top->path_len + 1 + e->len;
	return e->node;
}

void layer_changes(struct fs *fs, void (*fn)(void *arg, char kind, const char *path), void *arg)
{
	static char path[PATH_MAX_LEN];
	struct walk_level *levels = blob_new(WALK_DEPTH * sizeof(*levels));
	struct lnode *root = lnode_of(fs->root);
	uint32_t depth = 1;

	if (!levels)
		return;
	levels[0] = (struct walk_level){ root, root->table.order.next, 0 };
	while (depth > 0) {
		struct walk_level *top = &levels[depth - 1];
		struct lnode *down;
		uint32_t len = 0;

		if (top->at == &top->dir->table.order) {
			depth--;
			continue;
		}
		down = walk_entry(top, path, &len, fn, arg);
		if (down && depth < WALK_DEPTH)
			levels[depth++] = (struct walk_level){ down, down->table.order.next, len };
	}
	blob_free(levels, WALK_DEPTH * sizeof(*levels));
}
