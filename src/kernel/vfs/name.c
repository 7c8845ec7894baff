/* The name cache: one tree of names, found through one hash table over (parent, string).
 *
 * A name that somebody holds (a path, a child, a mount) has refs > 0. One that nobody holds stays
 * in the table and on the LRU list, oldest first, until name_prune() drops it; as children hold
 * their parents, only leaves are ever on that list. Dropping a leaf may free its parent for the
 * list: all this is loops, never recursion.
 *
 * A name leaves the table ("unhashed") when it is deleted or turned out to be stale; it then lives
 * on for those who hold it and keeps its parent, so that ".." and its text still work. Names of
 * file systems that change by themselves (fs->nocache) are in the table only while somebody holds
 * them, and are asked for again at each look-up.
 *
 * A look-up that a runner remembers hangs on the stamps of the names it met (platform/fastmem.h):
 * what changes where a name leads, and what drops it, counts its stamp up.
 *
 * The table starts small and doubles with the number of names. */
#include <errno.h>
#include <string.h>
#include <sys/inotify.h>

#include "base/arena.h"
#include "base/program.h"
#include "base/ref.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"
#include "kernel/vfs/notify.h"
#include "kernel/vfs/upcalls.h"
#include "kernel/vfs/vfs_priv.h"

#define NAMES_CACHED 16384 /* unreferenced names that are kept */
#define NAMES_SLACK 1024 /* how far over that one call may go before it cleans up itself */
#define TABLE_FIRST 256
#define TABLE_MAX 16384

_Static_assert(sizeof(struct name) == 128, "two cache lines each");
OBJ_TYPE(name_type, struct name, 0);

static struct list *table;
static uint32_t table_size;
static uint32_t hashed; /* names in the table */
static struct list lru = LIST_INIT(lru);
static uint32_t lru_count;

