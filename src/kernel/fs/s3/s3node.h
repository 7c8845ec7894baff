/* The parts of the S3 file system, shared by its files. */
#ifndef VIV_KERNEL_FS_S3_S3NODE_H
#define VIV_KERNEL_FS_S3_S3NODE_H

#include "base/list.h"
#include "wire/s3.h"
#include "kernel/fs/s3/s3fs.h"
#include "kernel/platform/loop.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/fs.h"
#include "kernel/vfs/inode.h"
#include "kernel/vfs/name.h"

#define S3_BUCKETS 4096
#define S3_TTL (3 * NSEC_PER_SEC / 2) /* how long the server's word is good */
#define S3_BLOCK_SHIFT 20 /* content is fetched in blocks of 1 MiB */
#define S3_BLOCK (1UL << S3_BLOCK_SHIFT)
#define S3_AHEAD_MAX 8u /* blocks */
#define S3_CACHE_MAX (256UL << 20) /* of content that can be fetched again */
#define S3_CACHE_FILES 256u
#define S3_OTHERS_MAX 16u /* fetches, each of another object, before a reader is told */
#define S3_PUTS_MAX 64u /* uploads at once; who makes more files waits */

struct s3fs {
	struct fs fs; /* first */
	int sock;
	bool dead; /* viv-s3 is gone */
	uint32_t uid, gid, last_id;
	uint64_t last_cookie;
	struct hostwatch watch;
	struct list pending; /* requests without an answer */
	struct list unsent; /* ... and those that the socket had no room for */
	struct list cached; /* nodes with content, the one used last at the end */
	uint32_t ncached;
	uint64_t cached_bytes;
	uint32_t nodes, puts;
	int64_t shrunk_at;
	struct list buckets[S3_BUCKETS];
};

/* A change of names that waits for the server, and after that for the call that asked for it (or
 * for nobody: then it is applied as soon as somebody sees that). Until then the tree shows what was
 * before. */
struct s3record {
	uint8_t op; /* S3_DELETE, S3_RMDIR, S3_MKDIR, S3_RENAME; 0: none */
	bool done, keep_parent;
	int err;
	pid_t tid;
	uint64_t call;
	struct s3node *to; /* S3_RENAME: counted */
	char *to_name; /* blob of to_len + 1 */
	uint8_t to_len;
};

struct s3node {
	struct inode inode; /* first */
	struct list hash_link, sibling_link, children, cache_link;
	struct s3node *parent; /* counted; NULL: the root, or not in the tree */
	uint64_t cookie; /* place in listings */
	uint8_t type; /* enum s3_type; S3_NOTHING: known to be missing, never handed out */
	bool local; /* a file that the server does not have yet */
	bool marker, complete; /* directory: has a marker; all its entries were told */
	int64_t seen_at, listed_at; /* when the server spoke of it, and of its entries; 0: never */
	uint32_t list_gen; /* directory: the number of its last listing */
	int64_t list_at; /* when that was asked for */
	uint32_t named_gen; /* ... of its directory's, that named it */
	struct waitq q; /* woken by each answer about it */
	uint8_t req_op; /* the request that is on its way; 0: none. One at a time */
	int err; /* of the last request, at failed_at */
	int64_t failed_at;
	struct s3record rec;
	/* content */
	int fd; /* on the scratch tmpfs; -1: none */
	bool whole; /* all of it is there; else by bits */
	bool dirty, map_written, tried;
	uint8_t *valid; /* blob of valid_bytes, a bit for each block */
	uint32_t valid_bytes;
	uint64_t cached; /* bytes counted in the fs */
	uint64_t etag;
	uint32_t gen, put_gen; /* changes; those in the upload */
	int64_t put_at; /* the last upload that went well */
	uint64_t get_block, get_count; /* what is being fetched */
	uint32_t others; /* fetches in a row that met another object than the one before */
	uint64_t next_pos; /* where a sequential reader goes on */
	uint32_t ahead;
	uint8_t len;
	char name[NAME_MAX_LEN + 1];
};

static inline struct s3node *s3node_of(struct inode *ino)
{
	return (struct s3node *)ino;
}
static inline struct s3fs *s3fs_of(const struct s3node *n)
{
	return (struct s3fs *)n->inode.fs;
}

extern const struct inode_ops s3_iops;
extern const struct file_ops s3_dir_fops, s3_reg_fops;

/* ---- the tree (node.c) ---- */
struct s3node *s3node_find(struct s3node *dir, const char *name, size_t len); /* borrows, or NULL */
/* A new node of type S3_NOTHING in dir; borrows (the tree has it). NULL: no memory. */
struct s3node *s3node_add(struct s3node *dir, const char *name, size_t len);
void s3node_type(struct s3node *n, enum s3_type type); /* of one that nobody else holds */
void s3node_cut(struct s3node *n); /* out of the tree, with all below it */
void s3node_move(struct s3node *n, struct s3node *dir, const char *name, size_t len);
void s3node_free(struct s3node *n); /* for evict */
/* It is not the server's word alone that says what it is: it was changed here, or is being
 * changed. */
bool s3node_is_own(const struct s3node *n);
/* The server says what is there; the node may be replaced by another of that name. */
void s3node_told(struct s3node *n, enum s3_type type, uint64_t size, int64_t mtime, uint64_t etag);
/* The key; -ENAMETOOLONG. */
int s3node_key(const struct s3node *n, char *buf, size_t size, size_t *ret_len);

/* ---- requests (wire.c) ---- */
/* Is what was learned at that time new enough for the call that runs? */
bool s3_is_fresh(int64_t at);
/* Why the last request about n failed, if that was after the call that runs began to wait; else
 * 0. */
int s3_failed(const struct s3node *n);
/* Sends a request about n, which has none on its way. fd -1: none. to NULL: no second key. */
int must_check s3_ask(struct s3node *n, enum s3_op op, uint64_t off, uint64_t len, uint32_t flags,
		      const char *to, size_t to_len);
/* The call waits for an answer about n: WAITING. Where no call runs (boot) it waits here: 0, look
 * again. */
int s3_wait(struct s3node *n);
/* where no call runs: waits for a moment, takes the answers that are there */
void s3_pump(struct s3fs *s);
bool s3_is_settled(
	const struct s3fs *s); /* no change is on its way; what is only read does not count */
int s3_watch(struct s3fs *s);
/* Waits while too many uploads are on their way. */
int s3_throttle(struct s3fs *s);
/* For replies, in dir.c and content.c. */
void s3_names_answer(struct s3node *n, uint32_t op, const struct s3_reply *r, size_t len);
void s3_content_answer(struct s3node *n, uint32_t op, const struct s3_reply *r);

/* ---- content (content.c) ---- */
void s3_content_drop(struct s3node *n);
void s3_contents_drop(struct s3fs *s); /* all that can be fetched again */
int s3_upload_start(struct s3node *n);
/* Until what is written is uploaded: 0, WAITING, or why it cannot be. */
int s3_upload(struct s3node *n);
int s3_setattr(struct inode *ino, const struct attr *a);
int s3_open(struct inode *ino, struct task *t, struct file *f);
int s3_hostfd(struct inode *ino, bool write);

/* ---- attributes (dir.c) ---- */
int s3_refresh(struct s3node *n);

#endif
