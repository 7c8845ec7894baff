/* AF_INET and AF_INET6: making sockets, addresses, binding. TCP and UDP are in files of their
 * own. */
#include "kernel/net/inet.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/net/gate.h"
#include "kernel/net/route.h"
#include "kernel/platform/uio.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"

#define SIN6_LEN_RFC2133 24u
#define PORTS_RESERVED 1024

OBJ_TYPE(inet_type, struct inet_sock, 32768);

uint64_t net_lo_bytes, net_lo_packets;

struct inet_sock *inet_new(struct task *t, int family, int type, int protocol)
{
	struct inet_sock *i = obj_new(&inet_type);

	if (!i)
		return NULL;
	sock_init(&i->s, type == SOCK_STREAM ? &tcp_ops : &udp_ops, t, family, type, protocol);
	i->laddr = i->raddr = family == AF_INET ? ip_any4 : ip_any6;
	i->mcast_addr = ip_any4;
	i->state = TCPS_CLOSE;
	list_init(&i->bind_link);
	list_init(&i->listen_link);
	list_init(&i->connects);
	list_init(&i->errors);
	list_init(&i->asks);
	list_init(&i->flows);
	if (type == SOCK_STREAM) {
		i->s.sndbuf = 16384;
		i->s.rcvbuf = 131072;
	}
	inet_opts_init(i);
	return i;
}

void inet_free(struct inet_sock *i)
{
	port_unlisten(i);
	port_unbind(i);
	mcast_fini(i);
	resolver_forget(i);
	udp_flows_drop(i);
	if (i->cork)
		packet_free(i->cork);
	while (!list_is_empty(&i->errors))
		packet_free(list_first(&i->errors, struct packet, link));
	sock_fini(&i->s);
	obj_free(&inet_type, i);
}

