/* What every terminal of a cell has, whoever does its line discipline: a session and a foreground
 * group.
 *
 * A terminal is the controlling terminal of at most one session, and a session has at most one. So
 * a process's controlling terminal is the one whose session is the process's, unless the process
 * gave it up by itself (TIOCNOTTY). A struct tty is embedded in the terminal's own object (a PTY,
 * the caller's terminal).
 *
 * Job control: who reads, writes or changes a terminal asks first. A background process is stopped
 * by SIGTTIN or SIGTTOU there; its call waits and is made again when the process is continued. */
#ifndef VIV_KERNEL_FS_TTY_TTY_H
#define VIV_KERNEL_FS_TTY_TTY_H

#include <sys/types.h>

#include "base/list.h"

struct file;
struct proc;
struct task;

struct tty {
	struct list link; /* all terminals */
	uint64_t rdev;
	pid_t session, foreground; /* 0: none */
	/* Makes f, whose open is under way, another open file of the terminal: for /dev/tty. */
	int (*const *open)(struct tty *tty, struct file *f);
};

void tty_init(struct tty *tty, uint64_t rdev, int (*const *open)(struct tty *, struct file *));
void tty_fini(struct tty *tty);

/* p's controlling terminal, or NULL. Borrowed. */
struct tty *tty_of(const struct proc *p);
/* Makes tty the controlling terminal of leader's session, with its group in the foreground. */
void tty_attach(struct tty *tty, struct proc *leader);
/* A file of the terminal was opened by t: a session leader without a terminal gets it, if nobody
 * has it and neither O_NOCTTY nor the file's mode speaks against it. */
void tty_opened(struct tty *tty, struct task *t, const struct file *f);
/* The line is gone: the session's leader gets SIGHUP and SIGCONT, and nobody has the terminal any
 * more. */
void tty_hang_up(struct tty *tty);
/* p, a session leader, ends: its foreground group gets SIGHUP, the terminal is free. */
void tty_session_ended(struct proc *p);
/* To the foreground group, if there is one. */
void tty_signal(const struct tty *tty, int sig);

/* May t (NULL: the kernel itself) read; write; change settings? 0, -EIO, or WAITING: the caller
 * returns it. tostop: a background process may not write either. */
int64_t must_check tty_may_read(struct tty *tty, struct task *t);
int64_t must_check tty_may_write(struct tty *tty, struct task *t, bool tostop);
int64_t must_check tty_may_change(struct tty *tty, struct task *t);

/* The commands about sessions and groups, the same for every terminal. f is the terminal's, or with
 * from_master its other end's. False: cmd is none of them. */
bool tty_ioctl(struct tty *tty, struct task *t, const struct file *f, unsigned cmd, uint64_t arg,
	       bool from_master, int64_t *ret_);

#endif
