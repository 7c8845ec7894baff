/* UDP inside the cell. A datagram goes at once into the queue of whoever is bound to its
 * destination; a full queue drops it, and a destination without anybody tells a connected sender
 * ECONNREFUSED at its next call, as ICMP would; with IP_RECVERR the datagram comes back through the
 * error queue. With MSG_MORE or UDP_CORK a datagram grows until it is said to be whole. Broadcasts
 * and multicasts (mcast.c) reach those on this loopback. What leaves the cell goes through the gate
 * (udp_out.c). Left out: fragments, checksums. */
#include <errno.h>
#include <linux/udp.h>
#include <poll.h>
#include <string.h>

#include "kernel/net/inbound.h"
#include "kernel/net/inet.h"
#include "kernel/platform/uio.h"
#include "kernel/task/clock.h"

#define MAX_V4 65507u
#define MAX_V6 65527u
#define ERRORS_MAX 64u
#define MANY_MAX 256u /* receivers of one datagram */
/* What ICMP tells of a port where nobody is, and how much of the datagram it sends back. */
#define ORIGIN_ICMP 2
#define ORIGIN_ICMP6 3
#define ICMP_UNREACH 3
#define ICMP_PORT 3
#define ICMP6_UNREACH 1
#define ICMP6_PORT 4
#define ICMP_DATA_V4 520u
#define ICMP_DATA_V6 1184u

/* struct sock_extended_err */
struct extended_err {
	uint32_t err;
	uint8_t origin, type, code, pad;
	uint32_t info, data;
};

/* Where a datagram goes and where it comes from. */
struct way {
	struct ipaddr dst, src;
	uint16_t port;
	bool many; /* to all who are bound there */
};

/* The address of a message, as Linux reads it: 0, 1: none was given, 2: one that says none,
 * -errno. */
static int dest_in(struct inet_sock *i, const struct sockname *to, struct way *w)
{
	struct sockname n;

	if (!to)
		return 1;
	if (to->len < sizeof(sa_family_t))
		return -EINVAL;
	n = *to;
	if (n.u.sa.sa_family == AF_UNSPEC) {
		if (i->s.family == AF_INET6)
			return 2;
		n.u.sa.sa_family = AF_INET;
	}
	if (i->s.family == AF_INET6 && n.u.sa.sa_family != AF_INET && n.u.sa.sa_family != AF_INET6)
		return -EINVAL;
	return inet_addr_in(i, &n, &w->dst, &w->port);
}

/* Completes the way to w->dst. Datagrams to many leave through lo, when something says that they
 * should. */
static int way_find(struct inet_sock *i, struct way *w)
{
	bool own = route_is_own(&i->laddr) && ipaddr_is_v4(&i->laddr);

	w->many = route_is_broadcast(&w->dst) ||
		  (route_is_multicast(&w->dst) && ipaddr_is_v4(&w->dst));
	if (!w->many && inbound_udp_has(i->lport, &w->dst, w->port)) {
		w->src = route_is_own(&i->laddr) ? i->laddr
			 : ipaddr_is_v4(&w->dst) ? ip_loop4
						 : ip_loop6;
		return 0;
	}
	if (!w->many)
		return inet_route(i, &w->dst, &w->src);
	if (!own && !route_is_own(&w->dst) && !(route_is_multicast(&w->dst) && i->mcast_if))
		return -ENETUNREACH;
	w->src = own ? i->laddr : ip_loop4;
	return route_is_broadcast(&w->dst) && !i->s.broadcast ? -EACCES : 0;
}

static int udp_way(struct inet_sock *i, const struct sockmsg *m, struct way *w)
{
	int r = dest_in(i, m->to, w);
	bool given = r == 0;

	if (r < 0)
		return r;
	if (!given && i->state != TCPS_ESTABLISHED)
		return -EDESTADDRREQ;
	if (!given) {
		w->dst = i->raddr;
		w->port = i->rport;
	}
	/* What IPv6 hands to IPv4 is looked at once more; without an address it is not even handed
	 * on. */
	if (i->s.family == AF_INET6 && ipaddr_is_v4(&w->dst)) {
		if (r == 2)
			return -ENETUNREACH;
		if (m->flags & MSG_OOB)
			return -EOPNOTSUPP;
		given = true;
	}
	if (given && !w->port)
		return -EINVAL;
	/* Without an address it goes where connect() was asked about. */
	r = r == 0 ? inet_dest(i, m->t, DEST_SEND, &w->dst, w->port) : 0;
	return r < 0 ? r : way_find(i, w);
}

