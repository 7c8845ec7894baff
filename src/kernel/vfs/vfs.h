/* The virtual file system: inodes, names, mounts, open files.
 *
 *   inode   a file itself, owned by a file system; counted (inode_get/inode_put)
 *   name    an entry of the name cache: a parent, a string and the inode it leads to (or none: a
 *           negative entry). Names form the tree that path walks use; a name keeps its parent
 *           alive. Counted (name_get/name_put); one that nobody holds stays cached, and the
 *           oldest are dropped
 *   mount   a file system grafted onto a name of another mount. Counted
 *   path    a mount and a name in it: a place in the tree. path_get/path_put hold both
 *   file    an open file description: what open() makes and dup() shares. Counted
 *   fdtable numbers to files. Counted (threads share one)
 *
 * Kernel errors are negative errnos. WAITING: the call that asks waits (task.h); nothing has been
 * changed, and it will ask again. Names are checked before they reach an op: 1..255 bytes, no '/'
 * and no NUL, never "." or "..". Ops that change a directory find out themselves whether a name
 * exists. "returns ref": the caller puts it. "borrows": valid during the call only. */
#ifndef VIV_KERNEL_VFS_VFS_H
#define VIV_KERNEL_VFS_VFS_H

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>

#include "base/list.h"
#include "kernel/platform/fastmem.h"
#include "kernel/task/task.h"
#include "kernel/task/waitq.h"

struct dirsink;
struct file;
struct flock_list;
struct fs;
struct inode;
struct mount;
struct name;
struct path;
struct uio;

#define NAME_MAX_LEN 255
#define PATH_MAX_LEN 4096
#define SYMLINK_DEPTH 40

/* ---- file systems ---- */

struct fs_stat {
	uint64_t type; /* f_type, e.g. TMPFS_MAGIC */
	uint64_t blocks, bfree, files, ffree;
};

struct fs_ops {
	/* Figures for statfs. Optional: zeros. */
	void (*statfs)(struct fs *fs, struct fs_stat *out);
	/* Everything written so far reaches the disk. Optional: nothing to do. */
	int (*sync)(struct fs *fs);
	/* Gives up what is kept only to be quicker, as far as DROP_* asks and as it is not in use.
	 * Bounded work. Optional: nothing. */
	void (*drop)(struct fs *fs, unsigned what);
	/* The last reference went away. */
	void (*free)(struct fs *fs);
};

#define DROP_CONTENTS 1u /* of files, and descriptors of the host that stand for them */
#define DROP_NODES 2u /* names, inodes, and what file systems remember of them */

struct fs {
	uint32_t refs;
	const struct fs_ops *ops;
	const char *type_name; /* "tmpfs", "proc", ... as /proc/mounts shows it */
	uint32_t dev; /* st_dev, unique in the cell (makedev(0, n)) */
	bool nocache; /* names must be looked up again each time (hostdir, proc) */
	bool readonly;
	/* nothing changes but by our calls: look-ups may be remembered (stub/fast.h) */
	bool stable;
	/* calls wait for answers from outside (call_wait), and a change belongs to the call that
	 * asked for it */
	bool waits;
	struct inode *root; /* holds a reference */
};

void fs_init(struct fs *fs, const struct fs_ops *ops,
	     const char *type_name); /* refs = 1, new dev */
extern uint32_t fs_waiting; /* how many there are of those that wait */
struct fs *fs_get(struct fs *fs);
void fs_put(struct fs *fs);

/* ---- inodes ---- */

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
	bool fixed; /* as Linux's S_IMMUTABLE (/proc/PID): writing is -EPERM, whoever asks */
	bool strict; /* as /proc/sys: the mode bits decide, whatever capabilities there are */
	bool mapped; /* somebody was told its name for /proc/PID/maps: vfs_name_gone is called */
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

/* ---- names ---- */

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
	bool is_ctx : 1; /* vfs_ctx_gone wants to know of its end */
	uint8_t len;
	char small[20];
};

