/* bind, connect and listen with addresses that cannot be. */
#include "net.h"

int main(void)
{
	int s = socket(AF_INET, SOCK_STREAM, 0), s6 = socket(AF_INET6, SOCK_STREAM, 0);
	struct sockaddr_in a = loop4(0);
	struct sockaddr_in6 b = loop6(0);

	a.sin_addr.s_addr = htonl(0x01020304);
	SHOW(bind(s, SA(&a), sizeof(a)));
	a.sin_family = AF_INET6;
	SHOW(bind(s, SA(&a), sizeof(a)));
	SHOW(connect(s, SA(&a), sizeof(a)));
	a = loop4(0);
	SHOW(bind(s, SA(&a), 8));
	SHOW(connect(s, SA(&a), 8));
	SHOW(bind(s6, SA(&a), sizeof(a)));
	SHOW(connect(s6, SA(&a), sizeof(a)));
	b.sin6_addr.s6_addr[0] = 0x20;
	b.sin6_addr.s6_addr[1] = 1;
	SHOW(bind(s6, SA(&b), sizeof(b)));
	a.sin_family = AF_UNSPEC;
	a.sin_addr.s_addr = 0;
	SHOW(bind(s, SA(&a), sizeof(a)));
	SHOW(bind(s, SA(&a), sizeof(a)));
	int u = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(listen(u, 0));
	SHOW(port_of(u) > 0);
	SHOW(listen(u, 100));
	a = loop4(port_of(u));
	a.sin_addr.s_addr = 0;
	int c = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(c, SA(&a), sizeof(a)));
	struct sockaddr_in p;
	socklen_t len = sizeof(p);
	SHOW(getpeername(c, SA(&p), &len));
	SHOW(p.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
	return 0;
}