static int udp_autobind(struct inet_sock *i)
{
	return i->lport || port_bind(i, 0) == 0 ? 0 : -EAGAIN;
}

/* Nobody is there: what ICMP says about it. pk becomes the message of the error queue, or goes. */
static void udp_refused(struct inet_sock *i, struct packet *pk, const struct way *w)
{
	bool v4 = ipaddr_is_v4(&w->dst);
	bool wanted = v4 ? inet_opt_on(i, IPPROTO_IP, IP_RECVERR)
			 : inet_opt_on(i, IPPROTO_IPV6, IPV6_RECVERR);
	struct extended_err ee = { .err = ECONNREFUSED,
				   .origin = v4 ? ORIGIN_ICMP : ORIGIN_ICMP6,
				   .type = v4 ? ICMP_UNREACH : ICMP6_UNREACH,
				   .code = v4 ? ICMP_PORT : ICMP6_PORT };

	if (!wanted || i->nerrors >= ERRORS_MAX)
		packet_free(pk);
	if (!wanted && i->state != TCPS_ESTABLISHED)
		return;
	if (wanted && i->nerrors < ERRORS_MAX) {
		pk->len = MIN(pk->len, v4 ? ICMP_DATA_V4 : ICMP_DATA_V6);
		pk->to = pk->from = w->dst;
		pk->from_port = w->port;
		memcpy(pk->ee, &ee, sizeof(pk->ee));
		list_append(&i->errors, &pk->link);
		i->nerrors++;
	}
	sock_set_err(&i->s, ECONNREFUSED);
}
_Static_assert(sizeof(struct extended_err) == sizeof(((struct packet *)0)->ee), "ee");

void udp_enqueue(struct inet_sock *to, struct packet *pk)
{
	if (to->s.queued_true + pk->truesize > to->s.rcvbuf + 4096) {
		packet_free(pk);
		return;
	}
	sock_enqueue(&to->s, pk, NULL);
	waitq_wake(&to->s.q, SOCK_POLL_IN);
}

/* A copy for each of those who are bound there. */
static void udp_deliver_many(struct inet_sock *i, struct packet *pk, const struct way *w)
{
	static struct inet_sock *to[MANY_MAX];
	bool group = route_is_multicast(&w->dst);
	uint32_t n = 0;

	if (!group || mcast_is_joined(&w->dst))
		n = port_udp_all(&w->dst, w->port, &w->src, i->lport, to, MANY_MAX);
	for (uint32_t k = 0; k < n; k++) {
		struct packet *copy =
			!group || mcast_wants(to[k], &w->dst) ? packet_new(pk->len) : NULL;

		if (!copy)
			continue;
		if (pk->len)
			memcpy(copy->data, pk->data, pk->len);
		copy->len = pk->len;
		copy->from = pk->from;
		copy->to = pk->to;
		copy->from_port = pk->from_port;
		copy->stamp = pk->stamp;
		copy->ttl = pk->ttl;
		copy->tos = pk->tos;
		udp_enqueue(to[k], copy);
	}
	packet_free(pk);
}

/* Out of the cell through the gate: not to the cell's resolver, nor an answer to who sent to a port
 * of i's that is published. */
static bool is_outside(const struct inet_sock *i, const struct way *w)
{
	return !w->many && route_dest(&w->dst) == DEST_OUTSIDE &&
	       !inbound_udp_has(i->lport, &w->dst, w->port) &&
	       !(route_is_resolver(&w->dst) && w->port == RESOLVER_PORT);
}

/* Groups have an option of their own. */
static uint8_t ttl_to_many(const struct inet_sock *i, const struct ipaddr *dst)
{
	int32_t ttl;

	if (!route_is_multicast(dst) || !ipaddr_is_v4(dst))
		return i->ttl;
	(void)inet_opt_changed(i, IPPROTO_IP, IP_MULTICAST_TTL, &ttl);
	return (uint8_t)ttl;
}

