/* The caller's standard streams as files of the cell, and the terminal among them. */
#ifndef VIV_KERNEL_FS_STREAM_STREAM_H
#define VIV_KERNEL_FS_STREAM_STREAM_H

#include "base/base.h"

struct file;
struct inode;
struct tty;

/* Files over the host's descriptors 0, 1 and 2, for the cell's first process. returns refs;
 * descriptors that are one terminal, pipe or socket opened the same way give one file several
 * times. A terminal among them is the console. Called once. -errno. */
int must_check stream_files(struct file *out[3]);
/* The same for a process that is started later: over other descriptors, which belong to uid and
 * gid. Takes fds, also when it fails. A terminal is a stream like any other here; who wants one has
 * a pseudo-terminal (fs/pty/bridge.h). */
int must_check stream_files_of(const int fds[3], uint32_t uid, uint32_t gid, struct file *out[3]);

/* These are the streams of the process that the cell ends with; which of them a file is: from 0 on,
 * or -1: none. */
void stream_files_mark(struct file *const files[3]);
int stream_file_number(struct file *f);

/* ---- the console: the first stream that is a terminal ---- */
/* NULL when there is none. */
struct tty *console_tty(void);
/* Opens it on f (of /dev/console). -ENXIO when there is none. */
int must_check console_open(struct file *f);
/* Its own inode, for /dev/console; returns ref, or NULL. */
struct inode *console_inode(void);

#endif
