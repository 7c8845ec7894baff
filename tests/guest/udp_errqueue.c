/* IP_RECVERR: a datagram that nobody takes comes back through the error queue. */
#include "guest.h"
#include "net.h"

#include <linux/errqueue.h>
#include <poll.h>

static void drain(int s)
{
	struct sockaddr_storage from = { 0 };
	char data[100] = "", control[256];
	struct iovec v = { data, sizeof(data) - 1 };
	struct msghdr m = { .msg_name = &from, .msg_namelen = sizeof(from), .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	struct pollfd p = { s, POLLIN, 0 };
	ssize_t r;

	poll(&p, 1, 0);
	printf("poll %x\n", p.revents);
	errno = 0;
	r = recvmsg(s, &m, MSG_ERRQUEUE);
	printf("recvmsg = %zd %s flags %x name %d/%u '%s'\n", r, r < 0 ? ename(errno) : "", r < 0 ? 0 : m.msg_flags, from.ss_family, r < 0 ? 0 : m.msg_namelen, data);
	if (r < 0)
		return;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		struct sock_extended_err e;

		memcpy(&e, CMSG_DATA(c), sizeof(e));
		printf("level %d type %d len %zu: %s origin %d type %d code %d offender %d\n", c->cmsg_level, c->cmsg_type, c->cmsg_len, ename((int)e.ee_errno),
		       e.ee_origin, e.ee_type, e.ee_code, ((struct sockaddr *)(void *)(CMSG_DATA(c) + sizeof(e)))->sa_family);
	}
}

int main(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(1), .sin6_addr = in6addr_loopback };
	int s = socket(AF_INET, SOCK_DGRAM, 0), s6 = socket(AF_INET6, SOCK_DGRAM, 0), on = 1, err = 0;
	socklen_t n = sizeof(err);

	drain(s);
	SHOW(sendto(s, "none", 4, 0, (void *)&in, sizeof(in)));
	drain(s);
	SHOW(setsockopt(s, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)));
	SHOW(sendto(s, "one", 3, 0, (void *)&in, sizeof(in)));
	SHOW(sendto(s, "two", 3, 0, (void *)&in, sizeof(in))); /* tells the error of the first */
	SHOW(sendto(s, "three", 5, 0, (void *)&in, sizeof(in)));
	drain(s);
	SHOW(getsockopt(s, SOL_SOCKET, SO_ERROR, &err, &n));
	printf("pending %s\n", ename(err));
	drain(s);
	drain(s);
	SHOW(setsockopt(s6, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof(on)));
	SHOW(connect(s6, (void *)&in6, sizeof(in6)));
	SHOW(send(s6, "six", 3, 0));
	drain(s6);
	drain(s6);
	return 0;
}
