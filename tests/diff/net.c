/* Families about sockets: creation, options, names, messages, on unix sockets and on the loopback
 * of each side. Ports are the kernel's choice and appear only as "a port". */
#include "diff.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

static const struct sym families[] = { S(AF_UNIX), S(AF_UNIX), S(AF_INET), S(AF_INET), S(AF_INET6), S(AF_UNSPEC), S(AF_NETLINK), S(99), S(-1), S(46) };
static const struct sym types[] = { S(SOCK_STREAM), S(SOCK_STREAM), S(SOCK_DGRAM), S(SOCK_DGRAM), S(SOCK_SEQPACKET), S(SOCK_RDM), S(0), S(9), S(-1) };
static const struct sym tflags[] = { S(0), S(0), S(SOCK_NONBLOCK), S(SOCK_CLOEXEC), S(SOCK_NONBLOCK | SOCK_CLOEXEC), S(0x1000) };
static const struct sym protos[] = { S(0), S(0), S(0), S(IPPROTO_TCP), S(IPPROTO_UDP), S(1), S(255), S(256), S(-1) };

static void fam_socket(void)
{
	const struct sym *f = pick(families), *t = pick(types), *g = pick(tflags), *p = pick(protos);
	int sv[2] = { -1, -1 }, fd;
	int v = 0;
	socklen_t n = sizeof(v);

	if (chance(60)) {
		call("socket(%s, %s|%s, %s)", f->name, t->name, g->name, p->name);
		fd = (int)res(sys(SYS_socket, f->v, t->v | g->v, p->v));
	} else {
		call("socketpair(%s, %s|%s, %s)", f->name, t->name, g->name, p->name);
		fd = res(sys(SYS_socketpair, f->v, t->v | g->v, p->v, chance(95) ? sv : BAD_PTR)) ? -1 : sv[0];
	}
	if (fd < 0)
		return;
	note(" fl %o cx %d", (unsigned)fcntl(fd, F_GETFL), fcntl(fd, F_GETFD));
	if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &v, &n))
		note(" type %d", v);
	if (!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &v, &n))
		note(" domain %d", v);
	if (!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &v, &n))
		note(" protocol %d", v);
}

static int sock_make(const char **name)
{
	static const char *const names[] = { "tcp", "udp", "unix", "unixdg", "pair", "pairdg", "pairseq", "tcp6", "udp6", "listening", "unixlisten" };
	int sv[2] = { -1, -1 }, i = (int)rnd(COUNT(names)), fd;
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un un = { .sun_family = AF_UNIX, .sun_path = "lsock" };

	*name = names[i];
	switch (i) {
	case 0:
		return socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	case 1:
		return socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	case 2:
		return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	case 3:
		return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	case 4:
	case 5:
	case 6:
		if (socketpair(AF_UNIX, (i == 4 ? SOCK_STREAM : i == 5 ? SOCK_DGRAM : SOCK_SEQPACKET) | SOCK_NONBLOCK, 0, sv))
			return -1;
		return sv[0];
	case 7:
		return socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
	case 8:
		return socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	case 9:
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (bind(fd, (void *)&in, sizeof(in)) || listen(fd, 5))
			return -1;
		return fd;
	default:
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		unlink("lsock");
		if (bind(fd, (void *)&un, sizeof(un)) || listen(fd, 5))
			return -1;
		return fd;
	}
}

/* How large a buffer may be is the system's setting: only whether a value is that. */
static bool buf_is_max(int opt, int v)
{
	const char *path = opt == SO_SNDBUF ? "/proc/sys/net/core/wmem_max" : opt == SO_RCVBUF ? "/proc/sys/net/core/rmem_max" : "/proc/sys/net/ipv4/tcp_rmem";
	char text[100] = "";
	int fd, a = 0, b = 0, c = 0;

	if (opt != SO_SNDBUF && opt != SO_RCVBUF && opt != SO_RCVLOWAT)
		return false;
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	close(fd);
	if (sscanf(text, "%d %d %d", &a, &b, &c) == 3)
		return v == c / 2;
	return a && v == a * 2;
}

