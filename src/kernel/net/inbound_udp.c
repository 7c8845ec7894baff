/* Datagrams from outside of the cell to a port of it (inbound.h), and the answers to them.
 *
 * The keeper has the host's socket. For each such port it hands over one end of a SOCK_SEQPACKET
 * pair, in which a packet is a struct ctl_peer and a datagram from or to it. Who has sent something
 * lately can be answered, from that port alone; the keeper checks that again. What cannot be
 * delivered at once is dropped, as datagrams are. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "host/host.h"
#include "kernel/net/inbound.h"
#include "kernel/net/inet.h"
#include "kernel/platform/loop.h"
#include "kernel/task/clock.h"

#define PEERS 256u /* that are remembered for each port */
#define BATCH 32
#define DATAGRAM_MAX 65535u

struct peer {
	struct ipaddr addr;
	uint16_t port; /* 0: none */
};

struct udp_port {
	struct list link;
	uint16_t port;
	struct hostwatch watch;
	uint32_t last; /* the youngest of peers */
	struct peer peers[PEERS];
};
OBJ_TYPE(inbound_udp_type, struct udp_port, 128);

static struct list udp_ports = LIST_INIT(udp_ports);
static char packet[sizeof(struct ctl_peer) + DATAGRAM_MAX];

static struct udp_port *port_find(uint16_t port)
{
	struct udp_port *p;

	list_for_each(p, &udp_ports, link)
		if (p->port == port)
			return p;
	return NULL;
}

static struct peer *peer_find(struct udp_port *p, const struct ipaddr *a, uint16_t port)
{
	for (uint32_t i = 0; i < PEERS; i++)
		if (p->peers[i].port == port && ipaddr_is_same(&p->peers[i].addr, a))
			return &p->peers[i];
	return NULL;
}

static void peer_note(struct udp_port *p, const struct ipaddr *a, uint16_t port)
{
	if (peer_find(p, a, port))
		return;
	p->last = (p->last + 1) % PEERS;
	p->peers[p->last] = (struct peer){ *a, port };
}

bool inbound_udp_has(uint16_t port, const struct ipaddr *to, uint16_t to_port)
{
	struct udp_port *p = list_is_empty(&udp_ports) ? NULL : port_find(port);

	return p && to_port && peer_find(p, to, to_port);
}

void inbound_udp_send(uint16_t port, const struct ipaddr *to, uint16_t to_port, const void *data,
		      uint32_t n)
{
	struct udp_port *p = port_find(port);
	struct ctl_peer peer = { .port = to_port };

	if (!p || n > DATAGRAM_MAX)
		return;
	if (!inbound_is_host(to))
		memcpy(peer.addr, to->b, sizeof(peer.addr));
	memcpy(packet, &peer, sizeof(peer));
	if (n)
		memcpy(packet + sizeof(peer), data, n);
	(void)host_send(p->watch.fd, packet, sizeof(peer) + n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void datagram_in(struct udp_port *p, uint32_t n)
{
	const struct ipaddr *const at[] = { &ip_cell4, &ip_loop4, &ip_cell6, &ip_loop6 };
	struct inet_sock *to = NULL;
	struct ctl_peer peer;
	struct ipaddr from, dst;
	struct packet *pk;

	memcpy(&peer, packet, sizeof(peer));
	n -= (uint32_t)sizeof(peer);
	for (unsigned i = 0; i < ARRAY_LEN(at) && !to; i++) {
		dst = *at[i];
		from = inbound_peer(&peer, ipaddr_is_v4(&dst));
		to = port_udp(&dst, p->port, &from, peer.port);
	}
	pk = to ? packet_new(n) : NULL;
	if (!pk)
		return;
	if (n)
		memcpy(pk->data, packet + sizeof(peer), n);
	pk->len = n;
	pk->from = from;
	pk->from_port = peer.port;
	pk->to = dst;
	pk->stamp = now_real();
	peer_note(p, &from, peer.port);
	udp_enqueue(to, pk);
}

static void port_close(struct udp_port *p)
{
	list_remove(&p->link);
	hostwatch_fini(&p->watch);
	host_close(p->watch.fd);
	obj_free(&inbound_udp_type, p);
}

static void ready(struct hostwatch *w, uint32_t events)
{
	struct udp_port *p = container_of(w, struct udp_port, watch);

	(void)events;
	for (int i = 0; i < BATCH; i++) {
		int64_t n = host_recv(w->fd, packet, sizeof(packet), MSG_DONTWAIT);

		if (n == -EAGAIN)
			break;
		if (n <= 0) { /* the keeper has closed it */
			port_close(p);
			return;
		}
		if (n >= (int64_t)sizeof(struct ctl_peer))
			datagram_in(p, (uint32_t)n);
	}
	(void)hostwatch_arm(w, POLLIN);
}

int inbound_udp_open(uint16_t port, int fd)
{
	struct udp_port *p = port_find(port);

	if (p)
		port_close(p);
	p = obj_new(&inbound_udp_type);
	if (!p)
		return -ENOBUFS;
	p->port = port;
	list_init(&p->link);
	list_append(&udp_ports, &p->link);
	hostwatch_init(&p->watch, fd, ready);
	(void)hostwatch_arm(&p->watch, POLLIN);
	return 0;
}
