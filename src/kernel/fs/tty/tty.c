/* Sessions, foreground groups and job control of terminals; see tty.h.
 *
 * The rules are those of Linux's tty_jobctrl.c. A background process that reads is sent SIGTTIN
 * with its whole group; its call is parked until the process is continued, and then made again from
 * the start, as Linux does by restarting it. A call of a process that is stopped waits in the same
 * way: a stopped reader must not take what is typed for another. Left out: a process that its
 * session leader made before it got a terminal has that terminal too (Linux gives it to those that
 * come later only); TIOCSTI is refused to all. */
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "host/child.h"
#include "kernel/abi/signal.h"
#include "kernel/fs/tty/tty.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/call.h"
#include "kernel/task/cred.h"
#include "kernel/task/proc.h"
#include "kernel/task/signal.h"
#include "kernel/task/task.h"
#include "kernel/vfs/file.h"

#define CAP_SYS_ADMIN_ 21

static struct list ttys = LIST_INIT(ttys);

void tty_init(struct tty *tty, uint64_t rdev, int (*const *open)(struct tty *, struct file *))
{
	*tty = (struct tty){ .rdev = rdev, .open = open };
	list_append(&ttys, &tty->link);
}

void tty_fini(struct tty *tty)
{
	list_remove(&tty->link);
}

static struct tty *tty_of_session(pid_t sid)
{
	struct tty *tty;

	list_for_each(tty, &ttys, link)
		if (sid && tty->session == sid)
			return tty;
	return NULL;
}

struct tty *tty_of(const struct proc *p)
{
	return p->tty_detached ? NULL : tty_of_session(p->sid);
}

static bool is_controlling(const struct tty *tty, const struct proc *p)
{
	return tty->session && tty->session == p->sid && !p->tty_detached;
}

static bool is_leader(const struct proc *p)
{
	return p->pid == p->sid;
}

static void tty_release(struct tty *tty)
{
	tty->session = tty->foreground = 0;
}

void tty_attach(struct tty *tty, struct proc *leader)
{
	tty->session = leader->sid;
	tty->foreground = leader->pgid;
	leader->tty_detached = false;
	leader->tty_old_pgrp = 0;
}

void tty_opened(struct tty *tty, struct task *t, const struct file *f)
{
	if (!t || (f->flags & O_NOCTTY) || !(f->mode & FMODE_READ))
		return;
	if (is_leader(t->proc) && !tty->session && !tty_of(t->proc))
		tty_attach(tty, t->proc);
}

void tty_signal(const struct tty *tty, int sig)
{
	if (tty->foreground)
		(void)signal_send_pgrp(tty->foreground, sig, NULL);
}

void tty_hang_up(struct tty *tty)
{
	struct proc *leader = tty->session ? proc_find(tty->session) : NULL;
	pid_t foreground = tty->foreground;

	tty_release(tty);
	if (!leader || leader->state == PROC_ZOMBIE)
		return;
	/* The group learns of it when the leader ends. */
	leader->tty_old_pgrp = foreground;
	signal_send_proc(leader, SIGHUP, NULL);
	signal_send_proc(leader, SIGCONT, NULL);
}

void tty_session_ended(struct proc *p)
{
	struct tty *tty = tty_of(p);
	pid_t foreground = tty ? tty->foreground : p->tty_old_pgrp;

	if (tty)
		tty_release(tty);
	if (!foreground)
		return;
	(void)signal_send_pgrp(foreground, SIGHUP, NULL);
	if (!tty)
		(void)signal_send_pgrp(foreground, SIGCONT, NULL);
}

/* ---- job control ---- */

static bool is_ignored(const struct task *t, int sig)
{
	struct host_sigs hs = { 0 };

	if (cell.proc_fd >= 0)
		(void)host_thread_sigs(cell.proc_fd, t->proc->pid, t->tid, &hs);
	return (hs.ignored | hs.blocked) & SIGBIT(sig);
}

static int64_t wait_stopped(struct task *t)
{
	return call_wait(t, &t->proc->cont_q, ~0u, PARK_RESTART);
}

