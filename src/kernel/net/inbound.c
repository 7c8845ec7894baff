/* See inbound.h.
 *
 * Whoever listens at the port gets it: at all addresses, at the cell's own, or at loopback, where
 * most servers for development listen. It is a connection to the outside like others from then on
 * (outside.c). Its local address is the listener's; the peer's is what the keeper says, or that of
 * the resolver, which stands for the host, so that no program takes a connection from outside for
 * one of its own cell's.
 *
 * The host has accepted it before we know of it, so it cannot wait outside of a full accept queue:
 * the queue may have QUEUE_EXTRA more of them than the listener asked for. */
#include "kernel/net/inbound.h"

#include <errno.h>
#include <string.h>

#include "host/host.h"
#include "kernel/net/gate.h"
#include "kernel/net/inet.h"

#define QUEUE_EXTRA 1024u

static struct inet_sock *listener_find(uint16_t port, uint16_t salt, struct ipaddr *ret_at)
{
	const struct ipaddr *const at[] = { &ip_cell4, &ip_loop4, &ip_cell6, &ip_loop6 };

	for (unsigned i = 0; i < ARRAY_LEN(at); i++) {
		struct inet_sock *l = port_listener(at[i], port, salt);

		if (!l)
			continue;
		*ret_at = *at[i];
		/* Without a network there is nothing but loopback. */
		if (!gate_is_granted())
			*ret_at = ipaddr_is_v4(at[i]) ? ip_loop4 : ip_loop6;
		if (!ipaddr_is_any(&l->laddr))
			*ret_at = l->laddr;
		return l;
	}
	return NULL;
}

bool inbound_is_host(const struct ipaddr *a)
{
	return route_is_resolver(a);
}

struct ipaddr inbound_peer(const struct ctl_peer *peer, bool v4)
{
	struct ipaddr a;

	memcpy(a.b, peer->addr, sizeof(a.b));
	if (ipaddr_is_any(&a) || ipaddr_is_loop(&a) || ipaddr_is_v4(&a) != v4)
		return v4 ? ip_resolver4 : ip_resolver6;
	return a;
}

static int connection_make(struct inet_sock *l, const struct ipaddr *at, const struct ctl_msg *m,
			   int fd)
{
	struct inet_sock *end = inet_new(NULL, l->s.family, SOCK_STREAM, IPPROTO_TCP);

	if (!end)
		return -ENOBUFS;
	tcp_inherit(end, l);
	if (outside_adopt(end, fd) < 0) {
		inet_free(end);
		return -ENOBUFS;
	}
	end->laddr = *at;
	end->raddr = inbound_peer(&m->peer, ipaddr_is_v4(at));
	end->rport = m->peer.port;
	port_share(end, l->lport);
	end->port_kept = end->addr_kept = end->connected = end->inbound = true;
	end->state = TCPS_ESTABLISHED;
	list_append(&l->s.acceptq, &end->s.accept_link);
	l->s.acceptq_len++;
	waitq_wake(&l->s.q, SOCK_POLL_IN);
	return 0;
}

uint64_t inbound_count(void)
{
	struct sock *s;
	uint64_t n = 0;

	list_for_each(s, &sock_all_inet, all_link)
		n += inet_sk(s)->inbound && inet_sk(s)->out;
	return n;
}

int inbound_take(const struct ctl_msg *m, int fd)
{
	struct ipaddr at;
	struct inet_sock *l;
	int r = -ECONNREFUSED;

	if (fd < 0)
		return -ENOBUFS;
	if (m->flags & CTL_IN_UDP) {
		r = m->a > 0 && m->a <= UINT16_MAX ? inbound_udp_open((uint16_t)m->a, fd) : -EINVAL;
		goto out;
	}
	l = m->a > 0 && m->a <= UINT16_MAX ? listener_find((uint16_t)m->a, m->peer.port, &at)
					   : NULL;
	if (l)
		r = l->s.acceptq_len > l->s.backlog + QUEUE_EXTRA ? -ENOBUFS
								  : connection_make(l, &at, m, fd);
out:
	if (r < 0)
		host_close(fd);
	return r;
}
