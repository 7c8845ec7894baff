/* The interfaces of a cell: lo, and with a network eth0, of which everything that programs can ask
 * (ioctl, netlink, /proc/net, /sys/class/net) tells the same. Nobody may change them. */
#ifndef VIV_KERNEL_NET_IFACE_H
#define VIV_KERNEL_NET_IFACE_H

#include "kernel/net/route.h"

#define IFACE_LO 1
#define IFACE_ETH 2

struct iface {
	int32_t index;
	char name[16];
	uint16_t type; /* ARPHRD_ */
	uint16_t flags; /* IFF_, as ioctl gives them */
	uint32_t mtu;
	uint8_t mac[6];
	struct ipaddr four, six;
	struct ipaddr bcast; /* "any": none */
	uint8_t prefix4, prefix6;
};

/* The first is 0; NULL: that was the last. */
const struct iface *iface_at(unsigned i);
const struct iface *iface_by_index(int32_t index); /* NULL: there is none */
/* name: at most n bytes of it, up to a NUL. */
const struct iface *iface_by_name(const char *name, size_t n);

/* What went through it. Segments of the host's sockets are not seen: packets are as many as the
 * bytes need at least. */
struct iface_count {
	uint64_t in, in_packets, out, out_packets;
};
struct iface_count iface_count(const struct iface *d);

/* A route of the cell. */
struct route {
	const struct iface *dev;
	bool v6, local; /* local: in the table of the cell's own addresses */
	bool bcast;
	struct ipaddr dst;
	uint8_t bits; /* of dst, which is of 32 or 128 */
	struct ipaddr via; /* "any": none */
	uint32_t metric;
};
/* The first is 0; false: that was the last. */
bool iface_route(unsigned i, struct route *ret);
/* The one that a packet to an address takes: false if there is none. */
bool iface_route_to(const struct ipaddr *dst, struct route *ret);

#endif