int inet_make(struct task *t, int family, int type, int protocol, struct sock **ret_)
{
	struct inet_sock *i;

	if (protocol < 0 || protocol > 262)
		return -EINVAL;
	if (type == SOCK_RAW)
		return protocol ? -EPERM : -EPROTONOSUPPORT;
	if (type != SOCK_STREAM && type != SOCK_DGRAM)
		return -ESOCKTNOSUPPORT;
	/* Echo requests are for the groups of ping_group_range, which has none. */
	if (type == SOCK_DGRAM && protocol == (family == AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		return -EACCES;
	if (protocol && protocol != (type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP))
		return -EPROTONOSUPPORT;
	i = inet_new(t, family, type, type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP);
	if (!i)
		return -ENFILE;
	*ret_ = &i->s;
	return 0;
}

/* ---- addresses ---- */

static struct ipaddr from_v4(uint32_t be)
{
	struct ipaddr a = ip_any4;

	memcpy(a.b + 12, &be, 4);
	return a;
}

int inet_addr_in(const struct inet_sock *i, const struct sockname *n, struct ipaddr *ret_a,
		 uint16_t *ret_port)
{
	if (i->s.family == AF_INET) {
		if (n->len < sizeof(struct sockaddr_in))
			return -EINVAL;
		if (n->u.sa.sa_family != AF_INET)
			return -EAFNOSUPPORT;
		*ret_a = from_v4(n->u.in.sin_addr.s_addr);
		*ret_port = ntohs(n->u.in.sin_port);
		return 0;
	}
	/* A datagram socket for IPv6 takes IPv4's form as well. */
	if (n->len >= sizeof(struct sockaddr_in) && n->u.sa.sa_family == AF_INET &&
	    !inet_is_tcp(i)) {
		*ret_a = from_v4(n->u.in.sin_addr.s_addr);
		*ret_port = ntohs(n->u.in.sin_port);
		return i->v6only ? -ENETUNREACH : 0;
	}
	if (n->len < SIN6_LEN_RFC2133)
		return -EINVAL;
	if (n->u.sa.sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	memcpy(ret_a->b, &n->u.in6.sin6_addr, 16);
	*ret_port = ntohs(n->u.in6.sin6_port);
	return i->v6only && ipaddr_is_v4(ret_a) ? -ENETUNREACH : 0;
}

void inet_addr_out(const struct inet_sock *i, const struct ipaddr *a, uint16_t port,
		   struct sockname *out)
{
	memset(&out->u, 0, sizeof(out->u.in6));
	if (i->s.family == AF_INET) {
		out->len = sizeof(out->u.in);
		out->u.in.sin_family = AF_INET;
		out->u.in.sin_port = htons(port);
		memcpy(&out->u.in.sin_addr, a->b + 12, 4);
		return;
	}
	out->len = sizeof(out->u.in6);
	out->u.in6.sin6_family = AF_INET6;
	out->u.in6.sin6_port = htons(port);
	memcpy(&out->u.in6.sin6_addr, a->b, 16);
}

static bool is_bound(const struct inet_sock *i)
{
	return !ipaddr_is_any(&i->laddr) && !route_is_broadcast(&i->laddr) &&
	       !route_is_multicast(&i->laddr);
}

int inet_dest(const struct inet_sock *i, struct task *t, enum destination_use use,
	      struct ipaddr *dst, uint16_t port)
{
	if (ipaddr_is_any(dst)) {
		bool bound = is_bound(i);
		bool v4 = ipaddr_is_v4(dst) || (bound && ipaddr_is_v4(&i->laddr));

		*dst = bound && ipaddr_is_v4(&i->laddr) == v4 ? i->laddr : v4 ? ip_loop4 : ip_loop6;
	}
	const struct destination d = { .use = use, .sock = &i->s, .ip = dst, .port = port };
	return ask_dest(t, &d);
}

int inet_route(const struct inet_sock *i, const struct ipaddr *dst, struct ipaddr *ret_src)
{
	bool bound = is_bound(i);

	if (route_dest(dst) == DEST_OUTSIDE) {
		if (!gate_is_granted())
			return -ENETUNREACH;
		if (bound && ipaddr_is_loop(&i->laddr))
			return -EINVAL;
		*ret_src = ipaddr_is_v4(dst) ? ip_cell4 : ip_cell6;
	} else {
		*ret_src = ipaddr_is_loop(dst) ? ipaddr_is_v4(dst) ? ip_loop4 : ip_loop6 : *dst;
	}
	if (bound) {
		if (ipaddr_is_v4(&i->laddr) != ipaddr_is_v4(dst))
			return ipaddr_is_v4(dst) ? 0 : -EINVAL;
		*ret_src = i->laddr;
	}
	return 0;
}

int inet_name(struct sock *s, int which, struct sockname *out)
{
	struct inet_sock *i = inet_sk(s);

	if (!which) {
		inet_addr_out(i, &i->laddr, i->lport ? i->lport : i->old_port, out);
		return 0;
	}
	if (!i->rport || (which == 1 && (i->state == TCPS_CLOSE || i->state == TCPS_SYN_SENT)))
		return -ENOTCONN;
	inet_addr_out(i, &i->raddr, i->rport, out);
	return 0;
}

int64_t inet_recv_error(struct inet_sock *i, struct uio *u, struct sockmsg *m)
{
	struct packet *pk;
	int64_t n;

	if (list_is_empty(&i->errors))
		return -EAGAIN;
	pk = list_first(&i->errors, struct packet, link);
	n = (int64_t)MIN(u->left, (uint64_t)pk->len);
	m->whole = pk->len;
	if (n < pk->len)
		m->out_flags |= MSG_TRUNC;
	if (n && uio_put(u, pk->data, (uint64_t)n) != n)
		return -EFAULT;
	inet_addr_out(i, &pk->to, pk->from_port, &m->from);
	m->out_flags |= MSG_ERRQUEUE;
	if (m->x) {
		m->x->has_ee = true;
		memcpy(m->x->ee, pk->ee, sizeof(pk->ee));
		m->x->dest = pk->from;
	}
	list_remove(&pk->link);
	i->nerrors--;
	packet_free(pk);
	/* The pending error is that of the next message. */
	i->s.err = 0;
	if (!list_is_empty(&i->errors))
		memcpy(&i->s.err, list_first(&i->errors, struct packet, link)->ee, 4);
	return n;
}

/* ---- bind ---- */

static int bind_addr(const struct inet_sock *i, const struct sockname *n, struct ipaddr *a,
		     uint16_t *port)
{
	struct sockname m = *n;
	int r;

	/* Old programs leave the family out for "any". */
	if (i->s.family == AF_INET && n->len >= sizeof(n->u.in) && n->u.sa.sa_family == AF_UNSPEC &&
	    !n->u.in.sin_addr.s_addr)
		m.u.sa.sa_family = AF_INET;
	if (i->s.family == AF_INET6 && n->len >= SIN6_LEN_RFC2133 && n->u.sa.sa_family != AF_INET6)
		return -EAFNOSUPPORT;
	if (i->s.family == AF_INET6 && n->len < SIN6_LEN_RFC2133)
		return -EINVAL;
	r = inet_addr_in(i, &m, a, port);
	if (r == -ENETUNREACH)
		return -EINVAL; /* IPv4 on a socket for IPv6 only */
	if (r < 0)
		return r;
	/* To receive what is sent to many. */
	if (route_is_broadcast(a) || route_is_multicast(a))
		return 0;
	if (!ipaddr_is_any(a) && !route_is_own(a))
		return -EADDRNOTAVAIL;
	return 0;
}

int inet_bind(struct sock *s, struct task *t, const struct sockname *n)
{
	struct inet_sock *i = inet_sk(s);
	struct ipaddr a, was = i->laddr;
	uint16_t port;
	int r = bind_addr(i, n, &a, &port);

	if (r < 0)
		return r;
	if (port && port < PORTS_RESERVED && !cred_has_cap(&t->cred, CAP_NET_BIND_SERVICE))
		return -EACCES;
	if (i->state != TCPS_CLOSE || i->lport)
		return -EINVAL;
	const struct destination d = { .use = DEST_BIND, .sock = s, .ip = &a, .port = port };
	r = ask_dest(t, &d);
	if (r < 0)
		return r;
	i->laddr = a;
	r = port_bind(i, port);
	if (r < 0) {
		i->laddr = was;
		return r;
	}
	i->port_kept = port != 0;
	i->addr_kept = !ipaddr_is_any(&a);
	/* An address of IPv6 speaks IPv6 only. */
	if (s->family == AF_INET6 && i->addr_kept && !ipaddr_is_v4(&a))
		i->v6only = true;
	return 0;
}
