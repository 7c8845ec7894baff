/* Multicast on the one interface that a cell has, lo.
 *
 * A socket joins a group by naming lo, by its address or its index; without a name Linux asks its
 * routes, which a cell has none of for groups, so the answer is ENODEV as on a machine without a
 * network. What is sent to a group leaves through lo when IP_MULTICAST_IF or the sender's own
 * address says so (udp.c), and reaches every socket bound to the port that is a member, or that has
 * IP_MULTICAST_ALL on (the default). Left out: sources (IP_ADD_SOURCE_MEMBERSHIP), sending to
 * groups of IPv6. */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/net/iface.h"
#include "kernel/net/inet.h"

#define GROUPS_MAX 20u /* igmp_max_memberships */
#define JOIN_GROUP 42 /* MCAST_JOIN_GROUP */
#define LEAVE_GROUP 45

static uint32_t joined_total;

/* The interface that a membership names: 0, or -ENODEV. */
static int iface_check(int32_t index, const struct ipaddr *own)
{
	if (index)
		return iface_by_index(index) ? 0 : -ENODEV;
	/* Without a name, the way to all others is taken. */
	if (!own || ipaddr_is_any(own))
		return iface_by_index(IFACE_ETH) ? 0 : -ENODEV;
	return route_is_own(own) ? 0 : -ENODEV;
}

static int group_at(const struct inet_sock *i, const struct ipaddr *g)
{
	for (uint32_t n = 0; n < i->ngroups; n++)
		if (ipaddr_is_same(&i->groups[n], g))
			return (int)n;
	return -1;
}

static int join(struct inet_sock *i, const struct ipaddr *g, int iface)
{
	if (!route_is_multicast(g))
		return -EINVAL;
	if (iface < 0)
		return iface;
	if (group_at(i, g) >= 0)
		return -EADDRINUSE;
	if (i->ngroups == GROUPS_MAX)
		return -ENOBUFS;
	if (!i->groups)
		i->groups = blob_new(GROUPS_MAX * sizeof(*i->groups));
	if (!i->groups)
		return -ENOBUFS;
	i->groups[i->ngroups++] = *g;
	joined_total++;
	return 0;
}

/* named: an interface was given; without one none is found either. */
static int leave(struct inet_sock *i, const struct ipaddr *g, bool named)
{
	int n = group_at(i, g);

	if (n < 0)
		return named || !ipaddr_is_v4(g) ? -EADDRNOTAVAIL : -ENODEV;
	i->groups[n] = i->groups[--i->ngroups];
	joined_total--;
	return 0;
}

void mcast_fini(struct inet_sock *i)
{
	joined_total -= i->ngroups;
	if (i->groups)
		blob_free(i->groups, GROUPS_MAX * sizeof(*i->groups));
}

bool mcast_is_joined(const struct ipaddr *g)
{
	struct sock *s;

	if (joined_total)
		list_for_each(s, &sock_all_inet, all_link)
			if (group_at(inet_sk(s), g) >= 0)
				return true;
	return false;
}

bool mcast_wants(const struct inet_sock *i, const struct ipaddr *g)
{
	return group_at(i, g) >= 0 || inet_opt_on(i, IPPROTO_IP, 49 /* IP_MULTICAST_ALL */);
}

static struct ipaddr v4_at(const char *raw)
{
	struct ipaddr a = ip_any4;

	memcpy(a.b + 12, raw, 4);
	return a;
}

/* struct ip_mreq or ip_mreqn. */
static int membership4(struct inet_sock *i, bool add, const char *raw, uint32_t len)
{
	struct ipaddr g, own;
	int32_t index = 0;

	if (inet_is_tcp(i))
		return -EPROTO;
	if (len < 8)
		return -EINVAL;
	g = v4_at(raw);
	own = v4_at(raw + 4);
	if (len >= 12)
		memcpy(&index, raw + 8, sizeof(index));
	return add ? join(i, &g, iface_check(index, &own))
		   : leave(i, &g, index || !ipaddr_is_any(&own) || iface_by_index(IFACE_ETH));
}

/* struct ipv6_mreq */
static int membership6(struct inet_sock *i, bool add, const char *raw, uint32_t len)
{
	struct ipaddr g;
	int32_t index;

	if (len < 20)
		return -EINVAL;
	if (inet_is_tcp(i))
		return -EPROTO;
	memcpy(g.b, raw, 16);
	memcpy(&index, raw + 16, sizeof(index));
	if (ipaddr_is_v4(&g))
		return -EINVAL;
	return add ? join(i, &g, iface_check(index, NULL))
		   : leave(i, &g, index || iface_by_index(IFACE_ETH));
}

/* struct group_req */
static int group_req(struct inet_sock *i, bool add, const char *raw, uint32_t len)
{
	struct sockname n;
	struct ipaddr g;
	int32_t index;

	if (len < 136)
		return -EINVAL;
	if (inet_is_tcp(i))
		return -EPROTO;
	memcpy(&index, raw, sizeof(index));
	memcpy(&n.u, raw + 8, sizeof(n.u.in6));
	if (n.u.sa.sa_family == AF_INET)
		g = v4_at((const char *)&n.u.in.sin_addr);
	else if (n.u.sa.sa_family == AF_INET6)
		memcpy(g.b, &n.u.in6.sin6_addr, 16);
	else
		return -EINVAL;
	return add ? join(i, &g, iface_check(index, NULL))
		   : leave(i, &g, index || iface_by_index(IFACE_ETH));
}

/* struct in_addr, ip_mreq or ip_mreqn */
static int interface4(struct inet_sock *i, const char *raw, uint32_t len)
{
	struct ipaddr own = ip_any4;
	int32_t index = 0;

	if (inet_is_tcp(i))
		return -EINVAL;
	if (len < 4)
		return -EINVAL;
	if (len >= 12)
		memcpy(&index, raw + 8, sizeof(index));
	own = v4_at(len >= 8 ? raw + 4 : raw);
	if (!index && ipaddr_is_any(&own)) {
		i->mcast_if = false;
		i->mcast_addr = ip_any4;
		return 0;
	}
	if (iface_check(index, &own) < 0)
		return -EADDRNOTAVAIL;
	i->mcast_if = true;
	i->mcast_addr = own;
	return 0;
}

int mcast_setopt(struct inet_sock *i, int level, int opt, const void *v, uint32_t len)
{
	bool v4 = level == IPPROTO_IP;

	if (!v4 && level != IPPROTO_IPV6)
		return 1;
	if (v4 && (opt == IP_ADD_MEMBERSHIP || opt == IP_DROP_MEMBERSHIP))
		return membership4(i, opt == IP_ADD_MEMBERSHIP, v, len);
	if (v4 && opt == IP_MULTICAST_IF)
		return interface4(i, v, len);
	if (!v4 && (opt == IPV6_JOIN_GROUP || opt == IPV6_LEAVE_GROUP))
		return membership6(i, opt == IPV6_JOIN_GROUP, v, len);
	if (opt == JOIN_GROUP || opt == LEAVE_GROUP)
		return group_req(i, opt == JOIN_GROUP, v, len);
	return 1;
}
