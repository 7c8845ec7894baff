/* UDP inside the cell. A datagram goes at once into the queue of whoever is bound to its destination; a full queue drops it, and a
 * destination without anybody tells a connected sender ECONNREFUSED at its next call, as ICMP would. Left out: multicast, fragments,
 * checksums, error queues. */
#include <errno.h>
#include <string.h>

#include "kernel/net/inet.h"
#include "kernel/net/route.h"
#include "kernel/platform/uio.h"

#define MAX_V4 65507u
#define MAX_V6 65527u

static bool is_broadcast(const struct ipaddr *a)
{
	static const uint8_t all[4] = { 255, 255, 255, 255 };

	return ipaddr_is_v4(a) &&
	       (!memcmp(a->b + 12, all, 4) || (a->b[12] == 127 && !memcmp(a->b + 13, all, 3)));
}

/* Where m goes and where it comes from. */
static int udp_dest(struct inet_sock *i, struct sockmsg *m, struct ipaddr *dst, uint16_t *port,
		    struct ipaddr *src)
{
	int r;

	if (m->to) {
		if (m->to->len < sizeof(sa_family_t))
			return -EINVAL;
		struct sockname n = *m->to;
		if (n.u.sa.sa_family == AF_UNSPEC && i->s.family == AF_INET)
			n.u.sa.sa_family = AF_INET;
		r = inet_addr_in(i, &n, dst, port);
		if (r < 0)
			return r;
		if (!*port)
			return -EINVAL;
	} else {
		if (i->state != TCPS_ESTABLISHED)
			return -EDESTADDRREQ;
		*dst = i->raddr;
		*port = i->rport;
	}
	if (is_broadcast(dst) && !i->s.broadcast)
		return -EACCES;
	return inet_route(i, dst, src);
}

static int64_t udp_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s), *to;
	struct ipaddr dst, src;
	uint64_t len = u->left;
	struct packet *pk;
	uint16_t port;
	int r;

	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (len > 0xffff)
		return -EMSGSIZE;
	r = udp_dest(i, m, &dst, &port, &src);
	if (r < 0)
		return r;
	if (len > (ipaddr_is_v4(&dst) ? MAX_V4 : MAX_V6))
		return -EMSGSIZE;
	if (!i->lport) {
		r = port_bind(i, 0);
		if (r < 0)
			return -EAGAIN;
	}
	if (s->err)
		return -sock_take_err(s);
	if (s->snd_shut)
		return -EPIPE;
	pk = packet_new((uint32_t)len);
	if (!pk)
		return -ENOBUFS;
	r = packet_fill(pk, u, (uint32_t)len);
	if (r < 0) {
		packet_free(pk);
		return r;
	}
	i->bytes_out += len;
	net_lo_bytes += len;
	net_lo_packets++;
	to = port_udp(&dst, port, &src, i->lport);
	if (!to && i->state == TCPS_ESTABLISHED)
		sock_set_err(s, ECONNREFUSED);
	if (!to || to->s.queued_true + pk->truesize > to->s.rcvbuf + 4096) {
		packet_free(pk);
		return (int64_t)len;
	}
	pk->from = src;
	pk->from_port = i->lport;
	pk->to = dst;
	pk->stamp = now_real();
	sock_enqueue(&to->s, pk, NULL);
	waitq_wake(&to->s.q, SOCK_POLL_IN);
	return (int64_t)len;
}

static int64_t udp_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	struct inet_sock *i = inet_sk(s);
	struct packet *pk;

	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (s->err)
		return -sock_take_err(s);
	if (list_is_empty(&s->queue))
		return s->rcv_shut ? 0 : -EAGAIN;
	pk = list_first(&s->queue, struct packet, link);
	inet_addr_out(i, &pk->from, pk->from_port, &m->from);
	if (m->x) {
		m->x->has_dest = true;
		m->x->dest = pk->to;
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
	struct ipaddr dst, src;
	uint16_t port;
	int r;

	(void)t, (void)nonblock, (void)ret_q;
	if (n->len < sizeof(sa_family_t))
		return -EINVAL;
	if (n->u.sa.sa_family == AF_UNSPEC) {
		udp_disconnect(i);
		return 0;
	}
	r = inet_addr_in(i, n, &dst, &port);
	if (r == 0 && is_broadcast(&dst) && !s->broadcast)
		r = -EACCES;
	if (r == 0)
		r = inet_route(i, &dst, &src);
	if (r < 0)
		return r;
	if (!i->lport) {
		r = port_bind(i, 0);
		if (r < 0)
			return -EAGAIN;
	}
	i->raddr = dst;
	i->rport = port;
	if (ipaddr_is_any(&i->laddr))
		i->laddr = src;
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
	uint32_t ready = SOCK_POLL_OUT;

	if (s->err)
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
	.recv = udp_recv,
	.shutdown = udp_shutdown,
	.poll = udp_poll,
	.readable = udp_readable,
	.unsent = udp_unsent,
	.setopt = inet_setopt,
	.getopt = inet_getopt,
	.release = udp_release,
};
