/* The tables of sockets, interfaces and routes in /proc/net, in Linux's columns. Pointers are shown
 * as zeros, as to those who may not see them. */
#include <stdio.h>
#include <string.h>

#include "kernel/fs/pseudo/pseudo.h"
#include "kernel/net/iface.h"
#include "kernel/net/inet.h"
#include "kernel/net/procnet.h"
#include "kernel/net/unix.h"

static void addr_text(const struct inet_sock *i, const struct ipaddr *a, uint16_t port, char *buf,
		      size_t size)
{
	uint32_t w[4];

	memcpy(w, a->b, sizeof(w));
	if (i->s.family == AF_INET)
		snprintf(buf, size, "%08X:%04X", w[3], port);
	else
		snprintf(buf, size, "%08X%08X%08X%08X:%04X", w[0], w[1], w[2], w[3], port);
}

static void inet_line(struct textbuf *b, const struct inet_sock *i, unsigned n, bool tcp)
{
	size_t start = b->len;
	char l[48], r[48];

	addr_text(i, &i->laddr, i->lport, l, sizeof(l));
	addr_text(i, &i->raddr, i->rport, r, sizeof(r));
	text_printf(b, tcp ? "%4u: " : "%5u: ", n);
	text_printf(b, "%s %s %02X %08X:%08X %02X:%08lX %08X %5u %8d %llu %d %016lx", l, r,
		    i->state, 0u, i->s.listening ? i->s.acceptq_len : i->s.queued, 0u, 0ul, 0u,
		    i->s.uid, 0, (unsigned long long)i->s.ino, 2, 0ul);
	if (!tcp)
		text_printf(b, " %u", 0u);
	else if (i->state == TCPS_LISTEN)
		text_printf(b, " 100 0 0 10 0");
	else
		text_printf(b, " 20 4 30 10 -1");
	if (i->s.family == AF_INET)
		text_pad(b, start, tcp ? 149 : 127);
	text_puts(b, "\n");
}

/* In parts: b->at counts the sockets that were gone through. Those that come and go meanwhile may
 * shift the others. */
static void inet_table(struct textbuf *b, int family, bool tcp)
{
	struct sock *s;
	unsigned n = 0;
	uint64_t seen = 0;

	list_for_each(s, &sock_all_inet, all_link) {
		const struct inet_sock *i = inet_sk(s);
		bool shown = s->family == family && inet_is_tcp(i) == tcp && i->lport;

		if (seen++ < b->at) {
			n += shown;
			continue;
		}
		if (shown)
			inet_line(b, i, n++, tcp);
		b->at = seen;
		if (text_pause(b, seen))
			return;
	}
}

static void unix_table(struct textbuf *b)
{
	struct sock *s;
	uint64_t seen = 0;

	list_for_each(s, &sock_all_unix, all_link) {
		const struct unix_sock *u = unix_sk(s);
		bool connected = u->connected || s->peer;

		if (seen++ < b->at)
			continue;
		text_printf(b, "%016lx: %08X %08X %08X %04X %02X %5llu", 0ul, connected ? 3u : 2u,
			    0u, s->listening ? 0x10000u : 0u, s->type, connected ? 3u : 1u,
			    (unsigned long long)s->ino);
		if (u->name) {
			const char *p = u->name->n.u.un.sun_path;
			uint32_t len =
				u->name->n.len - (uint32_t)offsetof(struct sockaddr_un, sun_path);

			text_puts(b, " ");
			if (p[0])
				len = (uint32_t)strnlen(p, len);
			for (uint32_t i = 0; i < len; i++)
				text_put(b, p[i] ? &p[i] : "@", 1);
		}
		text_puts(b, "\n");
		b->at = seen;
		if (text_pause(b, seen))
			return;
	}
}

static void netlink_table(struct textbuf *b)
{
	struct sockname n;
	struct sock *s;

	list_for_each(s, &sock_all_netlink, all_link) {
		(void)!CHECKED(s->ops)->name(s, 0, &n);
		text_printf(b, "%016lx %-3d %-10u %08x %-8d %-8d %-5d %-8d %-8u %-8llu\n", 0ul,
			    s->protocol, n.u.nl.nl_pid, n.u.nl.nl_groups, (int)s->queued_true, 0, 0,
			    2, 0u, (unsigned long long)s->ino);
	}
}

static void sockstat(struct textbuf *b)
{
	unsigned tcp = 0, udp = 0, all = 0;
	struct sock *s;

	list_for_each(s, &sock_all_unix, all_link)
		all++;
	list_for_each(s, &sock_all_netlink, all_link)
		all++;
	list_for_each(s, &sock_all_inet, all_link) {
		all++;
		if (s->type == SOCK_STREAM)
			tcp++;
		else
			udp++;
	}
	text_printf(b,
		    "sockets: used %u\nTCP: inuse %u orphan 0 tw 0 alloc %u mem %llu\nUDP: inuse "
		    "%u mem 0\n"
		    "UDPLITE: inuse 0\nRAW: inuse 0\nFRAG: inuse 0 memory 0\n",
		    all, tcp, tcp, (unsigned long long)(net_mem_used() / PAGE_SIZE), udp);
}

/* Packets are counted by interface (dev_table), not by protocol: of the rest only what is so at
 * the moment. */