static void fam_sockopt(void)
{
	static const struct sym sol[] = { S(SO_DEBUG), S(SO_REUSEADDR), S(SO_TYPE), S(SO_ERROR), S(SO_DONTROUTE), S(SO_BROADCAST), S(SO_SNDBUF), S(SO_RCVBUF),
					  S(SO_KEEPALIVE), S(SO_OOBINLINE), S(SO_LINGER), S(SO_REUSEPORT), S(SO_PASSCRED), S(SO_PEERCRED), S(SO_RCVLOWAT),
					  S(SO_SNDLOWAT), S(SO_RCVTIMEO), S(SO_SNDTIMEO), S(SO_ACCEPTCONN), S(SO_TIMESTAMP), S(SO_PEEK_OFF), S(SO_PRIORITY),
					  S(SO_MARK), S(SO_PROTOCOL), S(SO_DOMAIN), S(SO_NO_CHECK), S(999), S(-1), S(SO_BINDTODEVICE), S(SO_PEERNAME),
					  S(SO_INCOMING_CPU), S(SO_COOKIE) };
	static const struct sym tcp[] = { S(TCP_NODELAY), S(TCP_MAXSEG), S(TCP_CORK), S(TCP_KEEPIDLE), S(TCP_KEEPINTVL), S(TCP_KEEPCNT), S(TCP_SYNCNT),
					  S(TCP_LINGER2), S(TCP_DEFER_ACCEPT), S(TCP_QUICKACK), S(TCP_USER_TIMEOUT), S(TCP_FASTOPEN), S(999) };
	static const struct sym ip[] = { S(IP_TOS), S(IP_TTL), S(IP_MTU_DISCOVER), S(IP_RECVERR), S(IP_PKTINFO), S(IP_RECVTTL), S(IP_MULTICAST_TTL),
					 S(IP_MULTICAST_LOOP), S(IP_FREEBIND), S(999), S(IP_MTU) };
	static const struct sym ip6[] = { S(IPV6_V6ONLY), S(IPV6_UNICAST_HOPS), S(IPV6_RECVPKTINFO), S(IPV6_TCLASS), S(IPV6_MTU_DISCOVER), S(999) };
	static const struct sym levels[] = { S(SOL_SOCKET), S(SOL_SOCKET), S(SOL_SOCKET), S(IPPROTO_TCP), S(IPPROTO_IP), S(IPPROTO_IPV6), S(99) };
	static const struct sym vals[] = { S(0), S(1), S(2), S(5), S(100), S(4096), S(100000), S(-1), S(0x7fffffff), S(256) };
	static const struct sym sizes[] = { S(4), S(4), S(4), S(4), S(4), S(8), S(16), S(0), S(1), S(3), S(-1) };
	const char *name;
	int fd = sock_make(&name);

	for (int i = 0; i < 4; i++) {
		const struct sym *l = pick(levels), *v = pick(vals), *s = pick(sizes), *o;
		long buf[16] = { 0 };
		socklen_t n;

		o = l->v == SOL_SOCKET ? pick(sol) : l->v == IPPROTO_TCP ? pick(tcp) : l->v == IPPROTO_IP ? pick(ip) : pick(ip6);
		if (chance(50)) {
			int val[4] = { (int)v->v, (int)v->v > 100 ? 7 : (int)v->v, 0, 0 };

			call("setsockopt(%s, %s, %s, %s, %s)", name, l->name, o->name, v->name, s->name);
			res(sys(SYS_setsockopt, fd, l->v, o->v, val, s->v));
		}
		n = (socklen_t)s->v;
		memset(buf, 0, sizeof(buf));
		call("getsockopt(%s, %s, %s, %s)", name, l->name, o->name, s->name);
		if (!res(sys(SYS_getsockopt, fd, l->v, o->v, buf, &n))) {
			note(" n%u", n);
			if (l->v == SOL_SOCKET && n == 4 && buf_is_max((int)o->v, (int)buf[0])) {
				note(" max");
				continue;
			}
			if (l->v == SOL_SOCKET && (o->v == SO_PEERCRED || o->v == SO_COOKIE || o->v == SO_INCOMING_CPU))
				continue;
			note(" %lx %lx", buf[0], buf[1]);
		}
	}
}

