/* The caller's standard streams as files of the cell, and the terminal among them. */
#ifndef VIV_KERNEL_FS_STREAM_STREAM_H
#define VIV_KERNEL_FS_STREAM_STREAM_H

#include "kernel/vfs/vfs.h"

struct tty;

/* Files over the host's descriptors 0, 1 and 2. returns refs; descriptors that are one terminal,
 * pipe or socket opened the same way give one file several times. Called once, after the VFS and
 * the other file kinds are up. -errno. */
int must_check stream_files(struct file *out[3]);

/* ---- the console: the first stream that is a terminal ---- */
/* NULL when there is none. */
struct tty *console_tty(void);
/* Opens it on f (of /dev/console). -ENXIO when there is none. */
int must_check console_open(struct file *f);
/* Its own inode, for /dev/console; returns ref, or NULL. */
struct inode *console_inode(void);

#endif
