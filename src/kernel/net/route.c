/* Destinations. A cell has its own loopback, 127.0.0.0/8 and ::1. With a network it has an address
 * of its own besides, and a resolver; all others are outside: connections to them are the gate's to
 * make (gate.h), and without a network they are refused where route_dest is asked. */
#include "kernel/net/route.h"

#include <string.h>

#include "kernel/net/gate.h"

const struct ipaddr ip_any4 = { { [10] = 0xff, [11] = 0xff } };
const struct ipaddr ip_any6;
const struct ipaddr ip_loop4 = { { [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } };
const struct ipaddr ip_loop6 = { { [15] = 1 } };
/* 198.19.255.2 and fd7a:7669:7600:1::2; the resolver is .1 and ::1. */
const struct ipaddr ip_cell4 = { { [10] = 0xff, [11] = 0xff, 198, 19, 255, 2 } };
const struct ipaddr ip_cell6 = { { 0xfd, 0x7a, 0x76, 0x69, 0x76, 0, 0, 1, [15] = 2 } };
static const struct ipaddr bcast4 = { { [10] = 0xff, [11] = 0xff, 198, 19, 255, 255 } };
const struct ipaddr ip_resolver4 = { { [10] = 0xff, [11] = 0xff, 198, 19, 255, 1 } };
const struct ipaddr ip_resolver6 = { { 0xfd, 0x7a, 0x76, 0x69, 0x76, 0, 0, 1, [15] = 1 } };

bool ipaddr_is_v4(const struct ipaddr *a)
{
	return !memcmp(a->b, ip_any4.b, 12);
}

bool ipaddr_is_same(const struct ipaddr *a, const struct ipaddr *b)
{
	return !memcmp(a->b, b->b, sizeof(a->b));
}

bool ipaddr_is_any(const struct ipaddr *a)
{
	return ipaddr_is_same(a, &ip_any4) || ipaddr_is_same(a, &ip_any6);
}

bool ipaddr_is_loop(const struct ipaddr *a)
{
	return (ipaddr_is_v4(a) && a->b[12] == 127) || ipaddr_is_same(a, &ip_loop6);
}

bool route_is_own(const struct ipaddr *a)
{
	return ipaddr_is_loop(a) || (gate_is_granted() && (ipaddr_is_same(a, &ip_cell4) ||
							   ipaddr_is_same(a, &ip_cell6)));
}

bool route_is_resolver(const struct ipaddr *a)
{
	return ipaddr_is_same(a, &ip_resolver4) || ipaddr_is_same(a, &ip_resolver6);
}

enum dest route_dest(const struct ipaddr *a)
{
	return route_is_own(a) ? DEST_LOCAL : DEST_OUTSIDE;
}

int ask_dest_hooks(struct task *t, const struct destination *d)
{
	const uint64_t head[] = { PRINT_DEST, d->use, d->sock->ino, d->port };
	uint64_t print = hooks_print(0, head, sizeof(head));

	if (!t->call.active)
		return 0;
	if (d->ip)
		print = hooks_print(print, d->ip, sizeof(*d->ip));
	if (d->name)
		print = hooks_print(print, &d->name->u, d->name->len);
	if (d->at)
		print = path_print(print, d->at);
	return hooks_ask(t, print, dest, d);
}

bool route_is_broadcast(const struct ipaddr *a)
{
	static const uint8_t all[4] = { 255, 255, 255, 255 };

	return (ipaddr_is_v4(a) &&
		(!memcmp(a->b + 12, all, 4) || (a->b[12] == 127 && !memcmp(a->b + 13, all, 3)))) ||
	       (gate_is_granted() && ipaddr_is_same(a, &bcast4));
}

bool route_is_multicast(const struct ipaddr *a)
{
	return ipaddr_is_v4(a) ? a->b[12] >> 4 == 14 : a->b[0] == 0xff;
}
