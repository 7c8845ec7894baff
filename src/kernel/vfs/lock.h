/* File locks for the system call layer: flock(), fcntl() POSIX and open-file-description locks.
 * -EAGAIN means that somebody holds a conflicting lock: the caller returns it, or parks on
 * lock_waitq() and tries again. */
#ifndef VIV_KERNEL_VFS_LOCK_H
#define VIV_KERNEL_VFS_LOCK_H

#include <sys/types.h>

#include "base/base.h"

struct fdtable;
struct file;
struct inode;
struct task;
struct waitq;

#define LOCK_TO_EOF ((uint64_t)INT64_MAX) /* the last byte of a range without end */

struct lock_range {
	int type; /* F_RDLCK, F_WRLCK, F_UNLCK */
	uint64_t start, end; /* both included; LOCK_TO_EOF */
	pid_t pid; /* filled by lock_posix_get: the holder, -1 for an OFD lock */
};

/* op: LOCK_SH, LOCK_EX or LOCK_UN, with or without LOCK_NB (which only the caller minds). 0,
 * -EAGAIN, -EINVAL, -ENOLCK. As on Linux a lock that is held is given up before another kind is
 * asked for. */
int lock_flock(struct file *f, int op);
/* The range of struct flock's fields: base is the position that l_whence means. -EINVAL,
 * -EOVERFLOW. */
int lock_range_init(struct lock_range *r, int type, int64_t base, int64_t start, int64_t len);
/* Replaces *r by the first lock that conflicts with it, or for F_UNLCK by the first of its own in
 * the range; r->type = F_UNLCK when there is none. */
void lock_posix_get(struct file *f, const struct fdtable *ft, bool ofd, struct lock_range *r);
/* The caller has looked at the open mode. 0, -EAGAIN, -ENOLCK; when wait is set (F_SETLKW),
 * -EDEADLK instead of -EAGAIN if waiting would never end. */
int lock_posix_set(struct file *f, struct task *t, bool ofd, const struct lock_range *r, bool wait);
/* Woken (POLLOUT) when locks of the inode change. Only after -EAGAIN; borrowed. */
struct waitq *lock_waitq(struct inode *ino);

void locks_release_file(struct file *f); /* last close: flock and OFD locks */
/* Any close in a table of descriptors: the POSIX locks that were taken through it. */
void locks_release_posix(struct inode *ino, const struct fdtable *ft);

#endif
