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
 *          writable mapping; then a file of our own, named by number, made when it is first needed:
 *          in the scratch directory, or in the active layer of the disk. One that lies in a sealed
 *          layer of the disk is like the image's: the next change copies it. Descriptors are a
 *          cache.
 *
 * A directory that was moved keeps its node of the image, and its children are found through it. A
 * directory made where the image had one has no node of the image, which makes it opaque.
 *
 * Every change of the tree is made by one of the layer_apply_ functions (tree.c, content.c,
 * xattr.c). In a layer with a disk (store.h) each first gathers its records and has them written to
 * the log, and then changes the tree, which cannot fail any more. So memory and log always
 * agree. */
#ifndef VIV_KERNEL_FS_LAYER_NODE_H
#define VIV_KERNEL_FS_LAYER_NODE_H

#include "base/list.h"
#include "kernel/fs/image/fdcache.h"
#include "kernel/fs/layer/layer.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"

#define TMPFS_MAGIC_ 0x01021994
#define OVERLAYFS_MAGIC_ 0x794c7630
#define XATTR_BYTES_MAX (256 * 1024)

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

struct lstore;

/* Nodes by a number (ids.c). */
enum lids_by { IDS_BY_ID, IDS_BY_IMAGE };

struct lids {
	struct lnode **slots; /* blob of size pointers, a power of two; NULL while empty */
	uint32_t size, count;
	enum lids_by by;
	struct lnode *last; /* the one that was added last */
};

struct layer {
	struct fs fs; /* first */
	struct image *lower;
	struct lstore *store; /* the disk; NULL: contents are in the scratch directory, no log */
	uint64_t max_bytes, used_bytes;
	uint64_t max_inodes, used_inodes;
	uint64_t bytes_refused, inodes_refused; /* how often */
	uint64_t ino_base, next_id; /* an own inode's number is ino_base + its id */
	int64_t replay_time; /* while the log is read: the time of the record; else 0 */
	struct list nodes; /* all of them */
	struct list ending_link; /* in the list of layers whose nodes are being freed */
	struct lids links; /* files with several names in the image */
};

/* Where a file of content is, and what is known of its way to the host's disk. */
struct lcontent {
	uint32_t where; /* index in the store's chain */
	uint32_t before; /* where the content was before it was copied; CONTENT_IMAGE, _NONE */
	/* bytes that were copied and not cut off since: a shorter file is incomplete */
	uint64_t hint;
	uint32_t epoch; /* of the store when the file was made: a later one has it synced */
	bool synced; /* it may be on the host's disk, so it is removed only after the log says so */
	bool logged; /* a record names it */
	struct list order; /* to be synced before the log */
};

#define CONTENT_NONE UINT32_MAX
#define CONTENT_IMAGE (UINT32_MAX - 1)

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
	bool several; /* in the layer's links: every name that the image has of it leads here */
	bool held; /* counted there, as some of those names have no entry */
	bool mapped_shared; /* blocks may grow behind our back */
	bool mapped; /* it was, in any way */
	uint64_t scratch; /* number of the content file; 0: none yet, the content is empty */
	uint64_t charged; /* bytes counted in used_bytes */
	uint64_t unsynced; /* about as many bytes were written since its content was synced */
	uint64_t copied; /* of the image's content, while that is copied in pieces */
	uint32_t copied_in; /* the layer of the disk that they were copied to */
	/* what another thread does with the content; NULL: nothing (content_work.c) */
	struct content_work *beside;
	bool beside_failed; /* the loop has to do it */
	uint64_t id; /* its number in the log and of its content on a disk; 0: none yet */
	uint32_t names; /* OWN entries that lead to it */
	/* A name of it: of a directory the only one, of a node of the image the one it has there,
	 * as long as it is. */
	struct lnode *up;
	struct lentry *at;
	/* With a disk: */
	struct lcontent content;
	char *origin; /* blob of origin_len + 1: place in the image of one that left it */
	uint32_t origin_len;
	uint32_t group; /* the last group of records that it was put into */
	bool logged; /* the log knows it by its id */
	bool unloaded; /* size, blocks and mtime are yet to be asked of the host */
	bool wrote; /* the host knows a newer mtime */
	bool mtime_set; /* mtime is not that of the content */
	bool uncounted; /* its content is not in used_bytes yet */
	bool fresh; /* made and not linked yet, so a count keeps it; while the log is read */
	bool missing; /* a node of the image that the image has no more; while the log is read */
	struct list mapped_link; /* while it is mapped shared */
	struct lnode *id_next[2]; /* in the tables by number */
	struct fdref rd, wr;
	char *target; /* of a link: blob of inode.size + 1 */
	uint32_t target_len;
	bool xattrs_below; /* the image may have some that are not in xattrs yet */
	bool xattrs_changed; /* they are not the image's any more */
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
int must_check node_make(struct layer *l, const struct newnode *nn, struct lnode **ret_);
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

