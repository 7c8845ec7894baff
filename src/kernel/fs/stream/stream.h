/* The caller's standard streams as files of the cell, and the terminal among them. */
#ifndef VIV_KERNEL_FS_STREAM_STREAM_H
#define VIV_KERNEL_FS_STREAM_STREAM_H

#include "kernel/vfs/vfs.h"

/* Files over the host's descriptors 0, 1 and 2. returns refs; descriptors that are one terminal,
 * pipe or socket opened the same way give one file several times. Called once, after the VFS and
 * the other file kinds are up. -errno. */
int must_check stream_files(struct file *out[3]);

/* ---- the terminal: the first stream that is one ---- */
bool tty_present(void);
/* Its foreground group; 0 when it has none. */
pid_t tty_foreground(void);
/* Its session; 0 when it is nobody's. */
pid_t tty_session(void);
/* Makes it the controlling terminal of a session, with a foreground group. 0, 0: of none. */
void tty_set_session(pid_t sid, pid_t pgid);
/* The leader of session sid ended: if it was the terminal's, the terminal is free, and its
 * foreground group gets SIGHUP and SIGCONT. */
void tty_session_ended(pid_t sid);
/* Is it t's controlling terminal? */
bool tty_is_controlling(const struct task *t);
/* Device numbers as stat shows them (0 when there is no terminal, or p's session has none). */
uint64_t tty_rdev_of(const struct proc *p);
/* Opens the terminal on f (of /dev/tty or /dev/console). -ENXIO when there is none. */
int must_check tty_open(struct file *f);
/* The terminal's own inode, for /dev/console; returns ref, or NULL. */
struct inode *tty_inode(void);

#endif
