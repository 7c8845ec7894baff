/* The cache of names.
 *
 * A name is a parent, a string and the inode it leads to (or none: a negative entry). Names form
 * the tree that path walks use; a name keeps its parent alive. Counted (name_get/name_put); one
 * that nobody holds stays cached, and the oldest are dropped. */
#ifndef VIV_KERNEL_VFS_NAME_H
#define VIV_KERNEL_VFS_NAME_H

#include "base/list.h"

struct inode;
struct mount;

#define NAME_MAX_LEN 255

struct name {
	uint32_t refs;
	uint32_t hash;
	struct list hash_link;
	struct list lru_link;
	struct list children, sibling_link;
	struct name *parent; /* counted; NULL: root of a file system, or cut off (deleted) */
	struct inode *inode; /* counted; NULL: negative */
	/* borrowed; one of the mounts here (other mounts of the tree may have others), or NULL */
	struct mount *mounted;
	char *str; /* NUL-terminated: small, or a blob */
	uint16_t stamp; /* of where it leads; for a directory also of who may search it */
	bool deleted : 1; /* unlinked: paths through it show " (deleted)" */
	bool is_ctx : 1; /* sys/fast.c wants to know of its end */
	uint8_t len;
	char small[20];
};

struct name *name_get(struct name *n);
void name_put(struct name *n);
/* The top of a tree of names; takes the inode reference and holds the file system; returns ref. */
struct name *name_new_root(struct inode *root);
/* The child of dir called str: from the cache, or by asking the file system. returns ref; its inode
 * may be NULL (negative). -errno only for failures of the look-up itself. */
int name_lookup(struct name *dir, const char *str, size_t len, struct name **ret_);
/* After an op changed the tree, the cache follows. */
void name_instantiate(struct name *n, struct inode *ino); /* negative -> positive; takes ino ref */
void name_delete(struct name *n); /* unlinked */
void name_move(struct name *n, struct name *new_parent, const char *str, size_t len); /* renamed */
void name_exchange(struct name *a, struct name *b);
void name_prune(void); /* drops cached names over the limit; called between calls */

#endif