/* ---- ids.c ---- */
struct lnode *ids_find(const struct lids *t, uint64_t id);
int must_check ids_add(struct lids *t, struct lnode *n);
void ids_remove(struct lids *t, struct lnode *n);
void ids_free(struct lids *t);

/* ---- links.c ---- */
/* The node of a file that has several names in the image; NULL: none has been looked up yet. */
struct lnode *links_find(struct layer *l, const struct image_node *lower);
/* The same for a name that has no entry. */
struct lnode *links_at(struct lnode *dir, const char *name, size_t len);
/* Further names of a new node lead to it, if it has some. */
int must_check links_add(struct lnode *n);
void links_hold(struct lnode *n); /* it is not the image's any more */
void links_drop(struct lnode *n); /* it has lost its last name, or its memory */
/* Whether some file that was changed has names without an entry. */
bool links_have_loose(const struct layer *l);

/* ---- tree.c ---- */
void layer_pin(struct lnode *n);
/* The log knows it from now on / no more. */
void lnode_set_logged(struct lnode *n);
void lnode_forget_log(struct lnode *n);
/* Gathers the records of what layer_pin(n) will do. */
int must_check layer_log_pin(struct lnode *n);
/* The mirror loses its place: it was unlinked, or its entry became another's. */
void lnode_detach(struct lnode *n);
/* Whether the image has this name in dir. 1, 0 or -errno. */
int must_check lnode_lower_has(struct lnode *dir, const char *name, size_t len);
bool lnode_dir_is_empty(struct lnode *dir, int *ret_error);
/* The effects alone, for what reads the log. */
void tree_add(struct lnode *dir, struct lentry *e, struct lnode *n);
void tree_remove(struct lnode *dir, struct lentry *e);
void tree_rename(struct lnode *odir, struct lentry *eo, struct lnode *ndir, struct lentry *en,
		 bool exchange);
void dir_count_link(struct lnode *dir, int by);
/* The node has a further name / one fewer: what quotas and flags follow. */
void lnode_linked(struct lnode *n, bool extra);
void uncharge_link(struct lnode *n);
int must_check layer_apply_add(struct lnode *dir, const char *name, size_t len, struct lnode *n);
/* The entry that leads to n. A name that only the image has of it gets one that is a whiteout until
 * it is settled. */
int must_check tree_entry(struct lnode *dir, const char *name, size_t len, struct lnode *n,
			  struct lentry **ret_);
/* The entry leads to n, counted, if it does not yet. */
void tree_settle(struct lnode *dir, struct lentry *e, struct lnode *n);
/* Both have the entries of tree_entry(). */
int must_check layer_apply_remove(struct lnode *dir, struct lentry *e, struct lnode *n);
int must_check layer_apply_rename(struct lnode *odir, struct lentry *eo, struct lnode *n,
				  struct lnode *ndir, const char *name, size_t len,
				  struct lnode *victim_or_NULL, bool exchange);