/* t: who sends it; NULL: not known. */
static void udp_deliver(struct inet_sock *i, struct task *t, struct packet *pk, const struct way *w)
{
	struct inet_sock *to;

	if (is_outside(i, w)) {
		(void)udp_send_out(i, t, pk, &w->dst, w->port);
		return;
	}
	i->bytes_out += pk->len;
	net_lo_bytes += pk->len;
	net_lo_packets++;
	pk->from = w->src;
	pk->from_port = i->lport;
	pk->to = w->dst;
	pk->ttl = w->many ? ttl_to_many(i, &w->dst) : i->ttl;
	pk->tos = i->tos;
	pk->stamp = now_real();
	if (w->many) {
		udp_deliver_many(i, pk, w);
		return;
	}
	if (inbound_udp_has(i->lport, &w->dst, w->port)) {
		inbound_udp_send(i->lport, &w->dst, w->port, pk->data, pk->len);
		packet_free(pk);
		return;
	}
	if (route_is_resolver(&w->dst)) {
		resolver_ask(i, t, pk, &w->dst);
		return;
	}
	to = port_udp(&w->dst, w->port, &w->src, i->lport);
	if (to)
		udp_enqueue(to, pk);
	else
		udp_refused(i, pk, w);
}

static uint32_t len_max(const struct ipaddr *dst)
{
	return ipaddr_is_v4(dst) ? MAX_V4 : MAX_V6;
}

static void cork_drop(struct inet_sock *i)
{
	if (i->cork)
		packet_free(i->cork);
	i->cork = NULL;
}

void udp_uncork(struct inet_sock *i)
{
	struct way w = { .dst = i->cork_dst, .src = i->cork_src, .port = i->cork_port };
	struct packet *pk = i->cork;

	if (!pk)
		return;
	w.many = route_is_broadcast(&w.dst) || (route_is_multicast(&w.dst) && ipaddr_is_v4(&w.dst));
	i->cork = NULL;
	udp_deliver(i, NULL, pk, &w);
}

/* More of a datagram that is not yet whole. A failure throws away what there was, as Linux does. */
static int64_t cork_add(struct inet_sock *i, struct uio *u, bool more)
{
	uint32_t was = i->cork ? i->cork->len : 0;
	uint64_t len = u->left;
	struct packet *pk;
	int r;

	if (was + len > len_max(&i->cork_dst)) {
		cork_drop(i);
		return -EMSGSIZE;
	}
	pk = packet_new(was + (uint32_t)len);
	if (!pk) {
		cork_drop(i);
		return -ENOBUFS;
	}
	if (was)
		memcpy(pk->data, i->cork->data, was);
	pk->len = was;
	cork_drop(i);
	r = packet_fill(pk, u, (uint32_t)len);
	if (r < 0) {
		packet_free(pk);
		return r;
	}
	i->cork = pk;
	if (!more)
		udp_uncork(i);
	return (int64_t)len;
}

static int64_t udp_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	bool more = m->flags & MSG_MORE || inet_opt_on(i, IPPROTO_UDP, UDP_CORK);
	uint64_t len = u->left;
	struct packet *pk;
	struct way w;
	int r = udp_autobind(i);

	if (r < 0)
		return r;
	if (len > 0xffff)
		return -EMSGSIZE;
	if (m->flags & MSG_OOB && s->family == AF_INET)
		return -EOPNOTSUPP;
	if (i->cork)
		return cork_add(i, u, more);
	r = udp_way(i, m, &w);
	if (r < 0)
		return r;
	if (len > len_max(&w.dst))
		return -EMSGSIZE;
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut)
		return -EPIPE;
	if (more) {
		i->cork_dst = w.dst;
		i->cork_src = w.src;
		i->cork_port = w.port;
		return cork_add(i, u, true);
	}
	pk = packet_new((uint32_t)len);
	if (!pk)
		return -ENOBUFS;
	r = packet_fill(pk, u, (uint32_t)len);
	if (r < 0) {
		packet_free(pk);
		return r;
	}
	if (is_outside(i, &w)) {
		r = udp_send_out(i, m->t, pk, &w.dst, w.port);
		return r < 0 ? r : (int64_t)len;
	}
	udp_deliver(i, m->t, pk, &w);
	return (int64_t)len;
}

