/* What the files of fs/pty share. */
#ifndef VIV_KERNEL_FS_PTY_PTY_PRIV_H
#define VIV_KERNEL_FS_PTY_PTY_PRIV_H

#include "kernel/fs/pty/ldisc.h"
#include "kernel/fs/pty/pty.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/task/waitq.h"
#include "kernel/vfs/inode.h"

#define PTY_MAX 1024
#define PTY_MAJOR 136

/* A pair. Its inode is the slave's; the master's file, the slave's files and the directory hold
 * references to it. */
struct pty {
	struct inode inode; /* first */
	struct tty tty;
	struct ldisc ld;
	uint32_t index;
	uint32_t slaves; /* open files of the slave */
	bool locked; /* the slave cannot be opened yet */
	bool slave_gone; /* it was open and is closed: the master reads EIO */
	bool hung; /* the master is closed */
	bool exclusive; /* TIOCEXCL */
	struct linux_winsize size;
	/* TIOCSLCKTRMIOS: bits and characters of the settings that stay as they are */
	struct linux_termios2 lock;
	struct waitq master_q, slave_q;
};

/* ---- pairs (pty.c) ---- */
/* The pair of this number, while its master is open; NULL: none. Borrowed. */
struct pty *pty_find(uint64_t index);
/* The lowest number from index on; NULL: no more. */
struct pty *pty_next(uint64_t index);
void pty_free(struct pty *pty);
int pty_slave_open(struct pty *pty, struct task *t, struct file *f);
/* Wakes who waits for what the line discipline has done. */
void pty_wake(struct pty *pty);

/* ---- commands (pty_ioctl.c) ---- */
int64_t pty_slave_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg);
int64_t pty_master_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg);

/* ---- the directory (devpts.c) ---- */
struct fs *devpts_fs(void); /* NULL: there is none */
/* Makes the slave's inode ready. */
void devpts_inode_init(struct pty *pty, const struct cred *c);
/* The place of the slave, wherever it is mounted first. returns path ref. */
int must_check devpts_path(const struct pty *pty, struct path *ret_);

#endif