static void snmp(struct textbuf *b)
{
	unsigned established = 0;
	struct iface_count sum = { 0 };
	const struct iface *d;
	struct sock *s;

	list_for_each(s, &sock_all_inet, all_link) {
		const struct inet_sock *i = inet_sk(s);

		established += inet_is_tcp(i) &&
			       (i->state == TCPS_ESTABLISHED || i->state == TCPS_CLOSE_WAIT);
	}
	for (unsigned i = 0; (d = iface_at(i)); i++) {
		struct iface_count n = iface_count(d);

		sum.in_packets += n.in_packets;
		sum.out_packets += n.out_packets;
	}
	text_printf(b,
		    "Ip: Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams "
		    "InUnknownProtos InDiscards InDelivers OutRequests OutDiscards OutNoRoutes "
		    "ReasmTimeout ReasmReqds ReasmOKs ReasmFails FragOKs FragFails FragCreates\n"
		    "Ip: 2 64 %lu 0 0 0 0 0 %lu %lu 0 0 0 0 0 0 0 0 0\n"
		    "Icmp: InMsgs InErrors InCsumErrors OutMsgs OutErrors\nIcmp: 0 0 0 0 0\n"
		    "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails "
		    "EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n"
		    "Tcp: 1 200 120000 -1 0 0 0 0 %u 0 0 0 0 0 0\n"
		    "Udp: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors "
		    "InCsumErrors IgnoredMulti MemErrors\nUdp: 0 0 0 0 0 0 0 0 0\n"
		    "UdpLite: InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors "
		    "InCsumErrors IgnoredMulti MemErrors\nUdpLite: 0 0 0 0 0 0 0 0 0\n",
		    sum.in_packets, sum.in_packets, sum.out_packets, established);
}

static void dev_table(struct textbuf *b)
{
	const struct iface *d;

	for (unsigned i = 0; (d = iface_at(i)); i++) {
		struct iface_count n = iface_count(d);

		text_printf(b,
			    "%6s: %7lu %7lu    0    0    0     0          0         0 %8lu "
			    "%7lu    0    0    0 "
			    "    0       0          0\n",
			    d->name, n.in, n.in_packets, n.out, n.out_packets);
	}
}

static uint32_t word_of(const struct ipaddr *a)
{
	uint32_t w;

	memcpy(&w, a->b + 12, sizeof(w));
	return w;
}

static void hex_put(struct textbuf *b, const struct ipaddr *a)
{
	for (unsigned i = 0; i < sizeof(a->b); i++)
		text_printf(b, "%02x", a->b[i]);
}

#define RTF_UP 1u
#define RTF_GATEWAY 2u
#define RTF_LOCAL 0x80000000u

static void route_line(struct textbuf *b, const struct route *r)
{
	size_t start = b->len;
	uint32_t mask = r->bits ? __builtin_bswap32(~0u << (32 - r->bits)) : 0;
	bool via = !ipaddr_is_any(&r->via);

	text_printf(b, "%s\t%08X\t%08X\t%04X\t%d\t%u\t%d\t%08X\t%d\t%u\t%u", r->dev->name,
		    word_of(&r->dst), via ? word_of(&r->via) : 0, RTF_UP | (via ? RTF_GATEWAY : 0),
		    0, 0u, 0, mask, 0, 0u, 0u);
	text_pad(b, start, 127);
	text_puts(b, "\n");
}

static void route6_line(struct textbuf *b, const struct route *r)
{
	bool via = !ipaddr_is_any(&r->via);

	hex_put(b, &r->dst);
	text_printf(b, " %02x ", r->bits);
	hex_put(b, &ip_any6);
	text_puts(b, " 00 ");
	hex_put(b, via ? &r->via : &ip_any6);
	text_printf(b, " %08x %08x %08x %08x %8s\n", r->metric, 1u, 0u,
		    RTF_UP | (via ? RTF_GATEWAY : 0) | (r->local ? RTF_LOCAL : 0), r->dev->name);
}

/* Without a network there are none but those of lo, which IPv4's table never has. */
static void route_table(struct textbuf *b, bool v6)
{
	struct route r;

	for (unsigned i = 0; iface_by_index(IFACE_ETH) && iface_route(i, &r); i++) {
		if (v6 && r.v6)
			route6_line(b, &r);
		else if (!v6 && !r.v6 && !r.local)
			route_line(b, &r);
	}
}

static void inet6_table(struct textbuf *b)
{
	const struct iface *d;

	for (unsigned i = 0; (d = iface_at(i)); i++) {
		hex_put(b, &d->six);
		text_printf(b, " %02x %02x %02x 80 %8s\n", d->index, d->prefix6,
			    d->index == IFACE_LO ? 0x10 : 0, d->name);
	}
}

void procnet_show(enum proc_net_table table, struct textbuf *b)
{
	switch (table) {
	case PROC_NET_TCP:
		inet_table(b, AF_INET, true);
		break;
	case PROC_NET_TCP6:
		inet_table(b, AF_INET6, true);
		break;
	case PROC_NET_UDP:
		inet_table(b, AF_INET, false);
		break;
	case PROC_NET_UDP6:
		inet_table(b, AF_INET6, false);
		break;
	case PROC_NET_UNIX:
		unix_table(b);
		break;
	case PROC_NET_NETLINK:
		netlink_table(b);
		break;
	case PROC_NET_SOCKSTAT:
		sockstat(b);
		break;
	case PROC_NET_SNMP:
		snmp(b);
		break;
	case PROC_NET_DEV:
		dev_table(b);
		break;
	case PROC_NET_ROUTE:
		route_table(b, false);
		break;
	case PROC_NET_ROUTE6:
		route_table(b, true);
		break;
	case PROC_NET_INET6:
		inet6_table(b);
		break;
	case PROC_NET_ARP:
		if (iface_by_index(IFACE_ETH))
			text_puts(b,
				  "198.19.255.1     0x1         0x2         02:76:69:76:00:01     "
				  "*        eth0\n");
		break;
	}
}