static int udp_send_check(struct sock *s, const struct sockmsg *m)
{
	if (m->flags & MSG_OOB && s->family == AF_INET)
		return -EOPNOTSUPP;
	return inet_sk(s)->cork ? 1 : 0;
}

static int64_t udp_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	struct packet *pk;

	if (m->flags & MSG_ERRQUEUE)
		return inet_recv_error(i, u, m);
	if (s->err)
		return -sock_take_err(s);
	pk = sock_next_packet(s, m);
	if (!pk)
		return -EAGAIN;
	inet_addr_out(i, &pk->from, pk->from_port, &m->from);
	if (m->x) {
		m->x->has_dest = true;
		m->x->dest = pk->to;
		m->x->ttl = pk->ttl;
		m->x->tos = pk->tos;
	}
	return sock_recv_packet(s, u, m, pk);
}

static void udp_disconnect(struct inet_sock *i)
{
	const struct ipaddr *any = i->s.family == AF_INET ? &ip_any4 : &ip_any6;

	i->raddr = *any;
	i->rport = 0;
	i->state = TCPS_CLOSE;
	if (!i->addr_kept)
		i->laddr = *any;
	if (!i->port_kept && i->lport)
		port_unbind(i);
}

static int udp_connect(struct sock *s, struct task *t, const struct sockname *n, bool nonblock,
		       struct waitq **ret_q)
{
	struct inet_sock *i = inet_sk(s);
	struct way w;
	int r;

	(void)nonblock, (void)ret_q;
	if (n->len < sizeof(sa_family_t))
		return -EINVAL;
	if (n->u.sa.sa_family == AF_UNSPEC) {
		udp_disconnect(i);
		return 0;
	}
	r = udp_autobind(i);
	if (r == 0)
		r = inet_addr_in(i, n, &w.dst, &w.port);
	if (r == -ENETUNREACH && n->u.sa.sa_family == AF_INET)
		return -EAFNOSUPPORT;
	if (r == 0)
		r = inet_dest(i, t, DEST_CONNECT, &w.dst, w.port);
	if (r == 0)
		r = way_find(i, &w);
	if (r < 0)
		return r;
	i->raddr = w.dst;
	i->rport = w.port;
	if (ipaddr_is_any(&i->laddr))
		i->laddr = w.src;
	i->state = TCPS_ESTABLISHED;
	return 0;
}

static int udp_shutdown(struct sock *s, int how)
{
	bool connected = inet_sk(s)->state == TCPS_ESTABLISHED;

	if (how != SHUT_WR)
		s->rcv_shut = true;
	if (how != SHUT_RD)
		s->snd_shut = true;
	waitq_wake(&s->q, SOCK_POLL_ALL);
	return connected ? 0 : -ENOTCONN;
}

static uint32_t udp_poll(struct sock *s)
{
	uint32_t ready = udp_flow_is_full(inet_sk(s)) ? 0 : SOCK_POLL_OUT;

	if (s->err || !list_is_empty(&inet_sk(s)->errors))
		ready |= POLLERR;
	if (s->rcv_shut)
		ready |= POLLRDHUP | SOCK_POLL_IN;
	if (s->rcv_shut && s->snd_shut)
		ready |= POLLHUP;
	if (!list_is_empty(&s->queue))
		ready |= SOCK_POLL_IN;
	return ready;
}

static int64_t udp_readable(struct sock *s)
{
	return list_is_empty(&s->queue) ? 0 : list_first(&s->queue, struct packet, link)->len;
}

static uint32_t udp_unsent(struct sock *s)
{
	(void)s;
	return 0;
}

static void udp_release(struct sock *s)
{
	inet_free(inet_sk(s));
}

const struct sock_ops udp_ops = {
	.bind = inet_bind,
	.connect = udp_connect,
	.name = inet_name,
	.send = udp_send,
	.send_check = udp_send_check,
	.recv = udp_recv,
	.shutdown = udp_shutdown,
	.poll = udp_poll,
	.readable = udp_readable,
	.unsent = udp_unsent,
	.setopt = inet_setopt,
	.getopt = inet_getopt,
	.release = udp_release,
};
