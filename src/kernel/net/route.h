/* Which destinations are inside the cell: the one place that knows. */
#ifndef VIV_KERNEL_NET_ROUTE_H
#define VIV_KERNEL_NET_ROUTE_H

#include "kernel/net/sock.h"
#include "kernel/vfs/ask.h"

enum dest { DEST_LOCAL, DEST_OUTSIDE };

/* Where packets to a go. Addresses "any" are the caller's to replace first. */
enum dest route_dest(const struct ipaddr *a);
/* May a socket of the cell have this address? (Loopback, the cell's own; not "any".) */
bool route_is_own(const struct ipaddr *a);

/* Is it the address of the cell's resolver, which the gate answers for? */
bool route_is_resolver(const struct ipaddr *a);
bool ipaddr_is_loop(const struct ipaddr *a);

bool route_is_broadcast(const struct ipaddr *a);
bool route_is_multicast(const struct ipaddr *a);

bool ipaddr_is_v4(const struct ipaddr *a);
bool ipaddr_is_any(const struct ipaddr *a); /* of either family */
bool ipaddr_is_same(const struct ipaddr *a, const struct ipaddr *b);
extern const struct ipaddr ip_any4, ip_any6, ip_loop4, ip_loop6, ip_cell4, ip_cell6, ip_resolver4,
	ip_resolver6;

/* ---- hooks (task/hooks.h) ---- */

/* An address that a socket is about to use. */
struct destination {
	enum destination_use { DEST_CONNECT, DEST_SEND, DEST_BIND } use;
	const struct sock *sock;
	/* AF_INET, AF_INET6: where it goes, inside or outside of the cell, with "any" replaced
	 * (except by bind); else NULL */
	const struct ipaddr *ip;
	uint16_t port;
	/* AF_UNIX: the name as it was given; else NULL */
	const struct sockname *name;
	/* ... and where the socket with that path is, for bind the directory that it is made in;
	 * NULL for an abstract name */
	const struct path *at;
};

int ask_dest_hooks(struct task *t, const struct destination *d);

/* May t's socket use this address? Questions to netlink have no destination. */
static inline int ask_dest(struct task *t, const struct destination *d)
{
	return hooks_are_used() ? ask_dest_hooks(t, d) : 0;
}

#endif
