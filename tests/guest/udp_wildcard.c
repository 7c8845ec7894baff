/* Who gets a datagram: the exact address before the wildcard, the connected before both; IPv4 on an
 * IPv6 socket. */
#include "net.h"

static int on(uint32_t addr, int port)
{
	struct sockaddr_in a = loop4(port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	a.sin_addr.s_addr = htonl(addr);
	opt_set(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (bind(fd, SA(&a), sizeof(a)))
		printf("bind: %s\n", ename(errno));
	return fd;
}

static void who(const char *what, int any, int one, int con)
{
	char b[8];
	printf("%s: any %d one %d con %d\n", what, (int)recv(any, b, 8, 0), (int)recv(one, b, 8, 0),
	       (int)recv(con, b, 8, 0));
}

int main(void)
{
	int any = on(INADDR_ANY, 0), one = on(INADDR_LOOPBACK, port_of(any)), con = on(INADDR_LOOPBACK, port_of(any));
	int c = bound4(SOCK_DGRAM), d = bound4(SOCK_DGRAM);
	struct sockaddr_in to = loop4(port_of(any)), peer = loop4(port_of(c));

	SHOW(connect(con, SA(&peer), sizeof(peer)));
	SHOW(sendto(c, "from peer", 8, 0, SA(&to), sizeof(to)));
	who("peer", any, one, con);
	SHOW(sendto(d, "x", 1, 0, SA(&to), sizeof(to)));
	who("other", any, one, con);
	to.sin_addr.s_addr = htonl(0x7f000005);
	SHOW(sendto(d, "yy", 2, 0, SA(&to), sizeof(to)));
	who("127.0.0.5", any, one, con);
	int s6 = socket(AF_INET6, SOCK_DGRAM, 0);
	struct sockaddr_in6 a6 = { .sin6_family = AF_INET6 }, from;
	socklen_t len = sizeof(from);
	char b[8], text[64];
	SHOW(bind(s6, SA(&a6), sizeof(a6)));
	to = loop4(port_of(s6));
	SHOW(sendto(d, "zzz", 3, 0, SA(&to), sizeof(to)));
	SHOW(recvfrom(s6, b, 8, 0, SA(&from), &len));
	printf("%s\n", inet_ntop(AF_INET6, &from.sin6_addr, text, sizeof(text)));
	SHOW(sendto(s6, "back", 4, 0, SA(&from), len));
	SHOW(recv(d, b, 8, 0));
	return 0;
}
