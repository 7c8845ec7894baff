/* The parts of a layer, shared by its files.
 *
 * lnode    an inode of the layer. One that only mirrors an unchanged file of the image exists while
 *          somebody holds it: its parent's table knows it by a MIRROR entry that does not count,
 *          and it holds its parent. The first change pins it (layer_pin): the entry becomes OWN,
 *          which counts, in its parent and all the way up. So what was changed stays in memory as
 *          long as it is linked, and nothing else does.
 * lentry   a name in a directory: MIRROR, OWN, or WHITEOUT (the image has the name, the layer took
 *          it away). Names of the image that were never looked up have no entry.
 * content  of a regular file: the image's file, until the first write, truncation or shared
 *          writable mapping; then a file of the scratch directory, named by number, made when it is
 *          first needed. Descriptors are a cache.
 *
 * A directory that was moved keeps its node of the image, and its children are found through it. A
 * directory made where the image had one has no node of the image, which makes it opaque.
 *
 * Every change of the tree is made by one of the layer_apply_ functions (tree.c, content.c,
 * xattr.c): they are where a persistent layer writes its log. */
#ifndef VIV_KERNEL_FS_LAYER_NODE_H
#define VIV_KERNEL_FS_LAYER_NODE_H

#include "kernel/fs/image/fdcache.h"
#include "kernel/fs/layer/layer.h"

#define TMPFS_MAGIC_ 0x01021994
#define OVERLAYFS_MAGIC_ 0x794c7630
#define XATTR_BYTES_MAX 65536

enum entry_kind { ENTRY_MIRROR, ENTRY_OWN, ENTRY_WHITEOUT };

struct lentry {
	struct lentry *hash_next;
	struct list order; /* in the directory, by age */
	struct lnode *node; /* NULL: a whiteout. Counted for OWN */
	uint32_t hash;
	uint8_t kind;
	bool below; /* the image has an entry of this name in this directory */
	uint8_t len;
	char str[]; /* NUL-terminated */
};

struct ltable {
	struct lentry **buckets; /* blob of size pointers, a power of two; NULL while empty */
	uint32_t size, count; /* count: of all entries */
	uint32_t own; /* of ENTRY_OWN */
	struct list order;
};

struct layer {
	struct fs fs; /* first */
	struct image *lower;
	uint64_t max_bytes, used_bytes;
	uint64_t max_inodes, used_inodes;
	uint64_t next_ino;
	struct list nodes; /* all of them */
};

struct lnode {
	struct inode inode; /* first */
	struct list all_link;
	struct image_node *lower; /* ours to drop; NULL: none */
	struct lentry *home; /* the MIRROR entry; NULL when pinned, unlinked or the root */
	struct lnode *parent; /* counted; with home only */
	bool charged_inode; /* counted in used_inodes */
	uint32_t extra_links; /* names beyond the first that are counted there too */
	bool changed; /* attributes or content differ from the image's */
	bool own_content; /* regular: the image's content is not ours any more */
	bool moved; /* linked elsewhere than in the image */
	bool mapped_shared; /* blocks may grow behind our back */
	uint64_t scratch; /* number of the content file; 0: none yet, the content is empty */
	uint64_t charged; /* bytes counted in used_bytes */
	uint64_t copied; /* of the image's content, while that is copied in pieces */
	struct fdref rd, wr;
	char *target; /* of a link: blob of inode.size + 1 */
	uint32_t target_len;
	bool xattrs_below; /* the image may have some that are not in xattrs yet */
	uint32_t xattr_size;
	char *xattrs; /* blob; see xattr.c */
	struct ltable table; /* of a directory */
};

extern const struct file_ops layer_reg_fops, layer_dir_fops;

static inline struct lnode *lnode_of(struct inode *ino)
{
	return (struct lnode *)ino;
}
static inline struct layer *layer_of(struct lnode *n)
{
	return (struct layer *)n->inode.fs;
}
void lnode_times_now(struct lnode *n, bool mtime); /* ctime, and mtime if asked */

/* ---- node.c ---- */
struct lnode *must_check lnode_new(struct layer *l, uint32_t mode); /* refs = 1; NULL: no memory */
/* A node that shows lower (taken on success only). */
struct lnode *must_check lnode_new_mirror(struct layer *l, struct image_node *lower);
void lnode_destroy(
	struct lnode *n); /* memory and content; touches no other node but by uncounting nothing */
int must_check layer_charge_inode(struct layer *l);
int must_check layer_charge_bytes(struct layer *l, uint64_t n);
void layer_uncharge_bytes(struct layer *l, uint64_t n);

/* ---- table.c ---- */
void ltable_init(struct ltable *t);
void ltable_fini(struct ltable *t); /* frees all entries, uncounts nothing */
struct lentry *ltable_find(const struct ltable *t, const char *name, size_t len);
/* A new entry, a whiteout for now; NULL: no memory. The name is not there yet. */
struct lentry *must_check ltable_add(struct ltable *t, const char *name, size_t len);
void ltable_remove(struct ltable *t, struct lentry *e); /* and frees it */

/* ---- tree.c ---- */
void layer_pin(struct lnode *n);
/* The mirror loses its place: it was unlinked, or its entry became another's. */
void lnode_detach(struct lnode *n);
/* Whether the image has this name in dir. 1, 0 or -errno. */
int must_check lnode_lower_has(struct lnode *dir, const char *name, size_t len);
bool lnode_dir_is_empty(struct lnode *dir, int *ret_error);
int must_check layer_apply_add(struct lnode *dir, const char *name, size_t len, struct lnode *n);
void layer_apply_remove(struct lnode *dir, struct lentry *e);
int must_check layer_apply_rename(struct lnode *odir, struct lentry *eo, struct lnode *ndir,
				  const char *name, size_t len, bool exchange);

/* ---- content.c ---- */
/* How many descriptors may stay open, by what the host allows. */
void layer_content_init(void);
int layer_hostfd(struct inode *ino, bool write);
/* The content is now ours; the first keep bytes of the image's are copied. */
int must_check layer_apply_copy_up(struct lnode *n, uint64_t keep);
/* Copies the next piece of a large file that is about to be changed: 0 nothing (more) to do in pieces, -EINPROGRESS call again. */
int must_check layer_copy_up_piece(struct lnode *n);
int must_check layer_apply_size(struct lnode *n, uint64_t size);
void lnode_content_free(struct lnode *n);
int layer_getattr(struct inode *ino);

/* ---- xattr.c ---- */
int layer_getxattr(struct inode *ino, const char *name, void *buf, size_t size);
int layer_setxattr(struct inode *ino, const char *name, const void *value, size_t size, int flags);
int layer_listxattr(struct inode *ino, char *buf, size_t size);

#endif
