/* What a UDP receiver can be told with a packet: TTL, TOS, the address it was sent to. */
#include "guest.h"

#include <netinet/in.h>
#include <sys/socket.h>

#ifndef IP_RECVORIGDSTADDR
#define IP_RECVORIGDSTADDR 20
#define IP_ORIGDSTADDR 20
#endif

static void show(int s, uint16_t port)
{
	char buf[64], ctl[512];
	struct iovec v = { buf, sizeof(buf) };
	struct msghdr m = {
		.msg_iov = &v, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)
	};
	ssize_t n = recvmsg(s, &m, 0);

	printf("got %zd:", n);
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); n >= 0 && c; c = CMSG_NXTHDR(&m, c)) {
		size_t len = c->cmsg_len - CMSG_LEN(0);
		printf(" level %d type %d len %zu", c->cmsg_level, c->cmsg_type, len);
		if (c->cmsg_level == IPPROTO_IP && (c->cmsg_type == IP_TTL) && len == 4)
			printf(" ttl %d", *(int *)CMSG_DATA(c));
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS && len == 1)
			printf(" tos %d", *(unsigned char *)CMSG_DATA(c));
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_ORIGDSTADDR && len >= 16) {
			struct sockaddr_in *a = (void *)CMSG_DATA(c);
			printf(" dst %d %d", a->sin_port == port,
			       ntohl(a->sin_addr.s_addr) == INADDR_LOOPBACK);
		}
	}
	printf("\n");
}

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int r = socket(AF_INET, SOCK_DGRAM, 0), s = socket(AF_INET, SOCK_DGRAM, 0), one = 1, v;
	char buf[64], ctl[256];
	struct iovec io = { buf, sizeof(buf) };
	struct msghdr m = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = ctl, .msg_controllen = sizeof(ctl)
	};

	CHECK(bind(r, (void *)&a, sizeof(a)) == 0 && getsockname(r, (void *)&a, &len) == 0);
	CHECK(connect(s, (void *)&a, sizeof(a)) == 0);
	SHOW(send(s, "a", 1, 0));
	show(r, a.sin_port);
	SHOW(setsockopt(r, IPPROTO_IP, IP_RECVTTL, &one, sizeof(one)));
	SHOW(setsockopt(r, IPPROTO_IP, IP_RECVTOS, &one, sizeof(one)));
	SHOW(setsockopt(r, IPPROTO_IP, IP_RECVORIGDSTADDR, &one, sizeof(one)));
	SHOW(send(s, "ab", 2, 0));
	show(r, a.sin_port);
	v = 33;
	SHOW(setsockopt(s, IPPROTO_IP, IP_TTL, &v, sizeof(v)));
	v = 0x10;
	SHOW(setsockopt(s, IPPROTO_IP, IP_TOS, &v, sizeof(v)));
	SHOW(send(s, "abc", 3, 0));
	show(r, a.sin_port);
	len = sizeof(v);
	SHOW(getsockopt(r, IPPROTO_IP, IP_RECVTTL, &v, &len));
	printf("%d\n", v);
	SHOW(recvmsg(r, &m, MSG_ERRQUEUE));
	SHOW(setsockopt(s, IPPROTO_IP, IP_RECVERR, &one, sizeof(one)));
	close(r);
	SHOW(send(s, "x", 1, 0));
	SHOW(send(s, "x", 1, 0));
	m.msg_controllen = sizeof(ctl);
	SHOW(recvmsg(s, &m, MSG_ERRQUEUE | MSG_DONTWAIT));
	close(s);
	return 0;
}