/* An address of some kind; text says which. */
static socklen_t addr_make(struct sockaddr_storage *ss, const char **text)
{
	static const char *const names[] = { "un:s1", "un:s2", "un:dir/none", "un:f", "un:abstract", "un:auto", "un:empty", "un:108", "in:lo:0", "in:any:0",
					     "in:other", "in:short", "in6:lo:0", "in6:any", "unspec", "bad-family", "un:nosock", "in:bcast", "un:huge", "in:1" };
	struct sockaddr_un *un = (void *)ss;
	struct sockaddr_in *in = (void *)ss;
	struct sockaddr_in6 *in6 = (void *)ss;
	int i = (int)rnd(COUNT(names));
	socklen_t n = 0;

	memset(ss, 0, sizeof(*ss));
	*text = names[i];
	if (i <= 7 || i == 16 || i == 18) {
		un->sun_family = AF_UNIX;
		n = (socklen_t)(2 + strlen(names[i] + 3) + (chance(70) ? 1 : 0));
		strcpy(un->sun_path, names[i] + 3);
		if (i == 4) {
			memcpy(un->sun_path, "\0vivdiff", 8);
			n = 2 + 8;
		} else if (i == 5) {
			n = 2;
		} else if (i == 6) {
			un->sun_path[0] = 0;
			n = 1;
		} else if (i == 7) {
			memset(un->sun_path, 'a', 108);
			n = 110;
		} else if (i == 18) {
			n = 128;
		}
	} else if (i == 12 || i == 13) {
		in6->sin6_family = AF_INET6;
		in6->sin6_addr = i == 12 ? in6addr_loopback : in6addr_any;
		n = sizeof(*in6);
	} else {
		in->sin_family = i == 14 ? AF_UNSPEC : i == 15 ? 77 : AF_INET;
		in->sin_addr.s_addr = htonl(i == 8 || i == 19 ? INADDR_LOOPBACK : i == 10 ? 0x08080808 : i == 17 ? INADDR_BROADCAST : 0);
		in->sin_port = i == 19 ? htons(1) : 0;
		n = i == 11 ? 8 : sizeof(*in);
	}
	return n;
}
static void name_note(int fd, bool peer)
{
	struct sockaddr_storage ss = { 0 };
	struct sockaddr_in *in = (void *)&ss;
	struct sockaddr_un *un = (void *)&ss;
	socklen_t n = sizeof(ss);
	int r = peer ? getpeername(fd, (void *)&ss, &n) : getsockname(fd, (void *)&ss, &n);

	if (r) {
		note(" %s:%s", peer ? "peer" : "name", strerrorname_np(errno));
		return;
	}
	note(" %s:%d/%u", peer ? "peer" : "name", ss.ss_family, n);
	if (ss.ss_family == AF_INET)
		note(" %x:%s", ntohl(in->sin_addr.s_addr), ntohs(in->sin_port) > 1 ? "port" : ntohs(in->sin_port) ? "1" : "0");
	if (ss.ss_family == AF_UNIX && n > 2 && n < 100) /* names that the kernel chose are digits */
		note(" %s", un->sun_path[0] ? un->sun_path : un->sun_path[1] == 'v' ? "@v" : "@auto");
}

static const struct sym msg_flags[] = { S(MSG_DONTWAIT), S(MSG_PEEK), S(MSG_TRUNC), S(MSG_WAITALL), S(MSG_OOB), S(MSG_NOSIGNAL), S(MSG_EOR), S(MSG_MORE),
					S(MSG_CTRUNC), S(MSG_DONTROUTE), S(MSG_ERRQUEUE) };

