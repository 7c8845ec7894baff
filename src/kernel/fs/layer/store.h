/* The disk below a layer: where contents are, and the log. docs/decisions/0017.
 *
 *   chain  the layers of the disk that make the tree, from the root of the chain on. The last is
 *          the active one, which is written; the others are sealed. Content is named by a place in
 *          the chain and a number, which is the id of its node. On the host it is the file
 *          c/XX/NUMBER of the layer's directory, XX being the low byte.
 *   log    records of changes (log.c). All records of one change are one group, written by one call
 *          before the change is made in memory; when it cannot be written, nothing has changed.
 *   order  What a power cut leaves: the log is synced after the contents that were copied for
 *          records in it, and a content that was synced once is removed only after the record that
 *          unlinks it was. Copied content that did not reach the disk is recognized by its size,
 *          and what it was copied from counts again.
 *
 * A host that cannot write any more what it has promised (an error while syncing, or while taking
 * back half a group) makes the layer read-only, as it does with file systems of its own. */
#ifndef VIV_KERNEL_FS_LAYER_STORE_H
#define VIV_KERNEL_FS_LAYER_STORE_H

#include "kernel/fs/layer/layer.h"
#include "kernel/fs/layer/node.h"
#include "kernel/platform/hostwork.h"

#define LOG_MAGIC 0x0a31676f6c766976ULL /* "vivlog1\n" */
#define LOG_VERSION 1
#define LOG_FULL 1u /* header flag: tells the whole tree, the logs below do not count */
#define LOG_RECORD_MAX (192u << 10)
#define LOG_GROUP_MAX (8u << 20)
#define RECORD_OVERHEAD 9 /* length, checksum, type */

struct log_header {
	uint64_t magic;
	uint32_t version, layer;
	uint8_t disk_id[16];
	uint64_t next_id;
	uint32_t flags;
	uint32_t reserved[4];
	uint32_t crc; /* of all before it; the first record's checksum goes on from it */
};

/* Each record: uint32_t length of what follows the checksum, uint32_t checksum (of the one before,
 * then of length, type and payload), uint8_t type, payload. Numbers are little-endian; a name is a
 * byte of length and its bytes; a time is nanoseconds. */
enum record_type {
	REC_PIN = 1, /* parent, id, mode, uid, gid, name: the image's entry is a node of ours */
	/* id, mode, uid, gid, path (16-bit length): a node of the image, not linked yet */
	REC_ORIGIN,
	/* id, mode, uid, gid, rdev, time, text of a link (16-bit length): not linked yet */
	REC_NEW,
	REC_LINK, /* dir, id, time, name */
	REC_UNLINK, /* dir, time, name */
	REC_RENAME, /* odir, ndir, flags, time, oname, nname */
	REC_ATTR, /* id, nlink, mode, uid, gid, flags, atime, mtime, ctime */
	REC_CONTENT, /* id, layers back, flags, hint */
	/* id, name, whether there is a value, 32-bit length, value; no name: all that there are
	 * go */
	REC_XATTR,
	REC_CLEAN, /* next id, bytes of content: the last one of a kernel that ended in peace */
	REC_NEXT, /* next id: those below it may have been given to files without a name */
	REC_TYPES,
};

/* In the mode of REC_PIN and REC_ORIGIN: */
/* it stays when it loses its name, as further ones may lead to it (links.c) */
#define PIN_SEVERAL (1u << 31)
#define PIN_NAMELESS (1u << 30) /* only such lead to it: no link is to come */
#define ATTR_MTIME_SET 1u /* mtime counts, not that of the content */
#define ATTR_UNCHANGED 2u /* only the times: the rest is the image's */
#define CONTENT_FRESH 1u /* it began empty: a missing file is an empty one */
#define CONTENT_EMPTY 2u /* there is no file: the content is empty */

struct llog {
	int fd; /* -1: read-only disk */
	uint64_t end, synced; /* bytes */
	uint64_t reserved; /* the host has promised space up to here */
	uint32_t crc; /* of the last record */
	bool no_reserve; /* the host makes no promises */
	char *buf; /* the group that is gathered: blob of cap bytes */
	size_t len, cap;
	uint32_t buf_crc;
	bool overflow;
	uint32_t group; /* its number; 0: none is gathered */
};

struct recovery;
struct layer_merging;
struct flight;
struct sync_request;

struct chain_layer {
	int fd; /* the layer's directory; -1: an own one that is not open. See store_layer_fd() */
	uint32_t number;
	bool own; /* below data_fd */
};

struct grave {
	uint64_t number;
	uint32_t where;
	uint32_t mib; /* about as many the host has to free */
};

#define GRAVES_MAX 1024
#define CHAIN_MAX (LAYER_CHAIN_MAX + 1)