/* Stops t's group with sig if it is in the background. */
static int64_t check_foreground(struct tty *tty, struct task *t, int sig)
{
	struct proc *p = t->proc;
	int64_t ret;

	if (!is_controlling(tty, p) || !tty->foreground || p->pgid == tty->foreground)
		return 0;
	if (is_ignored(t, sig))
		return sig == SIGTTIN ? -EIO : 0;
	if (pgrp_is_orphaned(p->pgid))
		return -EIO;
	/* Parked first: a stop is told at once for a thread that waits, and a handler ends the
	 * wait. */
	ret = wait_stopped(t);
	(void)signal_send_pgrp(p->pgid, sig, NULL);
	return ret;
}

int64_t tty_may_read(struct tty *tty, struct task *t)
{
	if (!t)
		return 0;
	return t->proc->state == PROC_STOPPED ? wait_stopped(t) : check_foreground(tty, t, SIGTTIN);
}

int64_t tty_may_write(struct tty *tty, struct task *t, bool tostop)
{
	if (!t)
		return 0;
	if (t->proc->state == PROC_STOPPED)
		return wait_stopped(t);
	return tostop ? check_foreground(tty, t, SIGTTOU) : 0;
}

int64_t tty_may_change(struct tty *tty, struct task *t)
{
	return tty_may_write(tty, t, true);
}

/* ---- commands ---- */

static int64_t set_controlling(struct tty *tty, struct task *t, const struct file *f, uint64_t arg)
{
	struct proc *p = t->proc;
	bool admin = cred_has_cap(&t->cred, CAP_SYS_ADMIN_);

	if (is_leader(p) && tty->session == p->sid)
		return 0;
	if (!is_leader(p) || tty_of(p))
		return -EPERM;
	if (tty->session && !(arg == 1 && admin))
		return -EPERM;
	if (!(f->mode & FMODE_READ) && !admin)
		return -EPERM;
	tty_attach(tty, p);
	return 0;
}

static int64_t give_up_controlling(struct tty *tty, struct task *t, bool from_master)
{
	pid_t foreground = tty->foreground;

	if (from_master || !is_controlling(tty, t->proc))
		return -ENOTTY;
	if (!is_leader(t->proc)) {
		t->proc->tty_detached = true;
		return 0;
	}
	tty_release(tty);
	if (foreground) {
		(void)signal_send_pgrp(foreground, SIGHUP, NULL);
		(void)signal_send_pgrp(foreground, SIGCONT, NULL);
	}
	return 0;
}

/* As Linux's session_of_pgrp: of a member, or of the process that has this number. 0: there is
 * neither. */
static pid_t session_of_group(pid_t pgid)
{
	struct proc *p;

	for (p = proc_next(NULL); p; p = proc_next(p))
		if (p->pgid == pgid)
			return p->sid;
	p = proc_find(pgid);
	return p ? p->sid : 0;
}

static int64_t set_foreground(struct tty *tty, struct task *t, uint64_t arg)
{
	int64_t ret = tty_may_change(tty, t);
	int32_t pgid;
	pid_t sid;

	if (ret)
		return ret == -EIO ? -ENOTTY : ret;
	if (guest_get(t->tid, &pgid, arg) < 0)
		return -EFAULT;
	if (pgid < 0)
		return -EINVAL;
	if (!is_controlling(tty, t->proc))
		return -ENOTTY;
	sid = session_of_group(pgid);
	if (!sid)
		return -ESRCH;
	if (sid != t->proc->sid)
		return -EPERM;
	tty->foreground = pgid;
	return 0;
}

static int64_t get_number(struct task *t, uint64_t arg, int32_t n)
{
	return guest_put(t->tid, arg, &n);
}

bool tty_ioctl(struct tty *tty, struct task *t, const struct file *f, unsigned cmd, uint64_t arg,
	       bool from_master, int64_t *ret_)
{
	bool mine = from_master || is_controlling(tty, t->proc);

	switch (cmd) {
	case TIOCGPGRP:
		*ret_ = mine ? get_number(t, arg, tty->foreground) : -ENOTTY;
		return true;
	case TIOCGSID:
		*ret_ = mine && tty->session ? get_number(t, arg, tty->session) : -ENOTTY;
		return true;
	case TIOCSPGRP:
		*ret_ = set_foreground(tty, t, arg);
		return true;
	case TIOCSCTTY:
		*ret_ = set_controlling(tty, t, f, arg);
		return true;
	case TIOCNOTTY:
		*ret_ = give_up_controlling(tty, t, from_master);
		return true;
	case TIOCSTI:
		*ret_ = -EIO;
		return true;
	default:
		return false;
	}
}