/* ---- quota.c ---- */
/* What is mapped counts: a disk that is written to, with a limit. */
bool layer_counts_maps(const struct layer *l);
/* Bytes that may be added; less than want only if there is no more. */
uint64_t layer_room(struct layer *l, uint64_t want);
/* There is room for all of it, which somebody is about to map shared and writable. */
bool must_check lnode_map_begins(struct lnode *n);
/* ... and for that size of one that is mapped; of any other there is. */
bool must_check lnode_map_fits(struct lnode *n, uint64_t size);
/* How many of len bytes at pos may be written; *ret_grows: blocks may be added. */
uint64_t layer_write_room(struct lnode *n, uint64_t pos, uint64_t len, bool *ret_grows);
/* A content without a node, which somebody may have mapped. Takes the descriptor, opened for
 * reading. */
void layer_orphan_add(struct layer *l, int fd, uint64_t bytes);

/* ---- content.c ---- */
/* How many descriptors may stay open, by what the host allows. */
void layer_content_init(void);
int layer_hostfd(struct inode *ino, bool write);
int layer_hash(struct inode *ino, uint8_t out[32]);
/* The content is now ours; the first keep bytes of the image's are copied. */
int must_check layer_apply_copy_up(struct lnode *n, uint64_t keep);
/* Copies the next piece of the first keep bytes of a large file that is about to be changed: 0
 * nothing (more) to do in pieces, WAITING call again. For a call that may wait. */
int must_check layer_copy_up_piece(struct lnode *n, uint64_t keep);
int must_check layer_apply_size(struct lnode *n, uint64_t size);
void lnode_content_free(struct lnode *n); /* and removes it */
void lnode_content_close(struct lnode *n); /* it stays */
int layer_getattr(struct inode *ino);
/* Size, blocks and mtime are those of the content file. 0 or -errno. */
int must_check lnode_load(struct lnode *n);
/* A file that is cut shorter than what was copied is not one whose copy is incomplete: to be said
 * before it is cut to size. */
int must_check lnode_hint(struct lnode *n, uint64_t size);
/* Counts the blocks that the content file has now. Over the limit is counted too: it happened. */
void lnode_recount(struct lnode *n);
/* No descriptor of any content stays open. */
void layer_content_forget(void);
/* Whether a change of the content needs no copy first. */
bool lnode_content_is_writable(const struct lnode *n);
int copy_content(int in, int out, uint64_t off, uint64_t size, bool whole);
/* The content may be changed now; of one that is copied for that, the first keep bytes. WAITING:
 * the call waits. */
int must_check content_own(struct lnode *n, uint64_t keep);

/* ---- content_work.c: long works at a content, by the other thread ---- */
extern struct content_limits {
	/* a larger file is copied in pieces: of so many bytes here, one after each event of others
	 * ... */
	uint64_t piece;
	uint64_t copy; /* ... and of so many by the other thread */
	uint64_t cut; /* so many bytes to free are long */
} content_limits; /* tests have smaller ones */
/* Nobody works at the content, which is about to be changed: 0. WAITING: the call waits for
 * that. */
int must_check content_settle(struct lnode *n);
void content_settle_all(struct layer *l); /* waits here */
/* Cuts it short; copies the next bytes, of those before end, from in to the file that the copy is
 * made in. WAITING: that is on its way, and the call waits for it. 0: it is to be done here. fds:
 * borrowed. */
int must_check content_cut_beside(struct lnode *n, int fd, uint64_t size);
int must_check content_copy_beside(struct lnode *n, int in, int out, uint64_t end);
/* Whether the call that runs may wait; the call is run again after the events of others:
 * WAITING. */
bool content_may_wait(void);
int must_check content_later(void);

/* ---- xattr.c ---- */
int layer_getxattr(struct inode *ino, const char *name, void *buf, size_t size);
int layer_setxattr(struct inode *ino, const char *name, const void *value, size_t size, int flags);
int layer_listxattr(struct inode *ino, char *buf, size_t size);
/* Calls fn for each attribute of n. */
void lnode_xattrs(struct lnode *n,
		  void (*fn)(void *arg, const char *name, size_t name_len, const char *value,
			     size_t size),
		  void *arg);
/* Sets (value not NULL) or removes without asking the log. */
void lnode_clear_xattrs(struct lnode *n); /* the image's too */
int must_check lnode_set_xattr(struct lnode *n, const char *name, const void *value, size_t size);

#endif
