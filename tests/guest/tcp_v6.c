/* IPv6: its own loopback, IPv4 as mapped addresses, IPV6_V6ONLY, who shares a port. */
#include "net.h"

static int on6(int v6only, int port, struct in6_addr addr)
{
	struct sockaddr_in6 a = loop6(port);
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	a.sin6_addr = addr;
	opt_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only);
	if (bind(fd, SA(&a), sizeof(a)) || listen(fd, 4)) {
		int e = errno;
		close(fd);
		errno = e;
		return -1;
	}
	return fd;
}

static void from(int l)
{
	struct sockaddr_in6 a;
	socklen_t len = sizeof(a);
	char text[64];
	int s = accept(l, SA(&a), &len);
	printf("accepted: len %d from %s\n", (int)len, inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof(text)));
	len = sizeof(a);
	getsockname(s, SA(&a), &len);
	printf("local %s\n", inet_ntop(AF_INET6, &a.sin6_addr, text, sizeof(text)));
	close(s);
}

int main(void)
{
	int l = on6(0, 0, in6addr_any), port = port_of(l), c;
	struct sockaddr_in a = loop4(port);
	struct sockaddr_in6 b = loop6(port);

	c = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(c, SA(&a), sizeof(a)));
	from(l);
	c = socket(AF_INET6, SOCK_STREAM, 0);
	SHOW(connect(c, SA(&b), sizeof(b)));
	from(l);
	inet_pton(AF_INET6, "::ffff:127.0.0.1", &b.sin6_addr);
	c = socket(AF_INET6, SOCK_STREAM, 0);
	SHOW(connect(c, SA(&b), sizeof(b)));
	from(l);
	c = socket(AF_INET6, SOCK_STREAM, 0);
	SHOW(opt_set(c, IPPROTO_IPV6, IPV6_V6ONLY, 1));
	SHOW(connect(c, SA(&b), sizeof(b)));
	SHOW(bind(c, SA(&b), sizeof(b)));
	int s4 = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(bind(s4, SA(&a), sizeof(a)));
	int o = on6(1, 0, in6addr_any);
	SHOW(opt_get(o, IPPROTO_IPV6, IPV6_V6ONLY));
	SHOW(opt_set(o, IPPROTO_IPV6, IPV6_V6ONLY, 0));
	a = loop4(port_of(o));
	SHOW(bind(s4, SA(&a), sizeof(a)));
	c = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(on6(1, port_of(o), in6addr_loopback));
	SHOW(port_of(on6(0, 0, in6addr_loopback)) > 0);
	return 0;
}
