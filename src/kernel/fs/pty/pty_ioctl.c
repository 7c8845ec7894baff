/* ioctl of pseudo-terminals. Settings and window belong to the pair, so either end may ask and set
 * them; flushing means a different buffer at each end. Nothing here waits for output to drain: as
 * on Linux, a pair has no line that could hold it back. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/tty.h>
#include <signal.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "kernel/fs/pty/pty_priv.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"
#include "kernel/vfs/fdtable.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/path.h"
#include "kernel/vfs/ask.h"

#define BAUD_BITS 15

/* ---- settings ---- */

static uint32_t baud_of(uint32_t bits, uint32_t other)
{
	static const uint32_t low[] = { 0,   50,   75,	 110,  134,  150,  200,	  300,
					600, 1200, 1800, 2400, 4800, 9600, 19200, 38400 };
	static const uint32_t high[] = { 0,	  57600,   115200,  230400,  460800,  500000,
					 576000,  921600,  1000000, 1152000, 1500000, 2000000,
					 2500000, 3000000, 3500000, 4000000 };

	if (bits == BOTHER)
		return other;
	return bits & CBAUDEX ? high[bits & BAUD_BITS] : low[bits & BAUD_BITS];
}

static void speeds_fill(struct linux_termios2 *s)
{
	uint32_t in = s->cflag >> IBSHIFT & CBAUD;

	s->ospeed = baud_of(s->cflag & CBAUD, s->ospeed);
	s->ispeed = in == B0 ? s->ospeed : baud_of(in, s->ispeed);
}

static int64_t settings_get(struct pty *pty, struct task *t, uint64_t arg, size_t size)
{
	return guest_write(t->tid, arg, &pty->ld.set, size);
}

static int64_t settings_get_old(struct pty *pty, struct task *t, uint64_t arg)
{
	const struct linux_termios2 *s = &pty->ld.set;
	struct linux_termio old = { .iflag = (uint16_t)s->iflag,
				    .oflag = (uint16_t)s->oflag,
				    .cflag = (uint16_t)s->cflag,
				    .lflag = (uint16_t)s->lflag,
				    .line = s->line };

	memcpy(old.cc, s->cc, sizeof(old.cc));
	return guest_put(t->tid, arg, &old);
}

static int64_t settings_read(struct task *t, uint64_t arg, size_t size, struct linux_termios2 *s)
{
	struct linux_termio old;

	if (size != sizeof(old))
		return guest_read(t->tid, s, arg, size);
	if (guest_get(t->tid, &old, arg) < 0)
		return -EFAULT;
	s->iflag = (s->iflag & ~0xffffu) | old.iflag;
	s->oflag = (s->oflag & ~0xffffu) | old.oflag;
	s->cflag = (s->cflag & ~0xffffu) | old.cflag;
	s->lflag = (s->lflag & ~0xffffu) | old.lflag;
	memcpy(s->cc, old.cc, sizeof(old.cc));
	return 0;
}

/* What is locked stays as it was. */
static void settings_keep_locked(const struct pty *pty, struct linux_termios2 *s)
{
	const struct linux_termios2 *lock = &pty->lock, *was = &pty->ld.set;

	s->iflag = (s->iflag & ~lock->iflag) | (was->iflag & lock->iflag);
	s->oflag = (s->oflag & ~lock->oflag) | (was->oflag & lock->oflag);
	s->cflag = (s->cflag & ~lock->cflag) | (was->cflag & lock->cflag);
	s->lflag = (s->lflag & ~lock->lflag) | (was->lflag & lock->lflag);
	if (lock->line)
		s->line = was->line;
	for (size_t i = 0; i < ARRAY_LEN(s->cc); i++)
		if (lock->cc[i])
			s->cc[i] = was->cc[i];
}

static int64_t lock_set(struct pty *pty, struct task *t, uint64_t arg)
{
	struct linux_termios2 lock = { 0 };

	if (!cred_has_cap(&t->cred, CAP_SYS_ADMIN))
		return -EPERM;
	if (guest_read(t->tid, &lock, arg, LINUX_TERMIOS_SIZE) < 0)
		return -EFAULT;
	pty->lock = lock;
	return 0;
}