struct path {
	struct mount *mnt;
	struct name *name;
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
/* Called by name_delete for a name whose inode is mapped, if set; set by fs/proc. */
extern void (*vfs_name_gone)(struct name *n);
/* Called when a name with is_ctx goes; set by sys/fast.c. */
extern void (*vfs_ctx_gone)(struct name *n);
void name_move(struct name *n, struct name *new_parent, const char *str, size_t len); /* renamed */
void name_exchange(struct name *a, struct name *b);
void name_prune(void); /* drops cached names over the limit; called between calls */
/* All caches of the VFS and of every mounted file system: DROP_*. One piece of the work, bounded;
 * false: there is more to do. */
bool caches_drop(unsigned what);

/* ---- mounts ---- */

#define MNT_RDONLY 1u
#define MNT_NOSUID 2u
#define MNT_NODEV 4u
#define MNT_NOEXEC 8u

struct mount {
	uint32_t refs;
	struct list link; /* all mounts, in order */
	int id;
	struct fs *fs; /* counted */
	struct name *root; /* counted */
	struct mount *parent; /* counted; NULL for the root */
	struct name *point; /* counted; the name in parent that it covers */
	uint32_t flags; /* MNT_* */
	uint32_t locked; /* flags that a guest cannot take away */
	bool fixed; /* the operator's: a guest cannot unmount or move it, or look below it */
	bool expiring; /* MNT_EXPIRE was asked for once */
	/* fixed, on a parent that was detached: goes with that, which it does not count */
	bool kept;
	struct mntns *ns; /* borrowed; whose tree it is in, NULL: the cell's own */
	struct mount *copy; /* while a tree is copied */
	char source[64]; /* as /proc/mounts shows it */
	char options[64]; /* what the file system was given, with a comma in front of each */
};

/* Mounts fs (takes its reference) at place, or as the root of the cell when place is NULL. returns
 * ref. */
int mount_add(struct fs *fs, const struct path *place, uint32_t flags, const char *source,
	      struct mount **ret_);
int mount_remove(struct mount *m); /* -EBUSY */
extern uint32_t mount_changes; /* counts what came and went */
void mounts_changed(void); /* what was found out about paths may not be so any more */
/* What is mounted on this name of this mount; borrowed, NULL nothing. */
struct mount *mount_covering(const struct mount *parent, const struct name *point);
struct mount *mount_get(struct mount *m);
void mount_put(struct mount *m);
struct mount *mount_next(struct mount *after); /* walks all; NULL first */
void path_get(const struct path *p);
void path_put(struct path *p); /* empties *p */
bool path_is_same(const struct path *a, const struct path *b);
/* The mount on top at this place, if any: moves *p there. */
void path_cross_mounts(struct path *p);
/* 0, or -EROFS when the mount or its file system cannot be written. */
int path_want_write(const struct path *p);
/* It was read, listed or followed: moves atime as relatime does. */
void path_accessed(const struct path *p);

/* ---- changing the tree (vfs/mounttree.c). Places are as path_lookup gives them: on top of what is
 * mounted there. ---- */

/* A tree of mounts of a process's own (unshare). The cell's own has none: NULL. */
struct mntns;
struct mntns *mntns_get(struct mntns *ns); /* NULL passes */
void mntns_put(struct mntns *ns); /* NULL passes; the last one unmounts all of it */

/* What is at from appears at place as well, with all mounts below it if rec. -EINVAL, -ENOTDIR,
 * -ENOENT, -ENOMEM */
int mount_bind(const struct path *from, const struct path *place, bool rec);
int mount_move(struct mount *m, const struct path *place); /* -EINVAL, -ELOOP, -ENOTDIR */
/* Takes it and all below it out of the tree at once; who still uses it keeps it. */
void mount_detach(struct mount *m);
/* new_root (a mount) becomes the root of the tree, what was there is at put_old, which is below
 * it. */
int mount_pivot(struct mount *new_root, const struct path *put_old, struct mount *old_root);
bool mount_is_below(const struct mount *m, const struct mount *top); /* or is it */
/* Does the operator's mount cover something below the directory? */
bool mount_covers_below(const struct name *dir);
/* The place of its root inside its file system, as text in buf; "/" for all of it. */
const char *mount_root_text(const struct mount *m, char *buf, size_t size);

/* ---- path walk (vfs/walk.c) ---- */

#define LOOKUP_FOLLOW 1u /* a final symbolic link is followed */
#define LOOKUP_DIRECTORY 2u /* the result must be a directory */
#define LOOKUP_EMPTY 4u /* "" means dfd itself (AT_EMPTY_PATH) */
#define LOOKUP_NO_SYMLINKS 8u /* RESOLVE_NO_SYMLINKS */
#define LOOKUP_NO_MAGIC 16u /* RESOLVE_NO_MAGICLINKS */
#define LOOKUP_BENEATH 32u /* RESOLVE_BENEATH */
#define LOOKUP_IN_ROOT 64u /* RESOLVE_IN_ROOT */
#define LOOKUP_NO_XDEV 128u /* RESOLVE_NO_XDEV */
/* the last name may be missing: the result's name is negative, trailing '/' noted */
#define LOOKUP_CREATE 256u

/* Walks path from dfd (AT_FDCWD or a descriptor of t). Search permission is checked at each
 * directory. returns path ref. With LOOKUP_CREATE the name may be negative. */
int path_lookup(struct task *t, int dfd, const char *path, unsigned flags, struct path *ret_);
/* Walks to the parent directory; the last component is copied to last (NAME_MAX_LEN + 2 bytes,
 * possibly "." ".." or "/"), and *ret_dirslash tells of a trailing slash. returns path ref (of the
 * parent). */
int path_lookup_parent(struct task *t, int dfd, const char *path, unsigned flags, struct path *ret_,
		       char *last, bool *ret_dirslash);
/* The text of a path as seen from root (NULL: the real root); writes to buf, returns a pointer into
 * it and the length with the final NUL in *ret_len. -ENAMETOOLONG, or -ENOENT when it is
 * unreachable. Deleted names get " (deleted)" if mark_deleted. */
int path_text(const struct path *p, const struct path *root, bool mark_deleted, char *buf,
	      size_t size, char **ret_text, size_t *ret_len);

/* ---- operations with all of Linux's checks; t gives the credentials (vfs/ops.c) ---- last is a
 * component as path_lookup_parent gives it; "." ".." "/" get Linux's errors. One '/' may follow it
 * (the caller appends it when *ret_dirslash is set): then only a directory will do. */
int vfs_create(struct task *t, const struct path *dir, const char *last, const struct newnode *n,
	       struct path *ret_); /* returns path ref when ret_ is not NULL */
int vfs_unlink(struct task *t, const struct path *dir, const char *last, bool rmdir);
int vfs_link(struct task *t, const struct path *old, const struct path *dir, const char *last);
int vfs_rename(struct task *t, const struct path *odir, const char *olast, const struct path *ndir,
	       const char *nlast, unsigned flags);
int vfs_setattr(struct task *t, const struct path *p, struct attr *a);
int vfs_truncate(struct task *t, const struct path *p, uint64_t size); /* truncate(): by path */
/* Sets the size, times and set-id bits; RLIMIT_FSIZE is checked, permission is not. */
int inode_truncate(struct task *t, struct inode *ino, uint64_t size);
int file_truncate(struct task *t, struct file *f,
		  uint64_t size); /* ftruncate(): -EINVAL unless open for writing */
/* RLIMIT_FSIZE: how many of len bytes may be written at pos; -EFBIG (and SIGXFSZ is sent) when
 * none. */
int64_t vfs_write_limit(struct task *t, uint64_t pos, uint64_t len);
int vfs_getattr(const struct path *p); /* refreshes the inode's fields */
int vfs_permission(struct task *t, const struct path *p, int mask); /* also -EROFS for writes */

/* ---- watching (vfs/notify.c) ---- */

/* Tells inotify's event bits of the entry called name of dir (NULL: none) and of ino itself (NULL:
 * of the entry only). IN_ISDIR and, for an entry that was unlinked, IN_EXCL_UNLINK are or-ed in.
 * IN_Q_OVERFLOW, of nothing: the host has lost some. NULL while nobody watches anything. */
extern void (*vfs_notify)(struct inode *dir, const char *name, struct inode *ino, uint32_t mask,
			  uint32_t cookie);
void path_notify_do(const struct path *p, uint32_t mask);
/* It happened to what is at p: its directory and itself are told. p may be empty. */
static inline void path_notify(const struct path *p, uint32_t mask)
{
	if (vfs_notify && p->name && p->name->inode)
		path_notify_do(p, mask);
}

/* ---- open files ---- */

struct mapping_req {
	int prot, flags;
	uint64_t off, len;
};

struct file_ops {
	/* Moves bytes between the file and u, from pos (streams ignore it). Returns the count;
	 * -EAGAIN: nothing now (the caller parks on poll_q or passes it on). Short counts are fine.
	 * Optional: -EINVAL. */
	int64_t (*read)(struct file *f, struct uio *u, int64_t pos);
	int64_t (*write)(struct file *f, struct uio *u, int64_t pos);
	/* Directory: calls dirsink_emit() for each entry from f->pos on, until it says stop;
	 * updates f->pos. Optional: -ENOTDIR. */
	int (*iterate)(struct file *f, struct dirsink *sink);
	/* Optional: the usual SEEK_SET/CUR/END on f->pos with inode->size; -ESPIPE for streams
	 * (FMODE_STREAM). */
	int64_t (*seek)(struct file *f, int64_t off, int whence);
	/* What is ready now (POLLIN, POLLOUT, POLLHUP, ...). Optional: always readable and
	 * writable. */
	uint32_t (*poll)(struct file *f);
	/* The queue that is woken when poll's answer may have changed; borrowed. Optional: it never
	 * changes. */
	struct waitq *(*poll_q)(struct file *f);
	/* Optional: -ENOTTY. FIONBIO, FIOCLEX and the like are done before. */
	int64_t (*ioctl)(struct file *f, struct task *t, unsigned cmd, uint64_t arg);
	/* A mapping is asked for: the host descriptor to map (borrowed), or -errno; may change
	 * *off. Optional: the inode's hostfd, else -ENODEV. */
	int (*mmap)(struct file *f, const struct mapping_req *req, uint64_t *off);
	int (*fsync)(struct file *f, bool data_only); /* Optional: -EINVAL */
	int (*fallocate)(struct file *f, int mode, uint64_t off,
			 uint64_t len); /* Optional: -EOPNOTSUPP */
	/* One descriptor of it was closed (flush). Optional. */
	void (*flush)(struct file *f, struct task *t);
	/* The last descriptor is about to be closed by close(), whose result this is. May
	 * call_wait_outside(). Optional. */
	int (*finish)(struct file *f);
	/* The last reference went away. Optional. */
	void (*release)(struct file *f);
	enum async_kind {
		ASYNC_NO,
		ASYNC_ALWAYS,
		ASYNC_LEFT
	} async; /* what O_ASYNC does: vfs/async.c */
	/* A line or more for /proc/PID/fdinfo (after pos, flags, mnt_id). Optional. */
	void (*fdinfo)(struct file *f, struct uio *u);
};

#define FMODE_READ 1u
#define FMODE_WRITE 2u
#define FMODE_STREAM 4u /* no position: pipes, sockets, terminals: pread gives ESPIPE */
#define FMODE_PATH 8u /* O_PATH */
#define FMODE_EXEC 16u
#define FMODE_WRITER 64u /* counted in inode->writers (FMODE_EXEC: in inode->execs) */

/* Or-ed into file_open's flags: to run it. X instead of R is asked; -ETXTBSY when it is open for
 * writing, and who opens it for writing gets that while this file lives. */
#define OPEN_EXEC 0x20000000u

struct file {
	uint32_t refs;
	const struct file_ops *ops;
	struct path path; /* counted; both NULL for anonymous files that have no place */
	struct inode *inode; /* counted */
	uint32_t flags; /* O_* as F_GETFL shows them */
	uint32_t mode; /* FMODE_* */
	int64_t pos;
	void *priv; /* the file kind's own */
	uint64_t lock_id; /* owner of flock and OFD locks */
	struct list epoll_links; /* epoll items that watch it */
	int owner_pid, owner_sig; /* F_SETOWN, F_SETSIG */
	uint32_t owner_uid, owner_euid; /* of who set the owner */
	struct async *async; /* O_ASYNC (vfs/async.c); NULL: off */
};

/* A file with refs = 1 for inode (counted anew) at path (may be NULL), not yet opened. */
int file_new(struct inode *ino, const struct path *p, uint32_t flags, struct file **ret_);
struct file *file_get(struct file *f);
void file_put(struct file *f);
/* Opens what is at p: permission, ETXTBSY, O_TRUNC, ops->open. WAITING with *ret_ set: it is open
 * and being truncated; the next run of the call goes on with inode_truncate(). */
int file_open(struct task *t, const struct path *p, uint32_t flags, struct file **ret_);
/* Or-ed into file_open's flags: this very call created the file, so no permission is asked and
 * nothing truncated. */
#define OPEN_CREATED 0x80000000u
/* O_TMPFILE: a file without a name in the directory dir, at a place of its own that shows as "#INO
 * (deleted)"; needs write and search permission of dir. returns path ref; vfs_link can give it a
 * name, unless the caller clears the inode's linkable (O_EXCL). (vfs/ops.c) */
int vfs_tmpfile(struct task *t, const struct path *dir, const struct newnode *n, struct path *ret_);
/* Opens a FIFO (called by file_open for S_IFIFO inodes, with f complete but for ops and priv); set
 * by fs/pipe. The contract is that of inode_ops.open; on WAITING f is dropped without release.
 * NULL: -ENXIO. */
extern int (*vfs_fifo_open)(struct inode *ino, struct task *t, struct file *f);
/* Called by the last file_put while f is still whole, before release, if set and f->epoll_links is
 * not empty; set by fs/epoll. */
extern void (*vfs_file_gone)(struct file *f);
/* An anonymous file ("anon_inode:[eventfd]", "pipe:", "socket:"): its own inode of the given mode
 * on the anonymous fs. A pipe and a socket belong to the caller, everything else to root. label is
 * shown by readlink in /proc/PID/fd as label or label[ino] when it ends with ':'. */
int file_new_anon(const char *label, uint32_t mode, const struct file_ops *ops, void *priv,
		  uint32_t flags, struct file **ret_);

/* For /proc/PID/fd: the text of its place, or its label. Returns the length (cut at size; no NUL),
 * or -errno. A file without a place whose inode is not of the anonymous fs (a memfd) is asked
 * through its inode's readlink op. */
int file_label(struct file *f, char *buf, size_t size);
/* Where it is, for /proc/PID/fd/N and AT_EMPTY_PATH: also for files that have no place. returns
 * path ref. */
int file_place(struct file *f, struct path *ret_);

/* Opens a device, as vfs_fifo_open does a FIFO; set by fs/dev. NULL: -ENXIO. */
extern int (*vfs_dev_open)(struct inode *ino, struct task *t, struct file *f);

uint32_t file_poll(struct file *f); /* the wrapper over ops->poll */
struct waitq *file_poll_q(struct file *f); /* may be NULL */
int64_t file_read(struct file *f, struct uio *u, int64_t pos); /* wrapper: mode checks, atime */
int64_t file_write(struct file *f, struct uio *u,
		   int64_t pos); /* O_APPEND, limits, times, size, set-id bits */
/* Where a write at pos will really go: the end, with O_APPEND. For callers that then move
 * f->pos. */
int64_t file_write_pos(struct file *f, int64_t pos);
/* lseek: ops->seek or the usual rules; -ESPIPE for streams. */
int64_t file_seek(struct file *f, int64_t off, int whence);

/* File operations for a regular file whose inode has hostfd: read, write, seek, mmap, fsync,
 * fallocate. */
extern const struct file_ops hostfile_fops;
/* For tests of type and for directories. */
extern const struct file_ops dir_fops_readonly;

/* ---- directory listings ---- */

/* Linux's getdents64 records or whatever the caller collects. */
struct dirsink {
	/* returns false when there is no room: the entry was not taken. next_off: f->pos to go on
	 * after it. */
	bool (*emit)(struct dirsink *s, const char *name, size_t len, uint64_t ino, unsigned dtype,
		     int64_t next_off);
};
static inline bool dirsink_emit(struct dirsink *s, const char *name, size_t len, uint64_t ino,
				unsigned dtype, int64_t next_off)
{
	return s->emit(s, name, len, ino, dtype, next_off);
}
/* The inode number of "..": for iterate ops. */
uint64_t file_dotdot_ino(struct file *f);
/* "." and "..", the first two positions of every directory. False: the sink is full. */
static inline bool dirsink_dots(struct dirsink *s, struct file *f)
{
	if (f->pos == 0 && dirsink_emit(s, ".", 1, f->inode->ino, S_IFDIR >> 12, 1))
		f->pos = 1;
	if (f->pos == 1 && dirsink_emit(s, "..", 2, file_dotdot_ino(f), S_IFDIR >> 12, 2))
		f->pos = 2;
	return f->pos >= 2;
}
/* For file_ops.fsync of what has nothing to sync. */
int file_fsync_nothing(struct file *f, bool data_only);

/* ---- descriptor tables ---- */

struct fdslot {
	struct file *file;
	bool cloexec;
};

struct fdtable {
	uint32_t refs;
	uint32_t size; /* slots */
	uint32_t open;
	uint32_t hint; /* lowest that may be free */
	uint64_t lock_id; /* the owner of POSIX locks, as on Linux; no two tables have the same */
	/* once: open of what is not there may give EMFILE. vfs_files_full was told */
	bool was_full;
	struct fdslot *slots;
	struct list closing_link; /* in the list of those without a user that have files still */
};

/* The table has no room left for those who use it, for the first time, if set; set by
 * sys/fast.c. */
extern void (*vfs_files_full)(struct fdtable *ft);
void fdtable_note_full(struct fdtable *ft);
struct fdtable *fdtable_new(void); /* refs = 1, or NULL */
struct fdtable *fdtable_copy(const struct fdtable *); /* for fork; or NULL */
struct fdtable *fdtable_get(struct fdtable *);
void fdtable_put(struct fdtable *, struct task *t); /* t may be NULL */
/* Lowest free number >= from, below t's RLIMIT_NOFILE. Takes the file reference only on success.
 * -EMFILE. */
int fd_install(struct task *t, struct file *f, int from, bool cloexec);
int fd_install_at(struct task *t, struct file *f, int fd, bool cloexec); /* closes what was there */
int fd_close(struct task *t, int fd); /* -EBADF */
/* Closes what is marked so; false: that takes long, and there is more. */
bool fd_close_on_exec(struct task *t);
/* What fdtable_put() would close, for a table of a process that has ended: likewise. */
bool fdtable_close(struct fdtable *, struct task *t);
/* Borrowed: valid during the call (file_get it to keep it). NULL: no such descriptor (or O_PATH,
 * for fd_file). */
struct file *fd_file(struct task *t, int fd);
struct file *fd_file_or_path(struct task *t, int fd);

/* ---- root, working directory and umask of a thread; threads and CLONE_FS children share one
 * ---- */
struct fsctx {
	uint32_t refs;
	struct path root, cwd; /* counted */
	uint32_t umask;
	struct mntns *ns; /* counted; NULL: the cell's own tree of mounts */
};
/* fs, which nobody else uses, gets a copy of the tree of mounts it is in. -ENOSPC
 * (vfs/mounttree.c) */
int must_check fsctx_unshare_mounts(struct fsctx *fs);
struct fsctx *fsctx_new(const struct path *root, const struct path *cwd, uint32_t umask);
struct fsctx *fsctx_copy(const struct fsctx *);
struct fsctx *fsctx_get(struct fsctx *);
void fsctx_put(struct fsctx *);

/* ---- locks (vfs/lock.c) ---- */
void locks_release_file(struct file *f); /* last close: flock and OFD locks */
/* Any close in a table of descriptors: the POSIX locks that were taken through it. */
void locks_release_posix(struct inode *ino, const struct fdtable *ft);

#endif
