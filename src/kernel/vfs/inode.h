/* Inodes: files themselves, whatever their names, owned by a file system. Counted
 * (inode_get/inode_put).
 *
 * For all operations of inodes, files and file systems: errors are negative errnos. WAITING: the
 * call that asks waits (task/call.h); nothing has been changed, and it will ask again. Names are
 * checked before they reach an op: 1..255 bytes, no '/' and no NUL, never "." or "..". Ops that
 * change a directory find out themselves whether a name exists. "returns ref": the caller puts it.
 * "borrows": valid during the call only. */
#ifndef VIV_KERNEL_VFS_INODE_H
#define VIV_KERNEL_VFS_INODE_H

#include <sys/stat.h>
#include <time.h>

#include "kernel/platform/fastmem.h"

struct content;
struct cred;
struct fifo;
struct file;
struct file_ops;
struct flock_list;
struct fs;
struct inode;
struct path;
struct task;

#define ATTR_MODE 1u
#define ATTR_UID 2u
#define ATTR_GID 4u
#define ATTR_SIZE 8u
#define ATTR_ATIME 16u
#define ATTR_MTIME 32u
#define ATTR_CTIME 64u /* touch ctime only; set with any of the above by the wrapper */
/* with ATIME and MTIME: the present, filled in by vfs_setattr; needs only write permission */
#define ATTR_NOW 128u

struct attr {
	uint32_t valid; /* ATTR_* */
	uint32_t mode; /* permission bits; the type is kept */
	uint32_t uid, gid;
	uint64_t size;
	struct timespec atime, mtime, ctime;
};

/* What a new entry is to be. */
struct newnode {
	uint32_t mode; /* type and permissions, umask applied */
	uint32_t uid, gid;
	uint64_t rdev;
	const char *target; /* of a symbolic link, NUL-terminated; else NULL */
	uint32_t open; /* flags of the open() that makes it, which hooks are asked about; else 0 */
};

#define RENAME_FLAGS (RENAME_NOREPLACE_ | RENAME_EXCHANGE_)
#define RENAME_NOREPLACE_ 1u
#define RENAME_EXCHANGE_ 2u

struct inode_ops {
	/* Directory: the entry called name; returns ref in *ret_. -ENOENT. Required for
	 * directories. */
	int (*lookup)(struct inode *dir, const char *name, size_t len, struct inode **ret_);
	/* Directory: a new entry of any type; returns ref. -EEXIST when there is one. Optional:
	 * -EPERM (-EROFS). */
	int (*create)(struct inode *dir, const char *name, size_t len, const struct newnode *n,
		      struct inode **ret_);
	/* Directory: a file without a name, for O_TMPFILE; nlink 0. Optional: -EOPNOTSUPP. */
	int (*tmpfile)(struct inode *dir, const struct newnode *n, struct inode **ret_);
	/* Directory: another name for target (same fs, not a directory). Optional: -EPERM. */
	int (*link)(struct inode *dir, const char *name, size_t len, struct inode *target);
	/* Directory: removes the entry, which leads to victim; a directory must be empty
	 * (-ENOTEMPTY). Updates nlink of victim and dir. Optional: -EPERM. */
	int (*unlink)(struct inode *dir, const char *name, size_t len, struct inode *victim);
	/* Moves entry oname of odir (which leads to moved) to nname of ndir, over victim (NULL:
	 * none). flags is 0 or RENAME_EXCHANGE_ (then victim is not NULL). The wrapper has checked
	 * types, loops, permissions and NOREPLACE; the op checks that a victim directory is empty.
	 * Optional: -EPERM. */
	int (*rename)(struct inode *odir, const char *oname, size_t olen, struct inode *moved,
		      struct inode *ndir, const char *nname, size_t nlen, struct inode *victim,
		      unsigned flags);
	/* Symbolic link: its target, at most size bytes; returns the length. Required for links. */
	int (*readlink)(struct inode *ino, struct task *t, char *buf, size_t size);
	/* Symbolic link that leads to a place and not to a string (/proc/self/fd/3): returns path
	 * ref in *ret_. Optional: the text from readlink is followed. */
	int (*follow)(struct inode *ino, struct task *t, struct path *ret_);
	/* Brings the fields of the inode up to date. Optional: they always are. */
	int (*getattr)(struct inode *ino);
	/* Changes attributes (checked and completed by the wrapper). Truncation is ATTR_SIZE.
	 * Optional: -EPERM. */
	int (*setattr)(struct inode *ino, const struct attr *a);
	/* An open file of it is being made: set f->ops and f->priv, may refuse. WAITING: a FIFO,
	 * for its other end; a large file that has to be copied first. Optional: ops from the
	 * inode's file_ops field. */
	int (*open)(struct inode *ino, struct task *t, struct file *f);
	/* Regular file: borrows the host descriptor of its content, good for reading, and for
	 * writing if asked (copies the content up first where it must). -errno. Optional: not
	 * backed by the host. */
	int (*hostfd)(struct inode *ino, bool write);
	/* Regular file: SHA-256 of its content, if the file system has it without reading.
	 * -ENODATA. Optional: it has not. */
	int (*hash)(struct inode *ino, uint8_t out[32]);
	/* Extended attributes. buf NULL or size 0: returns the length needed. -ENODATA, -ERANGE.
	 * set with value NULL removes. flags XATTR_CREATE / XATTR_REPLACE. Optional:
	 * -EOPNOTSUPP. */
	int (*getxattr)(struct inode *ino, const char *name, void *buf, size_t size);
	int (*setxattr)(struct inode *ino, const char *name, const void *value, size_t size,
			int flags);
	int (*listxattr)(struct inode *ino, char *buf, size_t size);
	/* Somebody watches it from now on, or nobody any more (inotify). -ENOSPC, -ENOMEM.
	 * Optional: all that happens to it happens through the VFS, which tells of it. */
	int (*watch)(struct inode *ino, bool on);
	/* Nobody holds the inode any more: free it (and its content, when nlink is 0). Required. */
	void (*evict)(struct inode *ino);
};

