/* The places of descriptors: which numbers probably hold something in this process, and how one of
 * each kind is made when an argument asks for it and there is none. */
#include "guest.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

struct own own;

/* Calls close and replace them in many ways: what turns out not to be there is forgotten. */
static uint8_t is_there[FD_END];

void fd_is_there(int fd, bool there)
{
	if (fd >= FD_FIRST && fd < FD_END)
		is_there[fd] = there;
}

static int fd_put(int fd, int place)
{
	if (fd < 3)
		return -1;
	fd_is_there(place, RAW(SYS_dup3, fd, place, 0) == place);
	RAW(SYS_close, fd);
	return place;
}

void fd_keep(struct run *run, unsigned kind, int fd)
{
	fd_put(fd, FD_FIRST + (int)(kind * FD_PER_KIND + r(run, FD_PER_KIND)));
}

static long terminal(int p[2])
{
	int zero = 0;

	p[0] = (int)RAW(SYS_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NONBLOCK | O_NOCTTY);
	RAW(SYS_ioctl, p[0], TIOCSPTLCK, &zero);
	p[1] = (int)RAW(SYS_ioctl, p[0], TIOCGPTPEER, O_RDWR | O_NONBLOCK | O_NOCTTY);
	return p[0];
}

/* The plainest of its kind, or two that belong together. */
static void fd_make(unsigned kind, int place)
{
	static const uint64_t signals = 1UL << (SIGUSR2 - 1) | 1UL << (34 - 1);
	int p[2] = { -1, -1 };
	long fd = -1;

	switch (kind) {
	case K_FILE: fd = RAW(SYS_openat, AT_FDCWD, "a", O_RDWR | O_CREAT, 0600); break;
	case K_DIR: fd = RAW(SYS_openat, AT_FDCWD, "d", O_DIRECTORY); break;
	case K_OPATH: fd = RAW(SYS_openat, AT_FDCWD, "a", O_PATH); break;
	case K_PIPE: fd = RAW(SYS_pipe2, p, O_NONBLOCK) < 0 ? -1 : p[0]; break;
	case K_UNIX: fd = RAW(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p) < 0 ? -1 : p[0]; break;
	case K_INET: fd = RAW(SYS_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); break;
	case K_NETLINK: fd = RAW(SYS_socket, AF_NETLINK, SOCK_RAW, 0); break;
	case K_EPOLL: fd = RAW(SYS_epoll_create1, 0); break;
	case K_EVENTFD: fd = RAW(SYS_eventfd2, 1, O_NONBLOCK); break;
	case K_TIMERFD: fd = RAW(SYS_timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK); break;
	case K_SIGNALFD: fd = RAW(SYS_signalfd4, -1, &signals, 8, O_NONBLOCK); break;
	case K_INOTIFY: fd = RAW(SYS_inotify_init1, O_NONBLOCK); break;
	case K_MEMFD: fd = RAW(SYS_memfd_create, "x", 2); break;
	case K_PIDFD: fd = RAW(434 /* pidfd_open */, getpid(), 0); break;
	case K_MQ: fd = RAW(SYS_mq_open, "a", O_RDWR | O_CREAT | O_NONBLOCK, 0600, 0); break;
	case K_PTY: fd = terminal(p); break;
	case K_PROC: fd = RAW(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY); break;
	}
	fd_put((int)fd, place);
	if (p[1] >= 0)
		fd_put(p[1], FD_FIRST + (int)kind * FD_PER_KIND + (place + 1 - FD_FIRST) % FD_PER_KIND);
}

int fd_any(struct run *run, unsigned kind)
{
	static const int odd[] = { -1, 0, 9999, AT_FDCWD, 1 << 30, FD_FLOOD };
	int first, at, i = 0;

	if (r(run, 60) == 0)
		return odd[r(run, 6)];
	if (kind >= KINDS || r(run, 12) == 0)
		kind = (unsigned)r(run, KINDS);
	first = FD_FIRST + (int)kind * FD_PER_KIND;
	at = (int)r(run, FD_PER_KIND);
	if (r(run, 16)) {
		while (i < FD_PER_KIND && !is_there[first + (at + i) % FD_PER_KIND])
			i++;
		if (i == FD_PER_KIND)
			fd_make(kind, first + at);
		at = (at + i) % FD_PER_KIND;
	}
	if (run->ndrawn < 8)
		run->drawn[run->ndrawn++] = (uint8_t)(first + at);
	return first + at;
}
