/* The tree of an image while it is made: in memory, by node number, about 100 bytes for each file.
 *
 * Names lead to nodes through one hash table for the whole tree, keyed by directory and name. A
 * name that is put twice replaces the first (a directory over a directory keeps what is in it).
 * Symbolic links on the way to a name are followed as a cell would follow them, inside of this
 * tree: nothing here ever touches a file of the host. */
#ifndef VIV_IMPORT_TREE_H
#define VIV_IMPORT_TREE_H

#include "base/base.h"
#include "base/err.h"
#include "base/buf.h"
#include "store/index.h"

#define TREE_NONE UINT32_MAX
#define TREE_ROOT 0u
#define TREE_TEXT_MAX (1ull << 30) /* names, link texts and attributes together */

struct tree_node {
	uint32_t mode, uid, gid;
	uint32_t xattr; /* offset in xattrs / 8 + 1 */
	uint64_t size;
	uint64_t a; /* file: number of its object + 1; link: offset of its text; device: number */
	uint32_t b; /* link: length of the text; directory: number of entries, when in order */
	uint32_t first; /* directory: its latest entry; when in order: place of its entries */
	uint32_t parent; /* directory */
	uint32_t number; /* in the index, when in order */
	uint32_t nlink; /* names, when in order */
	uint32_t mtime; /* as the source has it; only to judge .pyc files */
};

struct tree_entry {
	uint32_t dir, node; /* node TREE_NONE: was removed */
	uint32_t next_hash, next_sibling;
	uint32_t name; /* offset in text */
	uint16_t len;
	uint16_t layer; /* that put it last */
};

struct tree {
	struct buf nodes, entries; /* struct tree_node, struct tree_entry */
	struct buf text; /* names and texts of links */
	struct buf xattrs;
	uint32_t *table; /* of entries, by hash */
	uint32_t table_size;
	uint64_t max_nodes;
	uint16_t layer; /* the one that is being imported; 0 for other sources */
	/* What tree_order makes: */
	uint32_t *order; /* nodes by number */
	uint32_t *sorted; /* entries as they follow each other in the index */
	uint32_t nordered, nsorted;
};

/* What is known of a file but its place. */
struct tree_attr {
	uint32_t mode, uid, gid;
	uint32_t mtime;
	uint64_t rdev; /* Linux's encoding */
	const char *link; /* text of a symbolic link */
};

void tree_init(struct tree *t, uint64_t max_nodes);
void tree_fini(struct tree *t);
/* The root belongs to root again and has the usual mode. */
void tree_reset_root(struct tree *t);

static inline struct tree_node *tree_node(const struct tree *t, uint32_t n)
{
	return BUF_ITEM(&t->nodes, struct tree_node, n);
}

/* Where a path leads: its directory (made with its parents when it is not there) and last name,
 * which is not followed; name NULL: the path is the root itself. The name is valid until the next
 * walk. Refuses '..' in the path and names that are too long. */
int tree_walk(struct tree *t, const char *path, size_t len, uint32_t *ret_dir,
	      const char **ret_name, size_t *ret_len, struct err *e);
/* The same without making anything: the node, TREE_NONE when it is not there. */
uint32_t tree_find_path(struct tree *t, const char *path, size_t len);

/* The node of that name in dir, or TREE_NONE. */
uint32_t tree_find(const struct tree *t, uint32_t dir, const char *name, size_t len);
/* Puts a new file there: its node, TREE_NONE with e. */
uint32_t tree_put(struct tree *t, uint32_t dir, const char *name, size_t len,
		  const struct tree_attr *attr, struct err *e);
/* One more name for a node that is no directory. */
int tree_link(struct tree *t, uint32_t dir, const char *name, size_t len, uint32_t node,
	      struct err *e);
/* Takes a name of an earlier layer out, with all below it. */
void tree_drop(struct tree *t, uint32_t dir, const char *name, size_t len);
/* Takes out all below a directory that came with an earlier layer. */
void tree_drop_below(struct tree *t, uint32_t dir);

/* Sets attributes of a node: names and values, sorted here. Those that mean nothing elsewhere are
 * left out (see tree_xattr_is_kept). */
struct tree_xattr {
	const char *name;
	const void *value;
	size_t len;
};
bool tree_xattr_is_kept(const char *name);
int tree_set_xattrs(struct tree *t, uint32_t node, struct tree_xattr *list, size_t n,
		    struct err *e);

/* Sorts and numbers everything for the index. Nothing is put afterwards. */
void tree_order(struct tree *t);

#endif