struct inode {
	uint32_t refs;
	const struct inode_ops *ops;
	const struct file_ops *fops; /* what an open file of it gets when ops->open is missing */
	struct fs *fs; /* borrowed: the mount and the tree of names keep it */
	uint64_t ino;
	uint32_t mode; /* type and permissions */
	uint32_t uid, gid, nlink;
	uint64_t rdev;
	uint64_t size;
	uint64_t blocks; /* of 512 bytes */
	struct timespec atime, mtime, ctime, btime;
	uint32_t writers; /* open files that may write: exec gives ETXTBSY */
	uint32_t execs; /* processes that run it: opening for writing gives ETXTBSY */
	bool immutable; /* a world-readable file of an image: its descriptor may stay in runners */
	bool noted; /* its name in /proc/PID/maps is known; only kept for immutable ones */
	struct flock_list *locks; /* flock and POSIX locks, NULL when there are none (vfs/lock.c) */
	struct fifo *fifo; /* the pipe behind a FIFO while it is open */
	void *sock; /* a bound socket */
	void *watches; /* inotify */
	struct content *content; /* it waits to be hashed (cell/contents.c); NULL: it does not */
	bool fixed; /* as Linux's S_IMMUTABLE (/proc/PID): writing is -EPERM, whoever asks */
	bool strict; /* as /proc/sys: the mode bits decide, whatever capabilities there are */
	bool mapped; /* /proc/PID/maps has its name, and is told when that goes */
	bool unsteady; /* mapped shared for writing: size and times may change without a call */
	uint16_t stamp; /* of its attributes; see inode_touch */
	bool linkable; /* made by O_TMPFILE without O_EXCL: may be linked though nlink is 0 */
};

/* For file systems: a fresh inode inside memory of their own. refs = 1, times = now. */
void inode_init(struct inode *ino, struct fs *fs, const struct inode_ops *ops, uint32_t mode);
/* A new inode without a directory belongs to the task whose call makes it. */
void inode_own(struct inode *ino);
struct inode *inode_get(struct inode *ino);
void inode_put(struct inode *ino);
/* For evict of inodes that hold their parent, NULL: none. However deep the tree is, it goes up in
 * one loop: an evict inside of another only leaves the next parent behind. */
void inode_put_parent(struct inode *parent);
uint64_t ino_next(void); /* a number no other made-up inode has */
/* Copies the host's stat into the fields that come from the host. */
void inode_from_stat(struct inode *ino, const struct stat *st);

struct timespec inode_now(void); /* the time for atime, mtime, ctime */
/* For setattr ops: copies what a->valid names (not the size) into the inode's fields. */
void inode_set_attr(struct inode *ino, const struct attr *a);
/* Permission of t's fsuid/fsgid: mask of R_OK, W_OK, X_OK. 0 or -EACCES (-EROFS by the mount is the
 * caller's). */
int inode_permission(struct inode *ino, const struct cred *c, int mask);
/* SHA-256 of its content, if that is known without reading it. 0 or -ENODATA. */
int must_check inode_hash(struct inode *ino, uint8_t out[32]);

/* Something that stat tells changed. Each place that writes such a field calls it, before the call
 * is answered. */
static inline void inode_touch(const struct inode *ino)
{
	stamp_bump(ino->stamp);
}

static inline bool inode_is_dir(const struct inode *i)
{
	return S_ISDIR(i->mode);
}
static inline bool inode_is_reg(const struct inode *i)
{
	return S_ISREG(i->mode);
}
static inline bool inode_is_lnk(const struct inode *i)
{
	return S_ISLNK(i->mode);
}

#endif