static void fam_sockaddr(void)
{
	const char *name, *an;
	int fd = sock_make(&name), got;
	struct sockaddr_storage ss;
	socklen_t n;
	char text[200], buf[64];
	long f;

	for (int i = 0; i < 5; i++) {
		n = addr_make(&ss, &an);
		f = pick_flags(msg_flags, COUNT(msg_flags), 8, text, sizeof(text));
		switch (rnd(8)) {
		case 0:
		case 1:
			if (!strcmp(an, "in:1")) /* a port that is left behind would be taken in the next variation, on the host */
				break;
			call("bind(%s, %s, %u)", name, an, n);
			res(sys(SYS_bind, fd, &ss, n));
			break;
		case 2:
		case 3:
			if (ss.ss_family == AF_INET && strstr(an, "other")) /* the host may have a way to the network */
				break;
			if (strstr(an, "bcast"))
				break;
			call("connect(%s, %s, %u)", name, an, n);
			res(sys(SYS_connect, fd, &ss, n));
			break;
		case 4:
			call("listen(%s, %d)", name, (int)rnd(3) - 1);
			res(sys(SYS_listen, fd, (int)rnd(3) - 1));
			break;
		case 5:
			call("accept4(%s)", name);
			got = (int)res(sys(SYS_accept4, fd, NULL, NULL, chance(80) ? SOCK_CLOEXEC : 1));
			(void)got;
			break;
		case 6:
			if (strstr(an, "other") || strstr(an, "bcast"))
				break;
			call("sendto(%s, %s, %u, %s)", name, an, n, text);
			res(sys(SYS_sendto, fd, "data", 4, f | MSG_NOSIGNAL | MSG_DONTWAIT, chance(80) ? &ss : NULL, n));
			break;
		default:
			if (chance(50)) {
				call("shutdown(%s, %d)", name, (int)rnd(5) - 1);
				res(sys(SYS_shutdown, fd, (int)rnd(5) - 1));
			} else {
				call("recvfrom(%s, %s)", name, text);
				res(sys(SYS_recvfrom, fd, buf, 10, f | MSG_DONTWAIT, NULL, NULL));
			}
			break;
		}
		name_note(fd, false);
		name_note(fd, true);
	}
}

/* Two connected sockets of a kind. */
static int pair_make(int sv[2], const char **name)
{
	static const char *const names[] = { "unix", "unixdg", "unixseq", "tcp", "udp" };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) }, in2 = in;
	socklen_t n = sizeof(in);
	int i = (int)rnd(COUNT(names)), l;

	*name = names[i];
	if (i < 3)
		return socketpair(AF_UNIX, i == 0 ? SOCK_STREAM : i == 1 ? SOCK_DGRAM : SOCK_SEQPACKET, 0, sv);
	if (i == 3) {
		l = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(l, (void *)&in, sizeof(in)) || listen(l, 1) || getsockname(l, (void *)&in, &n))
			return -1;
		sv[0] = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(sv[0], (void *)&in, sizeof(in)))
			return -1;
		sv[1] = accept(l, NULL, NULL);
		/* Bytes arrive at once, not with the next acknowledgement. */
		for (int k = 0; k < 2; k++)
			setsockopt(sv[k], IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
		close(l);
		return 0;
	}
	sv[0] = socket(AF_INET, SOCK_DGRAM, 0);
	sv[1] = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(sv[0], (void *)&in, n) || bind(sv[1], (void *)&in2, n))
		return -1;
	getsockname(sv[0], (void *)&in, &n);
	getsockname(sv[1], (void *)&in2, &n);
	return connect(sv[0], (void *)&in2, n) || connect(sv[1], (void *)&in, n) ? -1 : 0;
}

