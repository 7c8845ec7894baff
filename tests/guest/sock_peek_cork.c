/* SO_PEEK_OFF on streams and datagrams; MSG_MORE and UDP_CORK; datagrams between IPv6 and IPv4; an
 * end that only who waits is told. */
#include "guest.h"
#include "net.h"

#include <netinet/udp.h>

static void peek(int s, size_t n)
{
	char buf[32] = "";
	ssize_t r;
	int off = -5;
	socklen_t len = sizeof(off);

	errno = 0;
	r = recv(s, buf, n, MSG_PEEK | MSG_DONTWAIT);
	getsockopt(s, SOL_SOCKET, SO_PEEK_OFF, &off, &len);
	printf("peek %zu = %zd %s '%s' then at %d\n", n, r, r < 0 ? ename(errno) : "", buf, off);
}

static void take(int s, size_t n)
{
	char buf[32] = "";
	ssize_t r = recv(s, buf, n, MSG_DONTWAIT);
	int off = -5;
	socklen_t len = sizeof(off);

	getsockopt(s, SOL_SOCKET, SO_PEEK_OFF, &off, &len);
	printf("take %zu = %zd '%s' then at %d\n", n, r, buf, off);
}

static void peeks(int type)
{
	int sv[2], at = 1;

	if (socketpair(AF_UNIX, type, 0, sv))
		exit(1);
	printf("type %d\n", type);
	SHOW(send(sv[0], "abcd", 4, 0));
	SHOW(send(sv[0], "efgh", 4, 0));
	peek(sv[1], 3);
	SHOW(setsockopt(sv[1], SOL_SOCKET, SO_PEEK_OFF, &at, sizeof(at)));
	peek(sv[1], 2);
	peek(sv[1], 2);
	peek(sv[1], 9);
	peek(sv[1], 9);
	take(sv[1], 2);
	peek(sv[1], 9);
	take(sv[1], 9);
	take(sv[1], 9);
}

int main(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = { { { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } } } };
	struct sockaddr_storage from;
	int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0), c = socket(AF_INET6, SOCK_DGRAM, 0), on = 1, off = 0;
	socklen_t n = sizeof(in);
	char buf[32];

	peeks(SOCK_STREAM);
	peeks(SOCK_DGRAM);
	peeks(SOCK_SEQPACKET);

	SHOW(bind(a, (void *)&in, sizeof(in)));
	SHOW(getsockname(a, (void *)&in, &n));
	SHOW(connect(b, (void *)&in, n));
	SHOW(send(b, "one ", 4, MSG_MORE));
	take(a, 30);
	SHOW(send(b, "two ", 4, MSG_MORE));
	SHOW(send(b, "three", 5, 0));
	take(a, 30);
	SHOW(setsockopt(b, IPPROTO_UDP, UDP_CORK, &on, sizeof(on)));
	SHOW(send(b, "x", 1, 0));
	SHOW(send(b, "y", 1, 0));
	take(a, 30);
	SHOW(setsockopt(b, IPPROTO_UDP, UDP_CORK, &off, sizeof(off)));
	take(a, 30);

	in6.sin6_port = in.sin_port;
	SHOW(sendto(c, "mapped", 6, 0, (void *)&in6, sizeof(in6)));
	n = sizeof(from);
	SHOW(recvfrom(a, buf, sizeof(buf), MSG_DONTWAIT, (void *)&from, &n));
	printf("from family %d %s\n", from.ss_family, inet_ntoa(((struct sockaddr_in *)(void *)&from)->sin_addr));
	SHOW(sendto(a, "back", 4, 0, (void *)&from, n));
	n = sizeof(from);
	SHOW(recvfrom(c, buf, sizeof(buf), MSG_DONTWAIT, (void *)&from, &n));
	CHECK(from.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)(void *)&from)->sin6_addr));

	SHOW(shutdown(b, SHUT_RD));
	SHOW(recv(b, buf, sizeof(buf), MSG_DONTWAIT));
	SHOW(recv(b, buf, sizeof(buf), 0));

	/* The first failed send gives a port all the same. */
	close(b);
	b = socket(AF_INET, SOCK_DGRAM, 0);
	SHOW(send(b, "x", 1, 0));
	n = sizeof(in);
	SHOW(getsockname(b, (void *)&in, &n));
	CHECK(in.sin_port != 0);
	return 0;
}
