/* Multicast and broadcast on the loopback: who may join, who gets what. */
#include "guest.h"
#include "net.h"

#include <net/if.h>
#include <poll.h>

static in_addr_t group;

static int receiver(in_port_t *port, bool member)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = *port };
	struct ip_mreq r = { { group }, { htonl(INADDR_LOOPBACK) } };
	int s = socket(AF_INET, SOCK_DGRAM, 0), on = 1;
	socklen_t n = sizeof(in);

	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(s, (void *)&in, sizeof(in)) || getsockname(s, (void *)&in, &n))
		exit(1);
	*port = in.sin_port;
	if (member)
		SHOW(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &r, sizeof(r)));
	return s;
}

static void got(const char *who, int s)
{
	char buf[32] = "";
	ssize_t n = recv(s, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	printf("%s: %zd '%s'\n", who, n, buf);
}

int main(void)
{
	struct ip_mreq r = { { inet_addr("224.1.2.3") }, { htonl(INADDR_LOOPBACK) } }, bad = { { inet_addr("10.0.0.1") }, { htonl(INADDR_LOOPBACK) } },
		       none = { { inet_addr("224.1.2.3") }, { inet_addr("203.0.113.9") } };
	struct ip_mreqn by_index = { { inet_addr("224.1.2.4") }, { 0 }, 1 };
	struct in_addr lo = { htonl(INADDR_LOOPBACK) }, got_if = { 0 };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_addr.s_addr = inet_addr("224.1.2.3") };
	in_port_t port = 0;
	int on = 1, off = 0, a, b, c, s = socket(AF_INET, SOCK_DGRAM, 0), t = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof(got_if);

	group = r.imr_multiaddr.s_addr;
	SHOW(setsockopt(t, IPPROTO_IP, IP_ADD_MEMBERSHIP, &r, sizeof(r)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &r, 4));
	SHOW(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &bad, sizeof(bad)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &none, sizeof(none)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &r, sizeof(r)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &r, sizeof(r)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &by_index, sizeof(by_index)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_DROP_MEMBERSHIP, &r, sizeof(r)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_DROP_MEMBERSHIP, &r, sizeof(r)));
	a = receiver(&port, true);
	b = receiver(&port, false);
	c = receiver(&port, false);
	SHOW(setsockopt(c, IPPROTO_IP, IP_MULTICAST_ALL, &off, sizeof(off)));
	SHOW(setsockopt(s, IPPROTO_IP, IP_MULTICAST_IF, &none.imr_interface, 4));
	SHOW(setsockopt(s, IPPROTO_IP, IP_MULTICAST_IF, &lo, sizeof(lo)));
	SHOW(getsockopt(s, IPPROTO_IP, IP_MULTICAST_IF, &got_if, &n));
	CHECK(got_if.s_addr == lo.s_addr);
	to.sin_port = port;
	SHOW(sendto(s, "to all", 6, 0, (void *)&to, sizeof(to)));
	got("member", a);
	got("all", b);
	got("neither", c);
	close(a);
	SHOW(sendto(s, "to none", 7, 0, (void *)&to, sizeof(to)));
	got("all", b);
	to.sin_addr.s_addr = inet_addr("127.255.255.255");
	SHOW(sendto(s, "broad", 5, 0, (void *)&to, sizeof(to)));
	SHOW(setsockopt(s, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)));
	SHOW(sendto(s, "broad", 5, 0, (void *)&to, sizeof(to)));
	got("all", b);
	got("neither", c);
	return 0;
}