static void fam_sockmsg(void)
{
	static const struct sym sizes[] = { S(0), S(1), S(3), S(10), S(100), S(1000), S(5000) };
	static char data[8192];
	const char *name;
	char text[200];
	int sv[2], passed = open("f", O_RDONLY);
	bool urgent = false;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 3);
	if (pair_make(sv, &name)) {
		call("no pair of %s", name);
		return;
	}
	for (int i = 0; i < 8; i++) {
		const struct sym *s = pick(sizes), *s2 = pick(sizes);
		long f = pick_flags(msg_flags, COUNT(msg_flags), 10, text, sizeof(text)) | MSG_DONTWAIT | MSG_NOSIGNAL;

		/* For a stream it only asks to wait for more before a segment is sent: when bytes
		 * arrive, and nothing else. */
		if (!strcmp(name, "tcp"))
			f &= ~(long)MSG_MORE;
		urgent |= f & MSG_OOB && !strcmp(name, "unix");
		int side = (int)rnd(2), avail = -1;
		char got[8192], control[128] = { 0 };
		struct iovec v[2] = { { data, (size_t)s->v }, { data + 5000, (size_t)s2->v % 3000 } };
		struct msghdr m = { .msg_iov = v, .msg_iovlen = rnd(3) };
		struct pollfd pf = { sv[side], POLLIN | POLLOUT | POLLRDHUP | POLLPRI, 0 };
		struct cmsghdr *c;
		long r;

		memset(got, 0, sizeof(got));
		switch (rnd(6)) {
		case 0:
		case 1:
			call("send(%s %d, %s, %s)", name, side, s->name, text);
			res(sys(SYS_sendto, sv[side], data, s->v, f, NULL, 0));
			break;
		case 2:
			call("recv(%s %d, %s, %s)", name, side, s->name, text);
			res(sys(SYS_recvfrom, sv[side], got, s->v, f, NULL, NULL));
			digest(got, sizeof(got));
			break;
		case 3:
			if (chance(40)) {
				m.msg_control = control;
				m.msg_controllen = CMSG_SPACE(sizeof(int));
				c = CMSG_FIRSTHDR(&m);
				c->cmsg_level = chance(90) ? SOL_SOCKET : 99;
				c->cmsg_type = chance(90) ? SCM_RIGHTS : 77;
				c->cmsg_len = CMSG_LEN(sizeof(int)) - (chance(5) ? 20 : 0);
				*(int *)(void *)CMSG_DATA(c) = chance(90) ? passed : 99;
				call("sendmsg(%s %d, %zu: %s %s, rights %zu %d %d %d, %s)", name, side, m.msg_iovlen, s->name, s2->name, c->cmsg_len,
				     c->cmsg_level, c->cmsg_type, *(int *)(void *)CMSG_DATA(c) == passed, text);
			} else {
				call("sendmsg(%s %d, %zu: %s %s, %s)", name, side, m.msg_iovlen, s->name, s2->name, text);
			}
			res(sys(SYS_sendmsg, sv[side], &m, f));
			break;
		case 4:
			v[0].iov_base = got;
			v[1].iov_base = got + 5000;
			m.msg_control = chance(70) ? control : NULL;
			m.msg_controllen = m.msg_control ? chance(20) ? 16 : 64 : 0;
			call("recvmsg(%s %d, %zu: %s %s, %zu, %s)", name, side, m.msg_iovlen, s->name, s2->name, m.msg_controllen, text);
			r = res(sys(SYS_recvmsg, sv[side], &m, f));
			if (r >= 0)
				note(" flags %x control %zu", m.msg_flags, m.msg_controllen);
			digest(got, sizeof(got));
			break;
		default:
			if (chance(70)) {
				/* Linux 6.17 and later count an urgent byte that was passed
				 * over. */
				if (urgent)
					continue;
				call("siocinq(%s)", name);
				res(ioctl(sv[side], FIONREAD, &avail));
				note(" %d", avail);
			} else {
				int how = (int)rnd(3);

				call("shutdown(%s %d, %d)", name, side, how);
				res(shutdown(sv[side], how));
			}
			break;
		}
		poll(&pf, 1, 0);
		note(" poll %x", pf.revents);
	}
}

const struct family net_families[] = {
	{ "socket", fam_socket, 0, 100 },      { "sockopt", fam_sockopt, FIX, 150 }, { "sockaddr", fam_sockaddr, FIX, 120 },
	{ "sockmsg", fam_sockmsg, FIX, 120 },  { NULL, NULL, 0, 0 },
};