static int64_t settings_set(struct pty *pty, struct task *t, uint64_t arg, size_t size, bool flush)
{
	struct linux_termios2 s = pty->ld.set;
	int64_t ret = tty_may_change(&pty->tty, t);

	if (ret)
		return ret;
	ret = settings_read(t, arg, size, &s);
	if (ret)
		return ret;
	settings_keep_locked(pty, &s);
	speeds_fill(&s);
	if (flush)
		ldisc_flush_input(&pty->ld);
	ldisc_set(&pty->ld, &s);
	pty_wake(pty);
	return 0;
}

static bool settings_ioctl(struct pty *pty, struct task *t, unsigned cmd, uint64_t arg,
			   int64_t *ret_)
{
	switch (cmd) {
	case TCGETS:
		*ret_ = settings_get(pty, t, arg, LINUX_TERMIOS_SIZE);
		return true;
	case TCGETS2:
		*ret_ = settings_get(pty, t, arg, sizeof(struct linux_termios2));
		return true;
	case TCGETA:
		*ret_ = settings_get_old(pty, t, arg);
		return true;
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		*ret_ = settings_set(pty, t, arg, LINUX_TERMIOS_SIZE, cmd == TCSETSF);
		return true;
	case TCSETS2:
	case TCSETSW2:
	case TCSETSF2:
		*ret_ = settings_set(pty, t, arg, sizeof(struct linux_termios2), cmd == TCSETSF2);
		return true;
	case TCSETA:
	case TCSETAW:
	case TCSETAF:
		*ret_ = settings_set(pty, t, arg, sizeof(struct linux_termio), cmd == TCSETAF);
		return true;
	case TIOCGLCKTRMIOS:
		*ret_ = guest_write(t->tid, arg, &pty->lock, LINUX_TERMIOS_SIZE);
		return true;
	case TIOCSLCKTRMIOS:
		*ret_ = lock_set(pty, t, arg);
		return true;
	default:
		return false;
	}
}

/* ---- what both ends have ---- */

static int64_t put_int(struct task *t, uint64_t arg, int32_t n)
{
	return guest_put(t->tid, arg, &n);
}

static int64_t window_set(struct pty *pty, struct task *t, uint64_t arg)
{
	struct linux_winsize size;

	if (guest_get(t->tid, &size, arg) < 0)
		return -EFAULT;
	if (!memcmp(&size, &pty->size, sizeof(size)))
		return 0;
	pty->size = size;
	tty_signal(&pty->tty, SIGWINCH);
	return 0;
}

static bool common_ioctl(struct pty *pty, struct task *t, unsigned cmd, uint64_t arg, int64_t *ret_)
{
	int32_t n;

	switch (cmd) {
	case TIOCGWINSZ:
		*ret_ = guest_put(t->tid, arg, &pty->size);
		return true;
	case TIOCSWINSZ:
		*ret_ = window_set(pty, t, arg);
		return true;
	case TIOCOUTQ:
	case TIOCGETD:
		*ret_ = put_int(t, arg, 0);
		return true;
	case TIOCSETD:
		*ret_ = guest_get(t->tid, &n, arg) < 0 ? -EFAULT : n == N_TTY ? 0 : -EINVAL;
		return true;
	case TIOCEXCL:
	case TIOCNXCL:
		pty->exclusive = cmd == TIOCEXCL;
		*ret_ = 0;
		return true;
	case TIOCGEXCL:
		*ret_ = put_int(t, arg, pty->exclusive);
		return true;
	default:
		return settings_ioctl(pty, t, cmd, arg, ret_);
	}
}

/* ---- the slave ---- */

static int64_t slave_flush(struct pty *pty, struct task *t, uint64_t arg)
{
	int64_t ret = tty_may_change(&pty->tty, t);

	if (ret)
		return ret;
	if (arg > TCIOFLUSH)
		return -EINVAL;
	if (arg != TCOFLUSH)
		ldisc_flush_input(&pty->ld);
	if (arg != TCIFLUSH)
		ldisc_flush_output(&pty->ld);
	ldisc_pump(&pty->ld);
	pty_wake(pty);
	return 0;
}

static int64_t slave_flow(struct pty *pty, struct task *t, uint64_t arg)
{
	struct ldisc *ld = &pty->ld;
	int64_t ret = tty_may_change(&pty->tty, t);

	if (ret)
		return ret;
	switch (arg) {
	case TCOOFF:
		ldisc_stop(ld);
		ld->stopped_by_call = true;
		break;
	case TCOON:
		if (ld->stopped_by_call) {
			ld->stopped_by_call = false;
			ldisc_start(ld);
		}
		break;
	case TCIOFF:
		ldisc_send_raw(ld, ld->set.cc[VSTOP]);
		break;
	case TCION:
		ldisc_send_raw(ld, ld->set.cc[VSTART]);
		break;
	default:
		return -EINVAL;
	}
	pty_wake(pty);
	return 0;
}