static uint32_t name_hash(const struct name *parent, const char *str, size_t len)
{
	uint64_t h = (uint64_t)(uintptr_t)parent * 0x9e3779b97f4a7c15UL;
	uint64_t word;

	for (; len >= 8; len -= 8, str += 8) {
		memcpy(&word, str, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdUL;
		h ^= h >> 32;
	}
	word = len;
	for (size_t i = 0; i < len; i++)
		word = word << 8 | (uint8_t)str[i];
	h = (h ^ word) * 0xc4ceb9fe1a85ec53UL;
	return (uint32_t)(h >> 32);
}

static bool name_is_hashed(const struct name *n)
{
	return !list_is_empty(&n->hash_link);
}

/* Doubles the table; without memory it just stays as it is, unless there is none at all. */
static bool table_grow(void)
{
	uint32_t size = table_size ? table_size * 2 : TABLE_FIRST;
	struct list *fresh = blob_new(size * sizeof(*fresh));

	if (!fresh)
		return table != NULL;
	for (uint32_t i = 0; i < size; i++)
		list_init(&fresh[i]);
	for (uint32_t i = 0; i < table_size; i++) {
		struct name *n, *tmp;
		list_for_each_safe(n, tmp, &table[i], hash_link) {
			list_remove(&n->hash_link);
			list_append(&fresh[n->hash & (size - 1)], &n->hash_link);
		}
	}
	blob_free(table, table_size * sizeof(*table));
	table = fresh;
	table_size = size;
	return true;
}

static void name_rehash(struct name *n)
{
	if (hashed >= table_size * 2 && table_size < TABLE_MAX)
		if (!table_grow())
			return; /* never found by look-up: correct, only slow */
	n->hash = name_hash(n->parent, n->str, n->len);
	list_push(&table[n->hash & (table_size - 1)], &n->hash_link);
	list_append(&n->parent->children, &n->sibling_link);
	hashed++;
}

static void name_unhash(struct name *n)
{
	if (!name_is_hashed(n))
		return;
	stamp_bump(n->stamp);
	list_remove(&n->hash_link);
	list_remove(&n->sibling_link);
	hashed--;
}

static struct name *name_find(const struct name *dir, const char *str, size_t len)
{
	struct name *n;

	if (!table)
		return NULL;
	uint32_t hash = name_hash(dir, str, len);
	list_for_each(n, &table[hash & (table_size - 1)], hash_link)
		if (n->hash == hash && n->parent == dir && n->len == len &&
		    memcmp(n->str, str, len) == 0)
			return n;
	return NULL;
}

static void lru_take_off(struct name *n)
{
	if (list_is_empty(&n->lru_link))
		return;
	list_remove(&n->lru_link);
	lru_count--;
}

static bool name_set_str(struct name *n, const char *str, size_t len)
{
	char *copy = n->small;

	if (len >= sizeof(n->small)) {
		copy = blob_new(len + 1);
		if (!copy)
			return false;
	}
	memcpy(copy, str, len);
	copy[len] = '\0';
	n->str = copy;
	n->len = (uint8_t)len;
	return true;
}

static void name_free_str(struct name *n)
{
	if (n->str != n->small)
		blob_free(n->str, (size_t)n->len + 1);
}

/* Frees an unhashed name that nobody holds; its parent's count is the caller's to drop. */
static void name_free(struct name *n)
{
	struct fs *fs = n->parent ? NULL : n->inode->fs; /* see name_new_root */

	stamp_bump(n->stamp);
	if (n->is_ctx)
		vfs_upcalls.ctx_gone(n);
	lru_take_off(n);
	/* The last that is seen of a file without names; open files hold their names. */
	if (vfs_watched && n->deleted && n->inode && n->inode->nlink == 0)
		vfs_notify(NULL, NULL, n->inode, IN_DELETE_SELF, 0);
	inode_put(n->inode);
	name_free_str(n);
	obj_free(&name_type, n);
	fs_put(fs);
}

static bool name_is_volatile(const struct name *n)
{
	return n->parent && n->parent->inode && n->parent->inode->fs->nocache;
}

/* name_put without the clean-up at the end. */
static void name_unref(struct name *n)
{
	while (n && ref_put(&n->refs)) {
		if (name_is_hashed(n) && !name_is_volatile(n)) {
			list_append(&lru, &n->lru_link);
			lru_count++;
			return;
		}
		struct name *parent = n->parent;
		name_unhash(n);
		name_free(n);
		n = parent;
	}
}

/* Drops a name that is on the LRU list. */
static void name_drop(struct name *n)
{
	struct name *parent = n->parent;

	name_unhash(n);
	name_free(n);
	name_unref(parent);
}

static void lru_shrink(uint32_t keep)
{
	while (lru_count > keep)
		name_drop(list_first(&lru, struct name, lru_link));
}

void name_prune(void)
{
	lru_shrink(NAMES_CACHED);
}

/* A parent that its last child lets go comes to the end of the list and has its turn too. */
bool name_drop_some(uint32_t max)
{
	for (; lru_count && max; max--)
		name_drop(list_first(&lru, struct name, lru_link));
	return !lru_count;
}

struct name *name_get(struct name *n)
{
	/* One that nobody holds is cached, or it is no more. */
	if (n->refs || list_is_empty(&n->lru_link)) {
		ref_get(&n->refs);
	} else {
		n->refs = 1;
		lru_take_off(n);
	}
	return n;
}

void name_put(struct name *n)
{
	name_unref(n);
	if (lru_count > NAMES_CACHED + NAMES_SLACK)
		name_prune();
}

/* A name with refs = 1 that is in no table; takes the inode reference on success. */
static struct name *name_new(struct name *parent, const char *str, size_t len, struct inode *ino)
{
	struct name *n = obj_new(&name_type);

	if (!n && lru_count) {
		lru_shrink(lru_count / 2);
		n = obj_new(&name_type);
	}
	if (!n)
		return NULL;
	if (!name_set_str(n, str, len)) {
		obj_free(&name_type, n);
		return NULL;
	}
	n->refs = 1;
	list_init(&n->hash_link);
	list_init(&n->lru_link);
	list_init(&n->children);
	list_init(&n->sibling_link);
	n->parent = parent ? name_get(parent) : NULL;
	n->inode = ino;
	return n;
}

/* Names hold their parents, so this one goes last of its tree: with it the tree keeps its file
 * system, whatever became of the mounts that showed it. */
struct name *name_new_root(struct inode *root)
{
	struct name *n = name_new(NULL, "", 0, root);

	if (n)
		fs_get(root->fs);
	return n;
}

struct name *name_new_deleted(struct name *parent, const char *str, struct inode *ino)
{
	struct name *n = name_new(parent, str, strlen(str), ino);

	if (n)
		n->deleted = true;
	return n;
}

int name_lookup(struct name *dir, const char *str, size_t len, struct name **ret_)
{
	struct name *n = name_find(dir, str, len);
	struct inode *ino = NULL;

	if (n && !dir->inode->fs->nocache) {
		*ret_ = name_get(n);
		return 0;
	}
	if (!inode_is_dir(dir->inode) || !dir->inode->ops->lookup)
		return -ENOTDIR;
	if (n)
		name_get(n); /* whatever the look-up lets go of */
	int err = CHECKED(dir->inode->ops)->lookup(dir->inode, str, len, &ino);
	if (err == -ENOENT)
		ino = NULL;
	else if (err < 0) {
		if (n)
			name_put(n);
		return err;
	}
	if (n) {
		/* A place where something is mounted stays, whatever became of what it covers. */
		if (n->inode == ino || n->mounted) {
			inode_put(ino);
			*ret_ = n;
			return 0;
		}
		n->deleted = !ino;
		name_unhash(n);
		name_put(n);
	}
	n = name_new(dir, str, len, ino);
	if (!n) {
		inode_put(ino);
		return -ENOMEM;
	}
	name_rehash(n);
	*ret_ = n;
	return 0;
}

void name_instantiate(struct name *n, struct inode *ino)
{
	stamp_bump(n->stamp);
	inode_put(n->inode);
	n->inode = ino;
}

/* Of a directory that is removed: all negative. */
static void name_drop_children(struct name *dir)
{
	struct name *n, *tmp;

	list_for_each_safe(n, tmp, &dir->children, sibling_link) {
		if (n->refs)
			name_unhash(n);
		else
			name_drop(n);
	}
}

void name_delete(struct name *n)
{
	if (vfs_upcalls.name_gone && n->inode && n->inode->mapped)
		vfs_upcalls.name_gone(n);
	name_get(n); /* the last child must not take it away */
	name_drop_children(n);
	name_unhash(n);
	n->deleted = true;
	name_put(n);
}

void name_move(struct name *n, struct name *new_parent, const char *str, size_t len)
{
	struct name *old_parent = n->parent;
	struct name *there = name_find(new_parent, str, len);
	char *old_str = n->str == n->small ? NULL : n->str;
	size_t old_len = n->len;

	if (there == n)
		return;
	if (there) { /* the negative name, or what was replaced and not yet deleted */
		name_get(there);
		name_unhash(there);
		name_put(there);
	}
	name_unhash(n);
	if (!name_set_str(n, str, len))
		return; /* no memory: it keeps its old text, and look-ups ask the file system */
	blob_free(old_str, old_len + 1);
	n->parent = name_get(new_parent);
	name_rehash(n);
	name_put(old_parent);
}

void name_exchange(struct name *a, struct name *b)
{
	struct name *parent = a->parent;
	char small[sizeof(a->small)];
	char *a_str = a->str == a->small ? NULL : a->str;
	char *b_str = b->str == b->small ? NULL : b->str;
	uint8_t len = a->len;

	name_unhash(a);
	name_unhash(b);
	memcpy(small, a->small, sizeof(small));
	memcpy(a->small, b->small, sizeof(small));
	memcpy(b->small, small, sizeof(small));
	a->str = b_str ? b_str : a->small;
	b->str = a_str ? a_str : b->small;
	a->len = b->len;
	b->len = len;
	a->parent = b->parent;
	b->parent = parent;
	name_rehash(a);
	name_rehash(b);
}

/* The next child of its parent, or NULL. */
static struct name *name_sibling(struct name *n)
{
	struct list *l = n->sibling_link.next;

	return l == &n->parent->children ? NULL : list_entry(l, struct name, sibling_link);
}

/* Children before their parents; all from the root to where we are is held meanwhile. */
void name_shrink_tree(struct name *root)
{
	struct name *n = root, *next;
	bool down = true;

	for (;;) {
		if (down && !list_is_empty(&n->children)) {
			n = name_get(list_first(&n->children, struct name, sibling_link));
			continue;
		}
		if (n == root)
			return;
		struct name *parent = n->parent;
		next = name_sibling(n);
		if (next)
			name_get(next);
		if (--n->refs == 0) {
			name_unhash(n);
			name_free(n);
			name_unref(parent);
		}
		n = next ? next : parent;
		down = next;
	}
}
