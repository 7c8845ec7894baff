/* epoll: sets of open files whose readiness is collected. */
#ifndef VIV_KERNEL_FS_EPOLL_EPOLL_H
#define VIV_KERNEL_FS_EPOLL_EPOLL_H

#include "base/base.h"
#include "kernel/abi/fs.h"

struct epoll;
struct file;
struct task;

/* The most events that one call gives. */
#define EPOLL_BATCH 4096

/* returns ref. -ENFILE, -ENOMEM. */
int must_check epoll_make(struct file **ret_);
/* The set behind an open file, borrowed; NULL when it is none. */
struct epoll *epoll_of(const struct file *f);

/* The three operations on descriptor fd, which is file target now. ef is the epoll's own open file.
 * -EEXIST, -ENOENT, -ELOOP, -EINVAL (EPOLLEXCLUSIVE), -ENOSPC, -ENOMEM. */
int must_check epoll_add(struct file *ef, struct file *target, int fd,
			 const struct linux_epoll_event *ev);
int must_check epoll_mod(struct file *ef, struct file *target, int fd,
			 const struct linux_epoll_event *ev);
int must_check epoll_del(struct file *ef, struct file *target, int fd);

/* Lays up to max events of what is ready at addr in t's memory: the count (0: nothing is ready), or
 * -EFAULT, after which nothing counts as delivered. */
int epoll_collect(struct epoll *ep, struct task *t, uaddr_t addr, uint32_t max);

/* The file that the set watches under number fd, or after toff others with that number; borrowed,
 * NULL: none. */
struct file *epoll_watched(const struct epoll *ep, int fd, uint32_t toff);

/* An upcall of the VFS: a watched file goes. */
void epoll_file_gone(struct file *f);

#endif
