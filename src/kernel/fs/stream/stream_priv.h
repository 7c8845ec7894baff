/* What stream.c and console.c share. */
#ifndef VIV_KERNEL_FS_STREAM_STREAM_PRIV_H
#define VIV_KERNEL_FS_STREAM_STREAM_PRIV_H

#include "kernel/fs/stream/stream.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/platform/loop.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/inode.h"

enum stream_kind { STREAM_FILE, STREAM_PIPE, STREAM_SOCKET, STREAM_TTY, STREAM_OTHER };

/* One of the caller's descriptors. The inode is the base: it is what open files of the stream
 * share. */
struct stream {
	struct inode inode; /* first */
	enum stream_kind kind;
	int fd; /* the host's; -1 after the last open file went away */
	/* every descriptor of it that the caller gave, fd among them; the others are -1 */
	int fds[3];
	uint32_t opens; /* open files */
	uint8_t number; /* of the cell's first process, from 1 on (the lowest); 0: of another */
	bool nonblock; /* the host's descriptor never blocks */
	uint32_t armed; /* what the watch waits for */
	struct hostwatch watch;
	struct waitq q;
};

/* NULL when the file is none of ours. */
struct stream *stream_of(struct file *f);
/* The stream that is the terminal, NULL when there is none (or it was closed). */
struct stream *stream_tty(void);
int stream_inode_open(struct inode *ino, struct task *t, struct file *f);

/* ---- console.c ---- */
void console_init(void);
int64_t console_ioctl(struct stream *s, struct file *f, struct task *t, unsigned cmd, uint64_t arg);
/* Job control, as tty_may_read and tty_may_write. */
int64_t must_check console_may_read(struct task *t);
int64_t must_check console_may_write(struct stream *s, struct task *t);
/* A read found nothing: is its time up? */
bool console_read_is_over(struct stream *s, struct task *t);

#endif
