/* Sockets: unix ones with descriptors on their way, those of the loopback, netlink. And
 * terminals. */
#include "guest.h"

#include <linux/netlink.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define SOCKTYPE OF(SOCK_STREAM | SOCK_NONBLOCK, SOCK_DGRAM | SOCK_NONBLOCK, SOCK_SEQPACKET | SOCK_NONBLOCK, SOCK_STREAM)
#define SENDFLAGS OF(MSG_DONTWAIT, MSG_DONTWAIT, 0, MSG_DONTWAIT | MSG_OOB, MSG_DONTWAIT | MSG_EOR | MSG_NOSIGNAL, MSG_MORE | MSG_DONTWAIT)
#define RECVFLAGS OF(MSG_DONTWAIT, MSG_DONTWAIT, 0, MSG_DONTWAIT | MSG_PEEK, MSG_DONTWAIT | MSG_TRUNC, MSG_CMSG_CLOEXEC, MSG_WAITALL | MSG_DONTWAIT, MSG_OOB)

static int rights_send(int to, const int *fds, unsigned n)
{
	char control[CMSG_SPACE(4 * 64)], byte = 'x';
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = CMSG_SPACE(4 * n) };
	struct cmsghdr *h = (void *)control;

	memset(control, 0, sizeof(control));
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(4 * n);
	memcpy(CMSG_DATA(h), fds, 4 * n);
	return (int)RAW(SYS_sendmsg, to, &m, MSG_DONTWAIT);
}

/* Many sockets on their way through one, so that to look for garbage is dear, and put off. */
static void rights_many(struct run *run)
{
	int to = fd_any(run, K_UNIX), fds[64], p[2];
	unsigned n = 2 + (unsigned)r(run, 30) * 2;

	if (r(run, 2) && RAW(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p) == 0) {
		to = FD_FIRST + K_UNIX * FD_PER_KIND + (int)r(run, FD_PER_KIND);
		fd_is_there(to, RAW(SYS_dup3, p[0], to, 0) == to);
		RAW(SYS_close, p[0]);
		fd_keep(run, K_UNIX, p[1]);
	}
	say(run, "%u through %d", n, to);
	for (unsigned i = 0; i < n; i += 2)
		if (RAW(SYS_socketpair, AF_UNIX, SOCK_STREAM, 0, &fds[i]) < 0)
			n = i;
	rights_send(to, fds, n);
	for (unsigned i = 0; i < n; i++)
		RAW(SYS_close, fds[i]);
}

