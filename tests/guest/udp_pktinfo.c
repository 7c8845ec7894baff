/* Control messages of UDP: IP_PKTINFO, IPV6_PKTINFO, times, truncated control. */
#include "net.h"

static void get(int fd, size_t room)
{
	union {
		char raw[256];
		struct cmsghdr h;
	} c;
	char b[8];
	struct iovec iov = { b, sizeof(b) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = room };

	SHOW(recvmsg(fd, &m, 0));
	printf("flags %x\n", m.msg_flags);
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
		printf("cmsg %d %d len %d", h->cmsg_level, h->cmsg_type, (int)h->cmsg_len);
		if (h->cmsg_level == IPPROTO_IP && h->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo p;
			memcpy(&p, CMSG_DATA(h), sizeof(p));
			printf(" if %d to %s", p.ipi_ifindex, inet_ntoa(p.ipi_addr));
		}
		printf("\n");
	}
}

int main(void)
{
	int a = bound4(SOCK_DGRAM), b = bound4(SOCK_DGRAM), s6 = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in to = loop4(port_of(b));
	struct sockaddr_in6 to6 = loop6(0);

	SHOW(opt_set(b, IPPROTO_IP, IP_PKTINFO, 1));
	SHOW(opt_set(b, SOL_SOCKET, SO_TIMESTAMP, 1));
	SHOW(sendto(a, "x", 1, 0, SA(&to), sizeof(to)));
	get(b, 256);
	SHOW(opt_set(b, SOL_SOCKET, SO_TIMESTAMP, 0));
	SHOW(sendto(a, "x", 1, 0, SA(&to), sizeof(to)));
	get(b, 8);
	SHOW(bind(s6, SA(&to6), sizeof(to6)));
	SHOW(opt_set(s6, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1));
	to6 = loop6(port_of(s6));
	SHOW(sendto(s6, "y", 1, 0, SA(&to6), sizeof(to6)));
	get(s6, 256);
	return 0;
}
