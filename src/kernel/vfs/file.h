/* Open file descriptions: what open() makes and dup() shares. Counted (file_get/file_put). */
#ifndef VIV_KERNEL_VFS_FILE_H
#define VIV_KERNEL_VFS_FILE_H

#include "base/list.h"
#include "kernel/vfs/path.h"

struct async;
struct change;
struct dirsink;
struct file;
struct inode;
struct task;
struct uio;
struct waitq;

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
#define OPEN_LINKER 0x10000000u /* with OPEN_EXEC: the interpreter of an ELF program */

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
	struct change *change; /* who changed its content (cell/journal.c); NULL: nobody is noted */
};

/* A file with refs = 1 for inode (counted anew) at path (may be NULL), not yet opened. */
int file_new(struct inode *ino, const struct path *p, uint32_t flags, struct file **ret_);
struct file *file_get(struct file *f);
void file_put(struct file *f);
/* Opens what is at p: permission, ETXTBSY, O_TRUNC, ops->open. WAITING with *ret_ set: it is open
 * and being truncated; the next run of the call goes on with inode_truncate(). */
int file_open(struct task *t, const struct path *p, uint32_t flags, struct file **ret_);
/* Or-ed into file_open's flags: this very call created the file, so neither permission nor hooks
 * are asked, and nothing is truncated. */
#define OPEN_CREATED 0x80000000u

/* An anonymous file ("anon_inode:[eventfd]", "pipe:", "socket:"): its own inode of the given mode
 * on the anonymous fs. A pipe and a socket belong to the caller, everything else to root. label is
 * shown by readlink in /proc/PID/fd as label or label[ino] when it ends with ':'. */
int file_new_anon(const char *label, uint32_t mode, const struct file_ops *ops, void *priv,
		  uint32_t flags, struct file **ret_);

/* For /proc/PID/fd: the text of its place as seen from root (NULL: the real root; also for what is
 * outside of it), or its label. Returns the length (cut at size; no NUL), or -errno. A file without
 * a place whose inode is not of the anonymous fs (a memfd) is asked through its inode's readlink
 * op. */
int file_label(struct file *f, const struct path *root, char *buf, size_t size);
/* Where it is, for /proc/PID/fd/N and AT_EMPTY_PATH: also for files that have no place. returns
 * path ref. */
int file_place(struct file *f, struct path *ret_);
/* A place outside of the tree for an inode that has none. returns path ref. */
int inode_place(struct inode *ino, struct path *ret_);

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

/* For file_ops.fsync of what has nothing to sync. */
int file_fsync_nothing(struct file *f, bool data_only);

#endif
