/* The caller's terminal, when one of its streams is one: the cell's console.
 *
 * Settings, window size and the line discipline are the host's terminal; whose controlling
 * terminal it is and which group is in the foreground are ours (fs/tty), because sessions and
 * groups are. Control characters are the host's business: viv is told by its own terminal and
 * passes the signal on to the foreground group. Commands that wait for output to drain are
 * changed to those that do not, since they would block the kernel. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include "host/host.h"
#include "kernel/fs/stream/stream_priv.h"
#include "kernel/platform/guestmem.h"
#include "kernel/task/call.h"
#include "kernel/task/proc.h"
#include "kernel/task/task.h"
#include "kernel/vfs/inode.h"

#define DECISECOND 100000000LL

static struct tty console;

struct tty *console_tty(void)
{
	return stream_tty() ? &console : NULL;
}

static int console_open_again(struct tty *tty, struct file *f)
{
	(void)tty;
	return console_open(f);
}

void console_init(void)
{
	tty_init(&console, makedev(5, 1), CALLBACK(console_open_again));
}

struct inode *console_inode(void)
{
	struct stream *s = stream_tty();

	return s ? inode_get(&s->inode) : NULL;
}

int console_open(struct file *f)
{
	struct stream *s = stream_tty();

	return s ? stream_inode_open(&s->inode, NULL, f) : -ENXIO;
}

/* ---- reading and writing ---- */

/* The kernel's struct termios; libc's is larger. */
struct host_termios {
	uint32_t iflag, oflag, cflag, lflag;
	uint8_t line, cc[19];
};

static bool settings_get(struct stream *s, struct host_termios *set)
{
	char buf[64] = { 0 };

	if (host_ioctl(s->fd, TCGETS, buf) < 0)
		return false;
	memcpy(set, buf, sizeof(*set));
	return true;
}

int64_t console_may_read(struct task *t)
{
	return tty_may_read(&console, t);
}

int64_t console_may_write(struct stream *s, struct task *t)
{
	struct host_termios set;
	bool ask = t && console.foreground && t->proc->pgid != console.foreground;

	return tty_may_write(&console, t, ask && settings_get(s, &set) && (set.lflag & TOSTOP));
}

/* VMIN 0 and a VTIME: our descriptor does not block, so the clock is ours. */
bool console_read_is_over(struct stream *s, struct task *t)
{
	struct host_termios set;

	if (!t || !settings_get(s, &set) || (set.lflag & ICANON) || set.cc[VMIN] || !set.cc[VTIME])
		return false;
	call_set_timeout(t, set.cc[VTIME] * DECISECOND);
	return call_is_expired(t);
}

/* ---- commands ---- */

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

/* What a background process is stopped for. */
static bool is_change(unsigned cmd)
{
	switch (cmd) {
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
	case TCSETA:
	case TCSETAW:
	case TCSETAF:
	case LINUX_TCSETS2:
	case LINUX_TCSETSW2:
	case LINUX_TCSETSF2:
	case TCFLSH:
	case TCXONC:
	case TCSBRK:
	case TCSBRKP:
		return true;
	default:
		return false;
	}
}

int64_t console_ioctl(struct stream *s, struct file *f, struct task *t, unsigned cmd, uint64_t arg)
{
	int64_t ret;

	if (s->fd < 0)
		return -EIO;
	if (tty_ioctl(&console, t, f, cmd, arg, false, &ret))
		return ret;
	ret = is_change(cmd) ? tty_may_change(&console, t) : 0;
	if (ret)
		return ret;
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
	default:
		return -ENOTTY;
	}
}
