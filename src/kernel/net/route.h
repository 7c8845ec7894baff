/* Which destinations are inside the cell: the one place that knows. */
#ifndef VIV_KERNEL_NET_ROUTE_H
#define VIV_KERNEL_NET_ROUTE_H

#include "kernel/net/sock.h"

enum dest { DEST_LOCAL, DEST_OUTSIDE };

/* Where packets to a go. Addresses "any" are the caller's to replace first. */
enum dest route_dest(const struct ipaddr *a);
/* May a socket of the cell have this address? (Loopback; not "any".) */
bool route_is_own(const struct ipaddr *a);

bool route_is_broadcast(const struct ipaddr *a);
bool route_is_multicast(const struct ipaddr *a);

bool ipaddr_is_v4(const struct ipaddr *a);
bool ipaddr_is_any(const struct ipaddr *a); /* of either family */
bool ipaddr_is_same(const struct ipaddr *a, const struct ipaddr *b);
extern const struct ipaddr ip_any4, ip_any6, ip_loop4, ip_loop6;

#endif
