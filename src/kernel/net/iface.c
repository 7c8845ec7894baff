/* See iface.h. */
#include "kernel/net/iface.h"

#include <linux/if_arp.h>
#include <string.h>

#include "kernel/net/budget.h"
#include "kernel/net/gate.h"
#include "kernel/net/inet.h"

#define V4(a, b, c, d)                                               \
	{                                                            \
		{                                                    \
			[10] = 0xff, [11] = 0xff, (a), (b), (c), (d) \
		}                                                    \
	}

static const struct iface ifaces[] = {
	{ .index = IFACE_LO,
	  .name = "lo",
	  .type = ARPHRD_LOOPBACK,
	  .flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING,
	  .mtu = 65536,
	  .four = V4(127, 0, 0, 1),
	  .six = { { [15] = 1 } },
	  .bcast = V4(0, 0, 0, 0),
	  .prefix4 = 8,
	  .prefix6 = 128 },
	{ .index = IFACE_ETH,
	  .name = "eth0",
	  .type = ARPHRD_ETHER,
	  .flags = IFF_UP | IFF_BROADCAST | IFF_RUNNING | IFF_MULTICAST,
	  .mtu = 1500,
	  .mac = { 0x02, 0x76, 0x69, 0x76, 0x00, 0x02 },
	  .four = V4(198, 19, 255, 2),
	  .six = { { 0xfd, 0x7a, 0x76, 0x69, 0x76, 0, 0, 1, [15] = 2 } },
	  .bcast = V4(198, 19, 255, 255),
	  .prefix4 = 24,
	  .prefix6 = 64 },
};

const struct iface *iface_at(unsigned i)
{
	return i < (gate_is_granted() ? 2u : 1u) ? &ifaces[i] : NULL;
}

const struct iface *iface_by_index(int32_t index)
{
	return index < 1 || index > 2 ? NULL : iface_at((unsigned)index - 1);
}

const struct iface *iface_by_name(const char *name, size_t n)
{
	size_t len = strnlen(name, n);
	const struct iface *d;

	for (unsigned i = 0; (d = iface_at(i)); i++)
		if (strlen(d->name) == len && !memcmp(d->name, name, len))
			return d;
	return NULL;
}

struct iface_count iface_count(const struct iface *d)
{
	const struct net_usage *u = budget_usage();

	if (d->index == IFACE_LO)
		return (struct iface_count){ net_lo_bytes, net_lo_packets, net_lo_bytes,
					     net_lo_packets };
	return (struct iface_count){ u->in, (u->in + d->mtu - 1) / d->mtu, u->out,
				     (u->out + d->mtu - 1) / d->mtu };
}

/* ---- routes ---- */

#define CELL6(last)                                                          \
	{                                                                    \
		{                                                            \
			0xfd, 0x7a, 0x76, 0x69, 0x76, 0, 0, 1, [15] = (last) \
		}                                                            \
	}

/* Those of lo come first, and are all without a network. */
static const struct route routes[] = {
	{ .dev = &ifaces[0], .local = true, .dst = V4(127, 0, 0, 0), .bits = 8 },
	{ .dev = &ifaces[0], .local = true, .dst = V4(127, 0, 0, 1), .bits = 32 },
	{ .dev = &ifaces[0], .v6 = true, .local = true, .dst = { { [15] = 1 } }, .bits = 128 },
	{ .dev = &ifaces[1], .local = true, .dst = V4(198, 19, 255, 2), .bits = 32 },
	{ .dev = &ifaces[1],
	  .local = true,
	  .bcast = true,
	  .dst = V4(198, 19, 255, 255),
	  .bits = 32 },
	{ .dev = &ifaces[1], .v6 = true, .local = true, .dst = CELL6(2), .bits = 128 },
	{ .dev = &ifaces[1], .dst = V4(198, 19, 255, 0), .bits = 24 },
	{ .dev = &ifaces[1], .dst = V4(0, 0, 0, 0), .via = V4(198, 19, 255, 1) },
	{ .dev = &ifaces[1], .v6 = true, .dst = CELL6(0), .bits = 64, .metric = 256 },
	{ .dev = &ifaces[1], .v6 = true, .via = CELL6(1), .metric = 1024 },
};

bool iface_route(unsigned i, struct route *ret)
{
	if (i >= ARRAY_LEN(routes) || (routes[i].dev->index == IFACE_ETH && !gate_is_granted()))
		return false;
	*ret = routes[i];
	return true;
}

static bool route_has(const struct route *r, const struct ipaddr *a)
{
	unsigned bits = r->bits + (r->v6 ? 0u : 96u), whole = bits / 8;
	uint8_t mask = (uint8_t)(0xff00u >> bits % 8);

	return ipaddr_is_v4(a) != r->v6 && !memcmp(r->dst.b, a->b, whole) &&
	       (whole == 16 || !((r->dst.b[whole] ^ a->b[whole]) & mask));
}

bool iface_route_to(const struct ipaddr *dst, struct route *ret)
{
	struct route r;
	int best = -1;

	for (unsigned i = 0; iface_route(i, &r); i++) {
		if (route_has(&r, dst) && r.bits >= best) {
			best = r.bits;
			*ret = r;
		}
	}
	return best >= 0;
}