int64_t pty_slave_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	struct pty *pty = f->priv;
	int64_t ret;

	if (pty->hung)
		return cmd == TIOCSPGRP ? -ENOTTY : -EIO;
	if (common_ioctl(pty, t, cmd, arg, &ret) ||
	    tty_ioctl(&pty->tty, t, f, cmd, arg, false, &ret))
		return ret;
	switch (cmd) {
	case FIONREAD:
		return put_int(t, arg, (int32_t)ldisc_readable(&pty->ld));
	case TIOCGPTPEER:
		return -EIO;
	case TCFLSH:
		return slave_flush(pty, t, arg);
	case TCXONC:
		return slave_flow(pty, t, arg);
	case TCSBRK:
	case TCSBRKP:
	case TIOCSBRK:
	case TIOCCBRK:
		return tty_may_change(&pty->tty, t);
	case TIOCGDEV:
		return put_int(t, arg,
			       (int32_t)((pty->index & 0xff) | PTY_MAJOR << 8 |
					 (pty->index & ~0xffu) << 12));
	default:
		return -ENOTTY;
	}
}

/* ---- the master ---- */

/* Opens the slave without its name. */
static int64_t peer_open(struct pty *pty, struct task *t, uint64_t arg)
{
	uint32_t flags = (uint32_t)arg;
	struct path place;
	struct file *f;
	int ret;

	ret = devpts_path(pty, &place);
	if (ret < 0)
		return ret;
	flags &= ~(uint32_t)O_CLOEXEC;
	ret = ask_open(t, &place, flags);
	if (ret == 0)
		ret = file_open(t, &place, flags | OPEN_CREATED, &f);
	path_put(&place);
	if (ret < 0)
		return ret;
	ret = fd_install(t, f, 0, arg & O_CLOEXEC);
	if (ret < 0)
		file_put(f);
	return ret;
}

static int64_t master_flush(struct pty *pty, uint64_t arg)
{
	if (arg > TCIOFLUSH)
		return -EINVAL;
	if (arg != TCOFLUSH)
		ldisc_flush_out(&pty->ld);
	if (arg != TCIFLUSH)
		ldisc_flush_pending(&pty->ld);
	pty_wake(pty);
	return 0;
}

static int64_t packet_set(struct pty *pty, int32_t on)
{
	if (on && !pty->ld.packet)
		pty->ld.packet_bits = 0;
	pty->ld.packet = on;
	return 0;
}

int64_t pty_master_ioctl(struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	struct pty *pty = f->priv;
	int64_t ret;
	int32_t n;

	if (common_ioctl(pty, t, cmd, arg, &ret) ||
	    tty_ioctl(&pty->tty, t, f, cmd, arg, true, &ret))
		return ret;
	switch (cmd) {
	case FIONREAD:
		return put_int(t, arg, (int32_t)ldisc_out(&pty->ld));
	case TIOCGPTN:
		return put_int(t, arg, (int32_t)pty->index);
	case TIOCGPTLCK:
		return put_int(t, arg, pty->locked);
	case TIOCGPKT:
		return put_int(t, arg, pty->ld.packet);
	case TIOCSPTLCK:
	case TIOCPKT:
		if (guest_get(t->tid, &n, arg) < 0)
			return -EFAULT;
		if (cmd == TIOCPKT)
			return packet_set(pty, n);
		pty->locked = n;
		return 0;
	case TIOCGPTPEER:
		return peer_open(pty, t, arg);
	case TIOCSIG:
		if (arg != SIGINT && arg != SIGQUIT && arg != SIGTSTP)
			return -EINVAL;
		tty_signal(&pty->tty, (int)arg);
		return 0;
	case TCFLSH:
		return master_flush(pty, arg);
	case TCXONC:
		return arg > TCION ? -EINVAL : 0;
	case TCSBRK:
	case TCSBRKP:
	case TIOCSBRK:
	case TIOCCBRK:
		return 0;
	case TIOCGDEV:
		return put_int(t, arg, 5 << 8 | 2);
	default:
		return -ENOTTY;
	}
}