struct lstore {
	int data_fd;
	bool readonly;
	bool broken;
	bool clean; /* the log's last record is REC_CLEAN, and nothing was changed since */
	bool leftover; /* the active layer had a directory and no log */
	/* the active layer, its log and their names may not be on the host's disk: after a power
	 * cut it is an empty one */
	bool unborn;
	uint8_t disk_id[16];
	struct chain_layer *chain; /* blob of chain_room */
	uint32_t nchain; /* the active one is the last; none on a read-only disk */
	uint32_t chain_room;
	uint32_t open_layers,
		close_next; /* own ones; which to look at first when there are too many */
	struct llog log;
	uint32_t epoch; /* counted at each sync of the whole file system */
	uint64_t dirs_dirty[4]; /* c/XX has entries that were not synced */
	bool c_dirty;
	struct list order; /* nodes whose content is to be synced before the log */
	uint32_t norder;
	uint64_t order_bytes; /* about as many of them were not written out yet */
	struct grave graves[GRAVES_MAX]; /* contents to remove when the log was synced */
	uint32_t ngraves;
	struct list mapped; /* nodes that may be mapped shared and writable */
	struct list orphans; /* quota.c */
	uint32_t norphans;
	/* sync.c */
	struct flight *flight; /* the sync that is on its way; NULL: none */
	uint32_t
		sweeping; /* syncs of the whole file system that are on their way before a flight */
	uint32_t held; /* who changes what it is about: none may start */
	struct list requests; /* that wait for the next one */
	struct sync_request *own_request; /* of nobody, store_sync_beside(); NULL: none */
	/* how many of the last ones took the host long, in a row; up to LONG_ROW */
	uint32_t long_row;
	uint32_t working; /* contents that the other thread works at (content_work.c) */
	uint64_t content_bytes; /* of used_bytes */
	uint64_t clean_bytes; /* what REC_CLEAN says */
	uint32_t missing; /* nodes that the image has no more */
	uint64_t compact_at; /* no compaction before the log is this long */
	bool compact_waits; /* it is worth it, and what it needs is being synced */
	uint64_t live; /* nodes in the log: what a new one would take */
	const struct layer_merging *merging; /* compact.c; NULL: it is not */
	/* Nodes by id, while a log is read and what a crash left is looked for. */
	struct lids ids;
	struct lnode *ids_dir; /* the directory that was found last */
	/* recover.c */
	struct recovery *recovery;
	uint64_t first_id; /* ids from here on are of this run */
	struct lnode *recount_at;
	uint32_t orphan_dir;
	bool recovering; /* used_bytes lacks what is marked as uncounted */
};

/* ---- log.c ---- */
/* Writes what was gathered so far, and goes on gathering. Only for a log that has no name yet. */
int must_check log_flush(struct layer *l, size_t over);
/* One group: begin, records, commit. Without a disk all of it does nothing and succeeds; likewise
 * while the log is read. */
int must_check log_begin(struct layer *l); /* -EROFS */
void log_pin(struct layer *l, struct lnode *parent, struct lentry *e, struct lnode *n);
void log_new(struct layer *l, struct lnode *n);
void log_whole(struct layer *l, struct lnode *n); /* a node that the log does not know yet */
void log_link(struct layer *l, struct lnode *dir, const char *name, size_t len, struct lnode *n);
void log_unlink(struct layer *l, struct lnode *dir, const char *name, size_t len);
void log_rename(struct layer *l, struct lnode *odir, const struct lentry *eo, struct lnode *ndir,
		const char *name, size_t len, bool exchange);
void log_attr(struct layer *l, const struct lnode *n, const struct attr *a_or_NULL);
void log_content(struct layer *l, const struct lnode *n, uint32_t where, bool fresh, uint64_t hint);
void log_xattr(struct layer *l, const struct lnode *n, const char *name, size_t name_len,
	       const void *value_or_NULL, size_t size);
void log_origin(struct layer *l, const struct lnode *n);
void log_clean(struct layer *l);
void log_next(struct layer *l);
/* Writes the group. frees: the change makes room, so it may use what is kept back. 0 or -errno:
 * nothing was written. */
int must_check log_commit(struct layer *l, bool frees);
/* Has the host set aside what need bytes more take and, unless the change makes room, what is kept
 * for those that do. */
int must_check log_reserve(struct llog *g, uint64_t need, bool frees);
void log_abort(struct layer *l);
/* A new log in fd, an empty file, of the layer called number. */
int must_check log_start(struct layer *l, int fd, uint32_t number, uint32_t flags,
			 struct llog *ret);
/* A new log in the directory of chain[index], made beside the old one and renamed: begin, groups as
 * usual, end. */
