/* Many sockets, long queues, descriptors that travel, pipes and terminals: see slow.h. */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <poll.h>
#include <pty.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <termios.h>

#include "slow.h"

static char data[8 << 20];

static void read_all(const char *path)
{
	int fd = open(path, O_RDONLY);

	while (read(fd, data, 65536) > 0)
		;
	close(fd);
}
static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}
static int bound(int type, int port)
{
	struct sockaddr_in a = loopback(port);
	int fd = socket(AF_INET, type, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0)
		return close(fd), -1;
	return fd;
}

static void tables(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd;

	for (int i = 0; i < slow_scale * 6000 && (fd = bound(SOCK_STREAM, 0)) >= 0; i++)
		if (i % 2)
			listen(fd, 10);
	for (int i = 0; i < slow_scale * 6000 && (fd = bound(SOCK_DGRAM, 0)) >= 0; i++)
		;
	for (int i = 0; i < slow_scale * 7500 && (fd = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0; i++) {
		socklen_t len = (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)snprintf(a.sun_path + 1, 50, "slow%d", i));

		if (bind(fd, (struct sockaddr *)&a, len) < 0)
			break;
	}
	read_all("/proc/net/tcp");
	read_all("/proc/net/udp");
	read_all("/proc/net/unix");
	read_all("/proc/net/sockstat");
	bound(SOCK_STREAM, 0);
	bound(SOCK_DGRAM, 0);
}
/* Questions that have no answer, and so fill no queue. */
static void diag(void)
{
	static struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 q;
	} ask[600];
	struct mmsghdr m[16];
	struct iovec v = { ask, sizeof(ask) };
	int fd, nl = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);

	for (int i = 0; i < 16000 && (fd = bound(SOCK_STREAM, 0)) >= 0; i++)
		;
	for (int i = 0; i < 600; i++) {
		ask[i].h = (struct nlmsghdr){ sizeof(ask[0]), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST | NLM_F_DUMP, 0, 0 };
		ask[i].q = (struct inet_diag_req_v2){ .sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP, .idiag_states = 1u << 20 };
	}
	for (int i = 0; i < 3; i++)
		(void)!send(nl, ask, sizeof(ask), 0);
	memset(m, 0, sizeof(m));
	for (int i = 0; i < 16; i++)
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &v, .msg_iovlen = 1 };
	sendmmsg(nl, m, 16, 0);
	for (int i = 0; i < 600; i++)
		ask[i].q.idiag_states = ~0u;
	(void)!send(nl, ask, sizeof(ask), 0);
	while (recv(nl, data, sizeof(data), MSG_DONTWAIT) > 0 || errno == ENOBUFS)
		;
}
static void messages(void)
{
	static struct mmsghdr m[1024];
	static struct iovec v = { data, 60000 };
	int p[2], size = 64 << 20;

	(void)!socketpair(AF_UNIX, SOCK_DGRAM, 0, p);
	setsockopt(p[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(p[1], SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (int i = 0; i < 1024; i++)
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &v, .msg_iovlen = 1 };
	for (int i = 0; i < 5; i++) {
		sendmmsg(p[0], m, 1024, MSG_DONTWAIT);
		recvmmsg(p[1], m, 1024, MSG_DONTWAIT, NULL);
	}
	sendmmsg(p[0], m, 1024, MSG_DONTWAIT);
	close(p[1]);
}
static int pass(int to, const int *fds, int n)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(253 * sizeof(int))];
	} c;
	struct iovec v = { "x", 1 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = CMSG_SPACE((size_t)n * sizeof(int)) };

	c.h = (struct cmsghdr){ .cmsg_len = CMSG_LEN((size_t)n * sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(&c.h), fds, (size_t)n * sizeof(int));
	return (int)sendmsg(to, &m, MSG_DONTWAIT);
}
/* Sockets that only reach each other. */
static void passed_cycles(void)
{
	int p[2], many[253];

	for (int i = 0; i < 4000 && socketpair(AF_UNIX, SOCK_DGRAM, 0, p) == 0; i++) {
		pass(p[0], p, 2);
		pass(p[1], p, 2);
		close(p[0]);
		close(p[1]);
	}
	(void)!socketpair(AF_UNIX, SOCK_DGRAM, 0, p);
	for (int i = 0; i < 253; i++)
		many[i] = p[i % 2];
	for (int i = 0; i < 200 && pass(p[0], many, 253) > 0; i++)
		;
	close(p[0]);
	close(p[1]);
	close(socket(AF_UNIX, SOCK_STREAM, 0));
}
/* Each carries the one before. */
static void passed_chain(void)
{
	int last = -1, p[2];

	for (int i = 0; i < 8000 && socketpair(AF_UNIX, SOCK_STREAM, 0, p) == 0; i++) {
		if (last >= 0) {
			if (pass(p[0], &last, 1) < 0)
				break;
			close(last);
		}
		close(p[0]);
		last = p[1];
	}
	close(last);
}
static void backlog(void)
{
	struct sockaddr_in a = loopback(7777);
	int l = bound(SOCK_STREAM, 7777), fd;

	listen(l, 4096);
	for (int i = 0; i < 4000; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (fd < 0 || (connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0 && errno != EINPROGRESS))
			break;
		(void)!write(fd, data, 1000);
	}
	close(l);
}
static void streams(void)
{
	struct sockaddr_in a = loopback(7778);
	int l = bound(SOCK_STREAM, 7778), c = socket(AF_INET, SOCK_STREAM, 0), s, size = 32 << 20;

	listen(l, 5);
	setsockopt(c, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	setsockopt(c, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	connect(c, (struct sockaddr *)&a, sizeof(a));
	s = accept(l, NULL, NULL);
	setsockopt(s, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	for (int i = 0; i < 20; i++) {
		(void)!send(c, data, sizeof(data), MSG_DONTWAIT);
		(void)!recv(s, data, sizeof(data), MSG_PEEK | MSG_DONTWAIT);
		if (i % 2)
			(void)!recv(s, data, sizeof(data), MSG_DONTWAIT);
	}
	for (int i = 0; i < slow_scale * 20000; i++) /* many small ones */
		if (send(c, "x", 1, MSG_DONTWAIT) < 0)
			break;
	(void)!recv(s, data, sizeof(data), MSG_DONTWAIT);
	close(s);
}
static void multicast(void)
{
	struct ip_mreq g = { .imr_multiaddr.s_addr = inet_addr("239.1.2.3"), .imr_interface.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(7779), .sin_addr = g.imr_multiaddr };
	int one = 1, fd = -1;

	for (int i = 0; i < slow_scale * 4000; i++) {
		struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(7779) };

		fd = socket(AF_INET, SOCK_DGRAM, 0);
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) < 0)
			break;
		setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &g, sizeof(g));
	}
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &g.imr_interface, sizeof(g.imr_interface));
	for (int i = 0; i < 5; i++)
		sendto(fd, data, 1000 + 10000 * i, 0, (struct sockaddr *)&a, sizeof(a));
}
static void ports(void)
{
	int n = 0;

	while (n < slow_scale * 14500 && bound(SOCK_STREAM, 0) >= 0)
		n++;
	for (int i = 0; i < 20; i++)
		bound(SOCK_STREAM, 0);
	for (n = 0; n < slow_scale * 14500 && bound(SOCK_DGRAM, 0) >= 0; n++)
		;
}
static void pipe_tricks(void)
{
	int a[2], b[2], z = open("/dev/zero", O_RDONLY), n = open("/dev/null", O_WRONLY);
	struct iovec v[1024];

	(void)!pipe(a);
	(void)!pipe(b);
	for (int i = 0; i < 2; i++) {
		fcntl(a[1], F_SETPIPE_SZ, 1 << 20);
		fcntl(b[1], F_SETPIPE_SZ, 1 << 20);
	}
	for (int i = 0; i < 1024; i++)
		v[i] = (struct iovec){ data + i, 1 << 20 };
	for (int i = 0; i < 50; i++) {
		splice(z, NULL, a[1], NULL, 1 << 30, SPLICE_F_NONBLOCK);
		tee(a[0], b[1], 1 << 30, SPLICE_F_NONBLOCK);
		splice(a[0], NULL, n, NULL, 1 << 30, SPLICE_F_NONBLOCK);
		splice(b[0], NULL, n, NULL, 1 << 30, SPLICE_F_NONBLOCK);
		vmsplice(a[1], v, 1024, SPLICE_F_NONBLOCK);
		splice(a[0], NULL, n, NULL, 1 << 30, SPLICE_F_NONBLOCK);
	}
	sendfile(n, z, NULL, 1UL << 30);
	(void)!writev(n, v, 1024);
	/* A page for each byte. */
	fcntl(a[1], F_SETFL, O_NONBLOCK | O_DIRECT);
	for (int i = 0; i < 300; i++)
		(void)!write(a[1], "x", 1);
	fcntl(a[1], F_SETPIPE_SZ, 1 << 20);
}
static void terminals(void)
{
	struct termios t;
	int m, s;

	for (int i = 0; i < 900 && openpty(&m, &s, NULL, NULL, NULL) == 0; i++)
		;
	openpty(&m, &s, NULL, NULL, NULL);
	fcntl(m, F_SETFL, O_NONBLOCK);
	fcntl(s, F_SETFL, O_NONBLOCK);
	memset(data, '\n', 1 << 20);
	for (int i = 0; i < 20; i++) {
		(void)!write(s, data, 1 << 20);
		(void)!write(m, data, 1 << 20);
		memset(data, "\t\nx\x15\x17"[i % 5], 1 << 20);
	}
	tcgetattr(s, &t);
	t.c_lflag = 0;
	tcsetattr(s, TCSANOW, &t);
	(void)!write(m, data, 1 << 20);
	(void)!read(s, data, 1 << 20);
}

static const struct kind kinds[] = {
	{ "many sockets in /proc/net", tables },
	{ "questions about 16,000 sockets", diag },
	{ "1,024 messages in a call", messages },
	{ "descriptors in circles", passed_cycles },
	{ "descriptors in a chain", passed_chain },
	{ "4,000 connections that nobody took", backlog },
	{ "streams", streams },
	{ "many sockets that hear one packet", multicast },
	{ "all ports", ports },
	{ "large splices", pipe_tricks },
	{ "terminals", terminals },
};
SLOW_MAIN(kinds)
