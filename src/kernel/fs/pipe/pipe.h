/* Pipes and FIFOs, and what splice and its kin need of them. */
#ifndef VIV_KERNEL_FS_PIPE_PIPE_H
#define VIV_KERNEL_FS_PIPE_PIPE_H

#include <poll.h>

#include "base/base.h"

struct fifo_wait;
struct file;
struct inode;
struct path;
struct task;
struct uio;

#define PIPE_ATOMIC 4096u /* PIPE_BUF: writes up to this size are never split */
#define PIPE_SIZE_DEFAULT (64u << 10)
/* what a new pipe gets when the cell's pipes are over their bound */
#define PIPE_SIZE_LOW (8u << 10)
#define PIPE_SIZE_MAX (1u << 20)
#define PIPE_TOTAL_MAX (64ull << 20) /* sum of all pipes' sizes up to which they may be large */

/* The event on a pipe's queue that tells of a new reader or writer: FIFO opens wait for it. */
#define PIPE_EVENT_OPENED POLLPRI

struct pipe;

/* Both ends of a new pipe. flags: O_NONBLOCK, O_DIRECT. Returns refs. -ENFILE, -ENOMEM. */
int must_check pipe_make(uint32_t flags, struct file **ret_r, struct file **ret_w);

/* The pipe of an open file, borrowed; NULL when the file is no pipe or FIFO. */
struct pipe *pipe_of(const struct file *f);

uint32_t pipe_used(const struct pipe *p); /* bytes inside */
uint32_t pipe_space(const struct pipe *p); /* bytes that it takes now */
bool pipe_has_readers(const struct pipe *p);
bool pipe_has_writers(const struct pipe *p);
uint32_t pipe_capacity(const struct pipe *p); /* F_GETPIPE_SZ */
/* F_SETPIPE_SZ: the new size. -EINVAL, -EPERM over the bounds, -EBUSY when the content does not
 * fit. */
int64_t pipe_resize(struct pipe *p, uint64_t size);

/* Copies up to n bytes without taking them, from off bytes after the first. The count. */
uint32_t pipe_peek(const struct pipe *p, uint32_t off, void *dst, uint32_t n);
/* Takes n bytes (no more than are inside) that were peeked, and wakes writers. */
void pipe_consume(struct pipe *p, uint32_t n);
/* Puts in bytes of u up to pipe_space() and wakes readers. The count, -EAGAIN when it is full,
 * -EPIPE without readers, -EFAULT, -ENOMEM. packet: as one message. */
int64_t pipe_push(struct pipe *p, struct uio *u, bool packet);

/* A task whose open of a FIFO waits goes on at the place it first found. Returns path ref. */
bool fifo_wait_path(struct task *t, struct path *ret_);
/* Its call ended without its file. */
void fifo_wait_cancel(struct fifo_wait *w);
/* An upcall of the VFS. */
int fifo_open(struct inode *ino, struct task *t, struct file *f);

#endif