/* Sockets that only they themselves reach: each end's own queue has it, and something else. */
static void rights_cycle(struct run *run)
{
	int p[2], more = fd_any(run, K_UNIX), shut = r(run, 2) != 0;
	int fds[3];

	if (RAW(SYS_socketpair, AF_UNIX, r(run, 2) ? SOCK_STREAM : SOCK_DGRAM, 0, p) < 0)
		return;
	if (r(run, 2)) {
		/* One that others can still find by its name. */
		struct arg name = ADDR(K_UNIX);
		int l = (int)RAW(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

		RAW(SYS_bind, l, arg_make(run, &name), 110);
		RAW(SYS_listen, l, r(run, 4));
		if (l >= 0)
			more = l;
		shut = 1;
	}
	say(run, "with %d%s", more, shut ? ", which is closed" : "");
	fds[0] = p[0];
	fds[1] = p[1];
	fds[2] = more;
	rights_send(p[0], fds, 3);
	rights_send(p[1], fds, 2);
	RAW(SYS_close, p[0]);
	RAW(SYS_close, p[1]);
	if (shut)
		RAW(SYS_close, more);
}

/* A listener that lies in the queue of a connection that nobody has accepted from it; both may be
 * closed then. It has its name still. */
static void listener_inside(struct run *run)
{
	struct arg name = ADDR(K_UNIX);
	int type = r(run, 3) ? SOCK_STREAM : SOCK_SEQPACKET, l = (int)RAW(SYS_socket, AF_UNIX, type | SOCK_NONBLOCK, 0);
	int c = (int)RAW(SYS_socket, AF_UNIX, type | SOCK_NONBLOCK, 0), fds[2] = { l, c };
	long at = arg_make(run, &name);

	RAW(SYS_bind, l, at, 110);
	RAW(SYS_listen, l, 4);
	RAW(SYS_connect, c, at, 110);
	rights_send(c, fds, 1 + (unsigned)r(run, 2));
	if (r(run, 4) == 0)
		fd_keep(run, K_UNIX, c);
	else
		RAW(SYS_close, c);
	if (r(run, 8) == 0)
		fd_keep(run, K_UNIX, l);
	else
		RAW(SYS_close, l);
}

/* A listener, and somebody who has connected to it. */
static void connected(struct run *run, int family, unsigned kind)
{
	struct arg name = { A_ADDR, (uint8_t)kind, NULL };
	long at = arg_make(run, &name);
	int len = kind == K_UNIX ? 110 : 16;
	int l = (int)RAW(SYS_socket, family, SOCK_STREAM | (r(run, 4) ? SOCK_NONBLOCK : 0), 0);
	int c = (int)RAW(SYS_socket, family, SOCK_STREAM | SOCK_NONBLOCK, 0);

	RAW(SYS_bind, l, at, len);
	RAW(SYS_listen, l, r(run, 4));
	for (uint64_t i = r(run, 3); i < 2; i++)
		RAW(SYS_connect, c, at, len);
	fd_keep(run, kind, l);
	fd_keep(run, kind, c);
}

static void unix_connected(struct run *run)
{
	connected(run, AF_UNIX, K_UNIX);
}

static void inet_connected(struct run *run)
{
	connected(run, AF_INET, K_INET);
}

/* As many as there may be; or nearly. */
static void sockets_all(struct run *run)
{
	int less = (int)r(run, 5);

	for (int i = 0; i < 300; i++) {
		long fd = RAW(SYS_socket, AF_UNIX, SOCK_STREAM, 0);

		if (fd < 0) {
			RAW(SYS_close_range, FD_FLOOD, FD_FLOOD + less, 0);
			return;
		}
		if (fd < FD_FLOOD) {
			RAW(SYS_fcntl, fd, F_DUPFD, FD_FLOOD);
			RAW(SYS_close, fd);
		}
	}
}

/* A listener that has connections, of which some carry descriptors, and that is itself on its
 * way. */
static void listener_sent(struct run *run)
{
	int l = fd_any(run, K_UNIX), to = fd_any(run, K_UNIX), fds[2] = { l, to };

	say(run, "%d through %d", l, to);
	rights_send(to, fds, 1 + (unsigned)r(run, 2));
	if (r(run, 2))
		RAW(SYS_close, l);
	if (r(run, 2))
		RAW(SYS_close, to);
}

static const struct row rows_unix[] = {
	{ CALL(socketpair, V(AF_UNIX), SOCKTYPE, V(0), MEM), .gives = G_PAIR, .kind = K_UNIX, .weight = 4 },
	{ CALL(socket, V(AF_UNIX), SOCKTYPE, V(0)), GIVES(K_UNIX), .weight = 4 },
	{ CALL(bind, FD(K_UNIX), ADDR(K_UNIX), OF(110, 110, 110, 110, 4, 2, 3)), .weight = 4 },
	{ CALL(connect, FD(K_UNIX), ADDR(K_UNIX), OF(110, 110, 110, 110, 110, 4, 2)), .weight = 6 },
	{ CALL(listen, FD(K_UNIX), BELOW(4)), .weight = 4 },
	{ CALL(accept4, FD(K_UNIX), MEM, ADDRLEN, OF(SOCK_NONBLOCK, 0)), GIVES(K_UNIX), .weight = 2 },
	{ CALL(sendmsg, FD(K_UNIX), MSG(1), SENDFLAGS), .weight = 6 },
	{ CALL(recvmsg, FD(K_UNIX), MSG(0), RECVFLAGS), .weight = 3 },
	{ CALL(sendto, FD(K_UNIX), MEM, LEN, SENDFLAGS, ADDR(K_UNIX), OF(110, 0)), .weight = 1 },
	{ CALL(recvfrom, FD(K_UNIX), MEM, LEN, RECVFLAGS, MEM, ADDRLEN) },
	{ CALL(shutdown, FD(K_UNIX), BELOW(3)) },
	{ CALL(close, FD(K_UNIX)), .weight = 6 },
	{ CALL(dup3, FD(K_UNIX), FD(K_UNIX), V(0)) },
	{ CALL(getsockname, FD(K_UNIX), MEM, ADDRLEN) },
	{ CALL(getpeername, FD(K_UNIX), MEM, ADDRLEN) },
	{ CALL(getsockopt, FD(K_UNIX), V(SOL_SOCKET), BELOW(80), MEM, ADDRLEN) },
	{ CALL(setsockopt, FD(K_UNIX), V(SOL_SOCKET), OF(SO_PASSCRED, SO_SNDBUF, SO_RCVBUF, SO_LINGER, SO_RCVTIMEO, SO_SNDTIMEO, SO_PEEK_OFF), MEM, OF(4, 8, 16)) },
	{ CALL(setsockopt, FD(K_UNIX), V(SOL_SOCKET), BELOW(80), MEM, BELOW(32)) },
	{ CALL(unlinkat, V(AT_FDCWD), TEXT("s", "t"), V(0)), .weight = 1 },
	{ CALL(renameat, V(AT_FDCWD), TEXT("s", "t"), V(AT_FDCWD), TEXT("s", "t", "a")) },
	{ CALL(epoll_ctl, FD(K_EPOLL), OF(1, 2, 3, 1), FD(K_UNIX), EPEVENT), .weight = 1 },
	{ DO("unix_connected", unix_connected), .weight = 3 },
	{ DO("rights_many", rights_many), .weight = 2 },
	{ DO("rights_cycle", rights_cycle), .weight = 3 },
	{ DO("listener_sent", listener_sent), .weight = 1 },
	{ DO("listener_inside", listener_inside), .weight = 2 },
	{ DO("sockets_all", sockets_all) },
	{ CALL(close_range, V(FD_FLOOD), V(~0U), V(0)) },
};

#define INETLEN OF(16, 16, 28, 8)

/* A message of netlink: a question, or nonsense with its length. */
static void netlink_ask(struct run *run)
{
	static const uint16_t types[] = { 18, 22, 26, 20, 16, 24, 19, 17, 28, 30, 12 };
	struct nlmsghdr *h = room_take(run, 256);
	unsigned n = 1 + (unsigned)r(run, 3), len = 0;

	for (unsigned i = 0; i < n; i++) {
		struct nlmsghdr *m = (void *)((char *)h + len);

		m->nlmsg_len = (uint32_t)(r(run, 8) ? 16 + 4 * r(run, 12) : r(run, 100));
		m->nlmsg_type = types[r(run, 11)];
		m->nlmsg_flags = (uint16_t)(r(run, 3) ? NLM_F_REQUEST | NLM_F_DUMP : r(run, 65536));
		len += (m->nlmsg_len + 3) & ~3U;
		if (len > 200)
			break;
	}
	RAW(SYS_sendto, fd_any(run, K_NETLINK), h, len, MSG_DONTWAIT, 0, 0);
}

static const struct row rows_inet[] = {
	{ CALL(socket, OF(AF_INET, AF_INET, AF_INET6), OF(SOCK_STREAM | SOCK_NONBLOCK, SOCK_DGRAM | SOCK_NONBLOCK, SOCK_STREAM, SOCK_RAW), OF(0, 0, 17)), GIVES(K_INET), .weight = 4 },
	{ CALL(bind, FD(K_INET), ADDR(K_INET), INETLEN), .weight = 3 },
	{ CALL(connect, FD(K_INET), ADDR(K_INET), INETLEN), .weight = 4 },
	{ CALL(listen, FD(K_INET), BELOW(4)), .weight = 3 },
	{ CALL(accept4, FD(K_INET), MEM, ADDRLEN, OF(SOCK_NONBLOCK, 0)), GIVES(K_INET), .weight = 2 },
	{ CALL(sendto, FD(K_INET), MEM, LEN, SENDFLAGS, ADDR(K_INET), OF(16, 0)), .weight = 2 },
	{ CALL(recvfrom, FD(K_INET), MEM, LEN, RECVFLAGS, MEM, ADDRLEN), .weight = 2 },
	{ CALL(sendmsg, FD(K_INET), MSG(1), SENDFLAGS) },
	{ CALL(recvmsg, FD(K_INET), MSG(0), OF(MSG_DONTWAIT, MSG_ERRQUEUE | MSG_DONTWAIT, MSG_PEEK | MSG_DONTWAIT)) },
	{ CALL(shutdown, FD(K_INET), BELOW(3)), .weight = 1 },
	{ CALL(close, FD(K_INET)), .weight = 3 },
	{ CALL(setsockopt, FD(K_INET), OF(0, 1, 6, 17, 41), BELOW(70), MEM, OF(1, 4, 8, 12, 16, 20)), .weight = 2 },
	{ CALL(getsockopt, FD(K_INET), OF(0, 1, 6, 17, 41), BELOW(70), MEM, ADDRLEN) },
	{ CALL(setsockopt, FD(K_INET), V(SOL_SOCKET), OF(SO_REUSEADDR, SO_REUSEPORT, SO_LINGER, SO_RCVTIMEO), MEM, OF(4, 8, 16)) },
	{ CALL(getsockname, FD(K_INET), MEM, ADDRLEN) },
	{ CALL(getpeername, FD(K_INET), MEM, ADDRLEN) },
	{ CALL(sendfile, FD(K_INET), FD(K_FILE), V(0), LEN) },
	{ CALL(splice, FD(K_INET), V(0), FD(K_PIPE), V(0), LEN, V(SPLICE_F_NONBLOCK)) },
	{ CALL(epoll_ctl, FD(K_EPOLL), OF(1, 2, 3, 1), FD(K_INET), EPEVENT) },
	{ CALL(ioctl, FD(K_INET), OF(0x8912, 0x8913, 0x8915, 0x8927, 0x8933, 0x541b), MEM) },
	{ CALL(recvmmsg, FD(K_INET), MEM, BELOW(3), V(MSG_DONTWAIT), V(0)) },
	{ CALL(socket, V(AF_NETLINK), V(SOCK_RAW), OF(0, 0, 4, 15)), GIVES(K_NETLINK), .weight = 1 },
	{ CALL(bind, FD(K_NETLINK), ADDR(K_NETLINK), V(12)) },
	{ CALL(recvmsg, FD(K_NETLINK), MSG(0), V(MSG_DONTWAIT)), .weight = 1 },
	{ DO("inet_connected", inet_connected), .weight = 4 },
	{ DO("netlink_ask", netlink_ask), .weight = 2 },
};

/* The other end of a terminal, by the name and by the call. */
static void pty_pair(struct run *run)
{
	long m = RAW(SYS_openat, AT_FDCWD, "/dev/ptmx", O_RDWR | O_NONBLOCK | (r(run, 2) ? O_NOCTTY : 0)), s;
	int zero = 0;

	if (m < 0)
		return;
	RAW(SYS_ioctl, m, TIOCSPTLCK, &zero);
	s = RAW(SYS_ioctl, m, TIOCGPTPEER, O_RDWR | O_NONBLOCK | (r(run, 2) ? O_NOCTTY : 0));
	fd_keep(run, K_PTY, (int)m);
	fd_keep(run, K_PTY, (int)s);
}

static const struct row rows_tty[] = {
	{ DO("pty_pair", pty_pair), .weight = 3 },
	{ CALL(openat, V(AT_FDCWD), TEXT("/dev/pts/0", "/dev/pts/1", "/dev/ptmx", "/dev/tty", "/dev/console"), OF(O_RDWR | O_NONBLOCK, O_RDWR | O_NOCTTY), V(0)), GIVES(K_PTY), .weight = 2 },
	{ CALL(ioctl, FD(K_PTY), OF(TIOCSCTTY, TIOCNOTTY, TCGETS, TCSETS, TCSETSW, TIOCGPGRP, TIOCSPGRP, TIOCGWINSZ, TIOCSWINSZ, TIOCPKT, TCFLSH, TCXONC, TIOCSTI,
				   TIOCGSID, TIOCEXCL, TIOCNXCL, TIOCVHANGUP, TIOCSETD, TIOCOUTQ, FIONREAD, TIOCCONS), MEM), .weight = 6 },
	{ CALL(ioctl, FD(K_PTY), OF(TIOCSCTTY, TCFLSH, TCXONC, TCSBRK), BELOW(4)), .weight = 1 },
	{ CALL(write, FD(K_PTY), MEM, LEN), .weight = 3 },
	{ CALL(write, FD(K_PTY), TEXT("\x03\x1a\x11\x13\x04", "abc\n", "\x1c\x0f\x16\x15"), BELOW(6)), .weight = 3 },
	{ CALL(read, FD(K_PTY), MEM, LEN), .weight = 3 },
	{ CALL(close, FD(K_PTY)), .weight = 3 },
	{ CALL(dup3, FD(K_PTY), FD(K_PTY), V(0)) },
	{ CALL(setsid), .weight = 1 },
	{ CALL(setpgid, PID, PID), .weight = 1 },
	{ CALL(poll, POLLS, BELOW(8), BELOW(3)) },
	{ CALL(epoll_ctl, FD(K_EPOLL), OF(1, 2, 3, 1), FD(K_PTY), EPEVENT), .weight = 1 },
	{ CALL(vhangup) },
};

#define rows rows_unix
TABLE(table_unix, "unix");
#undef rows
#define rows rows_inet
TABLE(table_inet, "inet");
#undef rows
#define rows rows_tty
TABLE(table_tty, "tty");
