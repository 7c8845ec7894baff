/* The cell's terminal: the caller's, when one of its streams is a terminal.
 *
 * Settings, window size and the line discipline are the host's terminal; whose controlling
 * terminal it is and which group is in the foreground are ours, because sessions and groups are.
 * Control characters are the host's business: viv is told by its own terminal and passes the
 * signal on to tty_foreground(). Commands that wait for output to drain are changed to those
 * that do not, since they would block the kernel.
 * Left out: stopping background readers and writers (SIGTTIN, SIGTTOU), TIOCSTI, pseudo-
 * terminals. */
#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include "host/host.h"
#include "kernel/fs/stream/stream_priv.h"
#include "kernel/platform/guestmem.h"

#define CAP_SYS_ADMIN_ 21

static struct {
	pid_t session, foreground; /* 0: none */
} tty;

bool tty_present(void)
{
	return stream_tty() != NULL;
}

pid_t tty_foreground(void)
{
	return tty.foreground;
}

pid_t tty_session(void)
{
	return tty.session;
}

void tty_set_session(pid_t sid, pid_t pgid)
{
	struct proc *old = tty.session ? proc_find(tty.session) : NULL;
	struct proc *leader = sid ? proc_find(sid) : NULL;

	if (old)
		old->tty_owner = false;
	if (leader)
		leader->tty_owner = true;
	tty.session = sid;
	tty.foreground = pgid;
}

static void tty_hang_up(void)
{
	pid_t fg = tty.foreground;

	tty_set_session(0, 0);
	if (fg) {
		signal_send_pgrp(fg, SIGHUP, NULL);
		signal_send_pgrp(fg, SIGCONT, NULL);
	}
}

void tty_session_ended(pid_t sid)
{
	if (sid && tty.session == sid)
		tty_hang_up();
}

bool tty_is_controlling(const struct task *t)
{
	return tty_present() && tty.session && t->proc->sid == tty.session;
}

uint64_t tty_rdev_of(const struct proc *p)
{
	return tty_present() && tty.session && p->sid == tty.session ? makedev(5, 1) : 0;
}

struct inode *tty_inode(void)
{
	struct stream *s = stream_tty();

	return s ? inode_get(&s->inode) : NULL;
}

int tty_open(struct file *f)
{
	struct stream *s = stream_tty();

	return s ? stream_inode_open(&s->inode, NULL, f, NULL) : -ENXIO;
}

/* ---- commands ---- */

static int64_t set_controlling(struct task *t, uint64_t arg)
{
	struct proc *p = t->proc;

	if (p->pid == p->sid && tty.session == p->sid)
		return 0;
	if (p->pid != p->sid)
		return -EPERM;
	if (tty.session && !(arg == 1 && cred_has_cap(&t->cred, CAP_SYS_ADMIN_)))
		return -EPERM;
	tty_set_session(p->sid, p->pgid);
	return 0;
}

static int64_t give_up_controlling(struct task *t)
{
	if (!tty_is_controlling(t))
		return -ENOTTY;
	if (t->proc->pid == t->proc->sid)
		tty_hang_up();
	return 0;
}

static int64_t set_foreground(struct task *t, uint64_t arg)
{
	int32_t pgid;
	int err;

	if (!tty_is_controlling(t))
		return -ENOTTY;
	err = guest_get(t->tid, &pgid, arg);
	if (err)
		return err;
	if (pgid < 0)
		return -EINVAL;
	if (!pgrp_exists(pgid, 0))
		return -ESRCH;
	if (!pgrp_exists(pgid, tty.session))
		return -EPERM;
	tty.foreground = pgid;
	return 0;
}

/* Reads size bytes of settings from the host's terminal to the guest, or the other way. */
static int64_t host_get(struct stream *s, struct task *t, unsigned cmd, uint64_t arg, size_t size)
{
	char buf[64] = { 0 };
	int err = host_ioctl(s->fd, cmd, buf);

	return err < 0 ? err : guest_write(t->tid, arg, buf, size);
}

static int64_t host_set(struct stream *s, struct task *t, unsigned cmd, uint64_t arg, size_t size)
{
	char buf[64] = { 0 };
	int err = guest_read(t->tid, buf, arg, size);

	return err ? err : host_ioctl(s->fd, cmd, buf);
}

#define TERMIOS_SIZE 36 /* the kernel's struct termios, not glibc's */
#define TERMIOS2_SIZE 44
#define TERMIO_SIZE 18

#define LINUX_TCGETS2 0x802c542aU
#define LINUX_TCSETS2 0x402c542bU
#define LINUX_TCSETSW2 0x402c542cU
#define LINUX_TCSETSF2 0x402c542dU

static void flush_input(struct stream *s)
{
	host_ioctl(s->fd, TCFLSH, (void *)(uintptr_t)TCIFLUSH);
}

int64_t tty_ioctl(struct stream *s, struct task *t, unsigned cmd, uint64_t arg)
{
	int32_t n;

	if (s->fd < 0)
		return -EIO;
	switch (cmd) {
	case TCGETS:
		return host_get(s, t, cmd, arg, TERMIOS_SIZE);
	case LINUX_TCGETS2:
		return host_get(s, t, cmd, arg, TERMIOS2_SIZE);
	case TCGETA:
		return host_get(s, t, cmd, arg, TERMIO_SIZE);
	case TIOCGWINSZ:
		return host_get(s, t, cmd, arg, sizeof(struct winsize));
	case FIONREAD:
	case TIOCOUTQ:
	case TIOCGETD:
		return host_get(s, t, cmd, arg, sizeof(int32_t));
	case TCSETSF:
		flush_input(s);
		return host_set(s, t, TCSETS, arg, TERMIOS_SIZE);
	case LINUX_TCSETSF2:
		flush_input(s);
		return host_set(s, t, LINUX_TCSETS2, arg, TERMIOS2_SIZE);
	case TCSETAF:
		flush_input(s);
		return host_set(s, t, TCSETA, arg, TERMIO_SIZE);
	case TCSETS:
	case TCSETSW:
		return host_set(s, t, TCSETS, arg, TERMIOS_SIZE);
	case LINUX_TCSETS2:
	case LINUX_TCSETSW2:
		return host_set(s, t, LINUX_TCSETS2, arg, TERMIOS2_SIZE);
	case TCSETA:
	case TCSETAW:
		return host_set(s, t, TCSETA, arg, TERMIO_SIZE);
	case TIOCSWINSZ:
		return host_set(s, t, cmd, arg, sizeof(struct winsize));
	case TCFLSH:
		if (arg > TCIOFLUSH)
			return -EINVAL;
		return host_ioctl(s->fd, TCFLSH, (void *)(uintptr_t)arg);
	case TCXONC:
		if (arg > TCION)
			return -EINVAL;
		return host_ioctl(s->fd, TCXONC, (void *)(uintptr_t)arg);
	case TCSBRK:
	case TCSBRKP:
		return 0;
	case TIOCGPGRP:
		if (!tty_is_controlling(t))
			return -ENOTTY;
		n = tty.foreground;
		return guest_put(t->tid, arg, &n);
	case TIOCSPGRP:
		return set_foreground(t, arg);
	case TIOCGSID:
		if (!tty_is_controlling(t))
			return -ENOTTY;
		n = tty.session;
		return guest_put(t->tid, arg, &n);
	case TIOCSCTTY:
		return set_controlling(t, arg);
	case TIOCNOTTY:
		return give_up_controlling(t);
	default:
		return -ENOTTY;
	}
}