int must_check log_create_begin(struct layer *l, uint32_t index, uint32_t flags, struct llog *old);
int must_check log_create_end(struct layer *l, uint32_t index, struct llog *old, int r);
uint32_t log_header_make(struct log_header *h, const struct lstore *s, uint32_t layer,
			 uint64_t next_id, uint32_t flags);

/* ---- sync.c: to the host's disk ---- */
/* The log, with what has to be there before it. */
int must_check log_sync(struct layer *l);
int must_check store_sync_all_here(struct layer *l); /* everything */
/* The same; a content; everything. Where the call that runs allows it (call.may_wait) and the host
 * would take long, it waits for the other thread, WAITING. */
int must_check store_sync_names(struct layer *l);
int must_check store_sync_node(struct layer *l, struct lnode *n, bool data_only);
int must_check store_sync_all(struct layer *l);
/* n is about to replace another file. Programs expect one of the two after a power cut, so what was
 * never synced is, before the record of it is in a log that is on its way to the disk already.
 * WAITING likewise. */
int must_check store_sync_replacing(struct layer *l, struct lnode *n);
/* From here on the active layer is on the host's disk, with all that its log says. */
int must_check store_bear(struct layer *l);
/* The log, with what has to be there before it, in a while: nobody waits for it. Whether it is on
 * its way. */
bool store_sync_beside(struct layer *l);
bool store_order_is_long(const struct layer *l); /* what has to be there before it is much */
/* No sync is on its way, and none starts until the release: for who changes the log or the active
 * layer. */
void store_sync_hold(struct layer *l);
void store_sync_release(struct layer *l);

/* ---- store.c ---- */
static inline uint32_t store_active(const struct lstore *s)
{
	return s->nchain - 1;
}
/* The directory of chain[index], until another is asked for; that of the last two stays open. Or
 * -errno. */
int must_check store_layer_fd(struct lstore *s, uint32_t index);
/* Reads the chain into the tree and makes the active layer if it is new. 0, or -errno with a text
 * in why. */
int must_check store_open(struct layer *l, const struct layer_disk *d, char *why, size_t why_size);
void store_close(struct layer *l); /* and frees it */
/* No promise can be kept any more: read-only from here on. */
void store_break(struct layer *l, const char *what, int err);
int must_check store_content_open(struct lstore *s, uint32_t where, uint64_t number, bool write);
/* An empty file in the active layer, whatever was there. */
int must_check store_content_create(struct lstore *s, uint64_t number);
void store_content_unlink(struct lstore *s, uint32_t where, uint64_t number, uint64_t bytes);
int must_check store_content_stat(struct lstore *s, uint32_t where, uint64_t number,
				  struct stat *st);
/* The node has no use for its content any more. */
void store_content_drop(struct layer *l, struct lnode *n);
/* Room was short: removes what waits for the log, waits for what is being freed. Whether there was
 * anything. */
bool store_make_room(struct layer *l);
/* Removes the first n of what waits for the log. */
void store_bury(struct layer *l, uint32_t n);
/* A further layer, with a log that log_create_end completes. */
int must_check store_layer_add(struct layer *l, uint32_t number, struct llog *old);
void store_layer_drop(struct lstore *s); /* takes that back */
void store_order(struct layer *l, struct lnode *n); /* before the log */
struct store_path {
	char str[32];
};
struct store_path store_path(uint64_t number);
struct store_path store_name(uint64_t number); /* in store_dir_open() */
int must_check store_dir_open(int layer, uint64_t number); /* where the content is; O_PATH */

/* ---- seal.c ---- */
void store_mapped_sort_out(struct layer *l); /* those that are not mapped any more leave the list */

/* ---- replay.c ---- */
/* Applies the log of chain[index]. 0, or -errno with a text in why. */
int must_check store_replay(struct layer *l, uint32_t index, char *why, size_t why_size);
/* Whether the log says that those below it do not count; -ENOENT: there is none, -ENODATA: nothing
 * of it reached the host's disk. */
int must_check store_log_head(struct lstore *s, uint32_t index, struct log_header *h);
/* A descriptor or -errno. */
int must_check store_log_open(struct lstore *s, uint32_t index, bool write);
/* After the last one. */
int must_check store_replay_end(struct layer *l, char *why, size_t why_size);

/* ---- compact.c ---- */
void store_compact_if_worth(struct layer *l);
int must_check store_compact(struct layer *l);

/* ---- recover.c ---- */
void store_recover_start(struct layer *l);
bool store_recover_step(struct layer *l); /* false: nothing is left to do */
void store_recover_forget(struct layer *l, struct lnode *n); /* n goes */
/* A walk over all nodes, from s->recount_at on, in which nodes may go. Borrowed; NULL: no more. */
struct lnode *store_recount_next(struct layer *l);

#endif
