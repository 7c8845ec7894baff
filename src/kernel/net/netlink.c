/* AF_NETLINK: the route family as far as programs ask what interfaces, addresses and routes there
 * are.
 *
 * A request is answered while it is sent: the answers lie in the sender's own queue afterwards. The
 * interfaces and routes are those of iface.h. What would change something is refused with EPERM,
 * what is not known with EOPNOTSUPP. Groups may be joined; nothing ever happens there
 * (NETLINK_KOBJECT_UEVENT is accepted for the same reason: it stays silent). NETLINK_SOCK_DIAG is
 * in netlink_diag.c. Left out: all other families, user to user messages. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/net/iface.h"
#include "kernel/net/netlink_priv.h"
#include "kernel/net/route.h"
#include "kernel/platform/uio.h"

#define LOWER_UP 0x10000u
#define OPER_UNKNOWN 0
#define OPER_UP 6
#define NAME_SIZE 16
#define REQUEST_MAX 65536u

struct netlink_sock {
	struct sock s; /* first */
	uint32_t port; /* 0: not bound */
	uint32_t groups, dest_port, dest_groups;
	bool dest_set;
};
OBJ_TYPE(netlink_type, struct netlink_sock, 4096);

static const struct sock_ops netlink_ops;

static struct netlink_sock *netlink_sk(const struct sock *s)
{
	return container_of(s, struct netlink_sock, s);
}

int netlink_make(struct task *t, int type, int protocol, struct sock **ret_)
{
	struct netlink_sock *n;

	if (type != SOCK_RAW && type != SOCK_DGRAM)
		return -ESOCKTNOSUPPORT;
	if (protocol != NETLINK_ROUTE && protocol != NETLINK_KOBJECT_UEVENT &&
	    protocol != NETLINK_SOCK_DIAG)
		return -EPROTONOSUPPORT;
	n = obj_new(&netlink_type);
	if (!n)
		return -ENFILE;
	sock_init(&n->s, &netlink_ops, t, AF_NETLINK, type, protocol);
	*ret_ = &n->s;
	return 0;
}

/* ---- ports ---- */

static bool port_used(uint32_t port, uint16_t protocol)
{
	struct sock *s;

	list_for_each(s, &sock_all_netlink, all_link)
		if (netlink_sk(s)->port == port && s->protocol == protocol)
			return true;
	return false;
}

static void autobind(struct netlink_sock *n)
{
	uint32_t port = (uint32_t)n->s.cred.pid;

	if (n->port)
		return;
	for (uint32_t i = 0; i <= 4096 && port_used(port, n->s.protocol); i++)
		port = (uint32_t)-4097 - i;
	n->port = port;
}

static int netlink_bind(struct sock *s, struct task *t, const struct sockname *name)
{
	struct netlink_sock *n = netlink_sk(s);

	(void)t;
	if (name->len < sizeof(name->u.nl) || name->u.nl.nl_family != AF_NETLINK)
		return -EINVAL;
	if (n->port && name->u.nl.nl_pid && name->u.nl.nl_pid != n->port)
		return -EINVAL;
	if (!n->port && name->u.nl.nl_pid) {
		if (port_used(name->u.nl.nl_pid, s->protocol))
			return -EADDRINUSE;
		n->port = name->u.nl.nl_pid;
	}
	autobind(n);
	n->groups = name->u.nl.nl_groups;
	return 0;
}

static int netlink_connect(struct sock *s, struct task *t, const struct sockname *name,
			   bool nonblock, struct waitq **ret_q)
{
	struct netlink_sock *n = netlink_sk(s);

	(void)t, (void)nonblock, (void)ret_q;
	if (name->len < sizeof(sa_family_t))
		return -EINVAL;
	if (name->u.sa.sa_family == AF_UNSPEC) {
		n->dest_set = false;
		n->dest_port = n->dest_groups = 0;
		return 0;
	}
	if (name->len < sizeof(name->u.nl) || name->u.sa.sa_family != AF_NETLINK)
		return -EINVAL;
	autobind(n);
	n->dest_set = true;
	n->dest_port = name->u.nl.nl_pid;
	n->dest_groups = name->u.nl.nl_groups;
	return 0;
}

static int netlink_name(struct sock *s, int which, struct sockname *out)
{
	struct netlink_sock *n = netlink_sk(s);

	memset(&out->u.nl, 0, sizeof(out->u.nl));
	out->len = sizeof(out->u.nl);
	out->u.nl.nl_family = AF_NETLINK;
	out->u.nl.nl_pid = which ? n->dest_port : n->port;
	out->u.nl.nl_groups = which ? n->dest_groups : n->groups;
	return 0;
}

/* ---- answers ---- */

void *answer_begin(struct answer *a, uint16_t type, size_t size)
{
	struct nlmsghdr h = { .nlmsg_type = type,
			      .nlmsg_flags = a->flags,
			      .nlmsg_seq = a->seq,
			      .nlmsg_pid = a->port };
	char *body = a->buf + a->len + NLMSG_HDRLEN;

	a->start = a->len;
	memcpy(a->buf + a->len, &h, sizeof(h));
	memset(body, 0, NLMSG_ALIGN(size));
	a->len += (uint32_t)(NLMSG_HDRLEN + NLMSG_ALIGN(size));
	return body;
}

void answer_end(struct answer *a)
{
	uint32_t len = a->len - a->start;

	memcpy(a->buf + a->start, &len, sizeof(len));
}

/* What a cell has fits by far; an attribute that did not would be left out. */
void answer_attr(struct answer *a, uint16_t type, const void *data, size_t len)
{
	struct rtattr h = { .rta_type = type, .rta_len = (uint16_t)RTA_LENGTH(len) };

	if (a->len + RTA_SPACE(len) > sizeof(a->buf) - 256)
		return;
	memset(a->buf + a->len, 0, RTA_SPACE(len));
	memcpy(a->buf + a->len, &h, sizeof(h));
	memcpy(a->buf + a->len + RTA_LENGTH(0), data, len);
	a->len += (uint32_t)RTA_SPACE(len);
}

static void attr_u32(struct answer *a, uint16_t type, uint32_t v)
{
	answer_attr(a, type, &v, sizeof(v));
}

static void attr_u8(struct answer *a, uint16_t type, uint8_t v)
{
	answer_attr(a, type, &v, sizeof(v));
}

static void link_put(struct answer *a, const struct iface *d)
{
	static const uint8_t all[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	bool lo = d->index == IFACE_LO;
	struct iface_count n = lo ? (struct iface_count){ 0 } : iface_count(d);
	struct rtnl_link_stats64 stats = { .rx_bytes = n.in,
					   .rx_packets = n.in_packets,
					   .tx_bytes = n.out,
					   .tx_packets = n.out_packets };
	struct ifinfomsg *m = answer_begin(a, RTM_NEWLINK, sizeof(*m));

	m->ifi_family = AF_UNSPEC;
	m->ifi_type = d->type;
	m->ifi_index = d->index;
	m->ifi_flags = d->flags | LOWER_UP;
	answer_attr(a, IFLA_IFNAME, d->name, strlen(d->name) + 1);
	attr_u32(a, IFLA_TXQLEN, 1000);
	attr_u8(a, IFLA_OPERSTATE, lo ? OPER_UNKNOWN : OPER_UP);
	attr_u8(a, IFLA_LINKMODE, 0);
	attr_u32(a, IFLA_MTU, d->mtu);
	attr_u32(a, IFLA_GROUP, 0);
	attr_u32(a, IFLA_PROMISCUITY, 0);
	attr_u32(a, IFLA_NUM_TX_QUEUES, 1);
	attr_u32(a, IFLA_NUM_RX_QUEUES, 1);
	attr_u8(a, IFLA_CARRIER, 1);
	answer_attr(a, IFLA_QDISC, "noqueue", 8);
	answer_attr(a, IFLA_ADDRESS, d->mac, sizeof(d->mac));
	answer_attr(a, IFLA_BROADCAST, lo ? d->mac : all, sizeof(all));
	answer_attr(a, IFLA_STATS64, &stats, sizeof(stats));
	answer_end(a);
}

static void addr_put(struct answer *a, const struct iface *d, uint8_t family)
{
	static const struct ifa_cacheinfo forever = { .ifa_prefered = UINT32_MAX,
						      .ifa_valid = UINT32_MAX };
	struct ifaddrmsg *m = answer_begin(a, RTM_NEWADDR, sizeof(*m));

	m->ifa_family = family;
	m->ifa_prefixlen = family == AF_INET ? d->prefix4 : d->prefix6;
	m->ifa_flags = IFA_F_PERMANENT;
	m->ifa_scope = d->index == IFACE_LO ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE;
	m->ifa_index = (uint32_t)d->index;
	if (family == AF_INET) {
		answer_attr(a, IFA_ADDRESS, d->four.b + 12, 4);
		answer_attr(a, IFA_LOCAL, d->four.b + 12, 4);
		if (!ipaddr_is_any(&d->bcast))
			answer_attr(a, IFA_BROADCAST, d->bcast.b + 12, 4);
		answer_attr(a, IFA_LABEL, d->name, strlen(d->name) + 1);
	} else {
		answer_attr(a, IFA_ADDRESS, d->six.b, 16);
	}
	attr_u32(a, IFA_FLAGS, IFA_F_PERMANENT);
	answer_attr(a, IFA_CACHEINFO, &forever, sizeof(forever));
	answer_end(a);
}

/* src: as a question about one destination is answered. */
static void route_put(struct answer *a, const struct route *r, bool src)
{
	struct rtmsg *m = answer_begin(a, RTM_NEWROUTE, sizeof(*m));
	size_t size = r->v6 ? 16 : 4, skip = 16 - size;
	uint32_t table = r->local ? RT_TABLE_LOCAL : RT_TABLE_MAIN;
	bool via = !ipaddr_is_any(&r->via);

	m->rtm_family = r->v6 ? AF_INET6 : AF_INET;
	m->rtm_dst_len = r->bits;
	m->rtm_table = (uint8_t)table;
	m->rtm_protocol = via && !src ? RTPROT_BOOT : RTPROT_KERNEL;
	m->rtm_scope = r->v6 || via	       ? RT_SCOPE_UNIVERSE
		       : r->local && !r->bcast ? RT_SCOPE_HOST
					       : RT_SCOPE_LINK;
	m->rtm_type = r->bcast ? RTN_BROADCAST : r->local ? RTN_LOCAL : RTN_UNICAST;
	attr_u32(a, RTA_TABLE, table);
	if (r->bits)
		answer_attr(a, RTA_DST, r->dst.b + skip, size);
	if (r->metric)
		attr_u32(a, RTA_PRIORITY, r->metric);
	if ((!r->v6 && !via) || src)
		answer_attr(a, RTA_PREFSRC, (r->v6 ? &r->dev->six : &r->dev->four)->b + skip, size);
	if (via)
		answer_attr(a, RTA_GATEWAY, r->via.b + skip, size);
	attr_u32(a, RTA_OIF, (uint32_t)r->dev->index);
	answer_end(a);
}

void answer_done(struct answer *a)
{
	answer_begin(a, NLMSG_DONE, sizeof(int32_t));
	answer_end(a);
}

/* The answer that something failed, or, with 0, that it was done. */
void answer_error(struct answer *a, const struct nlmsghdr *req, int err)
{
	struct nlmsgerr *e;

	a->flags = 0x100; /* NLM_F_CAPPED: the request itself is not given back */
	e = answer_begin(a, NLMSG_ERROR, sizeof(*e));
	e->error = err;
	e->msg = *req;
	answer_end(a);
}

static bool wants(uint8_t asked, uint8_t family)
{
	return asked == AF_UNSPEC || asked == family;
}

static void dump(struct answer *a, const struct nlmsghdr *req, uint8_t family)
{
	const struct iface *d;
	struct route r;

	a->flags = NLM_F_MULTI;
	switch (req->nlmsg_type) {
	case RTM_GETLINK:
		for (unsigned i = 0; (d = iface_at(i)); i++)
			link_put(a, d);
		break;
	case RTM_GETADDR:
		for (unsigned i = 0; (d = iface_at(i)) && wants(family, AF_INET); i++)
			addr_put(a, d, AF_INET);
		for (unsigned i = 0; (d = iface_at(i)) && wants(family, AF_INET6); i++)
			addr_put(a, d, AF_INET6);
		break;
	case RTM_GETROUTE:
		for (unsigned i = 0; iface_route(i, &r); i++)
			if (wants(family, r.v6 ? AF_INET6 : AF_INET))
				route_put(a, &r, false);
		break;
	case RTM_GETNEIGH:
	case RTM_GETRULE:
	case RTM_GETQDISC:
		break;
	default:
		answer_error(a, req, -EOPNOTSUPP);
		return;
	}
	answer_done(a);
}

/* The attribute of type in the len bytes at p: its data, at least min bytes; NULL: there is
 * none. */
static const char *attr_find(const char *p, size_t len, uint16_t type, size_t min)
{
	struct rtattr h;

	while (len >= sizeof(h)) {
		memcpy(&h, p, sizeof(h));
		if (h.rta_len < sizeof(h) || h.rta_len > len)
			return NULL;
		if ((h.rta_type & NLA_TYPE_MASK) == type && h.rta_len >= RTA_LENGTH(min))
			return p + RTA_LENGTH(0);
		size_t step = MIN((size_t)RTA_ALIGN(h.rta_len), len);
		p += step;
		len -= step;
	}
	return NULL;
}

static int get_link(struct answer *a, const char *body, size_t len)
{
	struct ifinfomsg m;
	const struct iface *d = NULL;
	const char *name;

	if (len < sizeof(m))
		return -EINVAL;
	memcpy(&m, body, sizeof(m));
	name = attr_find(body + sizeof(m), len - sizeof(m), IFLA_IFNAME, 3);
	if (m.ifi_index <= 0 && !name)
		return -EINVAL;
	if (m.ifi_index > 0)
		d = iface_by_index(m.ifi_index);
	else
		d = iface_by_name(name, MIN((size_t)(body + len - name), (size_t)NAME_SIZE));
	if (!d)
		return -ENODEV;
	link_put(a, d);
	return 0;
}

static int get_route(struct answer *a, const char *body, size_t len)
{
	struct ipaddr dst = ip_any4;
	const char *data;
	struct route r;
	struct rtmsg m;
	bool v4;

	if (len < sizeof(m))
		return -EINVAL;
	memcpy(&m, body, sizeof(m));
	if (m.rtm_family != AF_INET && m.rtm_family != AF_INET6)
		return -EOPNOTSUPP;
	v4 = m.rtm_family == AF_INET;
	data = attr_find(body + sizeof(m), len - sizeof(m), RTA_DST, v4 ? 4 : 16);
	if (!data)
		return -EINVAL;
	if (v4)
		memcpy(dst.b + 12, data, 4);
	else
		memcpy(dst.b, data, 16);
	if (ipaddr_is_v4(&dst) != v4 || !iface_route_to(&dst, &r))
		return -ENETUNREACH;
	r.dst = dst;
	r.bits = v4 ? 32 : 128;
	r.metric = 0;
	route_put(a, &r, !r.local);
	return 0;
}

/* One request; h.nlmsg_len is checked. */
static void answer_make(struct answer *a, const struct nlmsghdr *h, const char *body)
{
	size_t len = h->nlmsg_len - NLMSG_HDRLEN;
	uint8_t family = len ? (uint8_t)body[0] : AF_UNSPEC;
	bool ack = h->nlmsg_flags & NLM_F_ACK;
	int r;

	if (h->nlmsg_type < NLMSG_MIN_TYPE || !(h->nlmsg_flags & NLM_F_REQUEST)) {
		if (ack)
			answer_error(a, h, 0);
		return;
	}
	if (h->nlmsg_type < RTM_BASE || h->nlmsg_type > RTM_MAX) {
		answer_error(a, h, -EOPNOTSUPP);
		return;
	}
	if (((h->nlmsg_type - RTM_BASE) & 3) != 2) { /* not a question */
		answer_error(a, h, -EPERM);
		return;
	}
	if ((h->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP) {
		dump(a, h, family);
		return;
	}
	if (h->nlmsg_type == RTM_GETLINK)
		r = get_link(a, body, len);
	else if (h->nlmsg_type == RTM_GETROUTE)
		r = get_route(a, body, len);
	else
		r = -EOPNOTSUPP;
	if (r < 0 || ack)
		answer_error(a, h, r);
}

/* ---- bytes ---- */

int answer_queue(struct sock *s, struct answer *a)
{
	struct packet *pk;

	if (!a->len)
		return 0;
	pk = s->queued_true > s->rcvbuf ? NULL : packet_new(a->len);
	if (!pk) {
		sock_set_err(s, ENOBUFS);
		return -ENOBUFS;
	}
	memcpy(pk->data, a->buf, a->len);
	pk->len = a->len;
	sock_enqueue(s, pk, NULL);
	waitq_wake(&s->q, SOCK_POLL_IN);
	a->len = 0;
	return 0;
}

static int netlink_dest(const struct netlink_sock *n, const struct sockmsg *m)
{
	uint32_t port = n->dest_port, groups = n->dest_groups;

	if (m->to) {
		if (m->to->len < sizeof(m->to->u.nl) || m->to->u.nl.nl_family != AF_NETLINK)
			return -EINVAL;
		port = m->to->u.nl.nl_pid;
		groups = m->to->u.nl.nl_groups;
	}
	if (groups)
		return -EPERM;
	return port ? -ECONNREFUSED : 0;
}

static int64_t netlink_send(struct sock *s, struct uio *u, struct sockmsg *m)
{
	static struct answer a;
	static char req[REQUEST_MAX];
	struct netlink_sock *n = netlink_sk(s);
	uint64_t len = u->left;
	int r;

	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	r = netlink_dest(n, m);
	if (r < 0)
		return r;
	autobind(n);
	if (len > sizeof(req))
		return -EMSGSIZE;
	if (len && uio_take(u, req, (size_t)len) != (int64_t)len)
		return -EFAULT;
	a.looks = 0;
	for (size_t at = 0; len - at >= NLMSG_HDRLEN;) {
		struct nlmsghdr h;

		memcpy(&h, req + at, sizeof(h));
		if (h.nlmsg_len < NLMSG_HDRLEN || h.nlmsg_len > len - at)
			break;
		a.len = 0;
		a.flags = 0;
		a.seq = h.nlmsg_seq;
		a.port = n->port;
		if (s->protocol == NETLINK_SOCK_DIAG)
			diag_answer(s, &a, &h, req + at + NLMSG_HDRLEN);
		else
			answer_make(&a, &h, req + at + NLMSG_HDRLEN);
		if (answer_queue(s, &a) < 0)
			break;
		at += MIN((size_t)NLMSG_ALIGN(h.nlmsg_len), (size_t)len - at);
	}
	return (int64_t)len;
}

static int64_t netlink_recv(struct sock *s, struct uio *u, struct sockmsg *m)
{
	if (m->flags & MSG_OOB)
		return -EOPNOTSUPP;
	if (s->err)
		return -sock_take_err(s);
	if (list_is_empty(&s->queue))
		return s->rcv_shut ? 0 : -EAGAIN;
	memset(&m->from.u.nl, 0, sizeof(m->from.u.nl));
	m->from.u.nl.nl_family = AF_NETLINK;
	m->from.len = sizeof(m->from.u.nl);
	return sock_recv_packet(s, u, m, list_first(&s->queue, struct packet, link));
}

static uint32_t netlink_poll(struct sock *s)
{
	return SOCK_POLL_OUT | (s->err ? POLLERR : 0) |
	       (list_is_empty(&s->queue) ? 0 : SOCK_POLL_IN);
}

static int64_t netlink_readable(struct sock *s)
{
	return list_is_empty(&s->queue) ? 0 : list_first(&s->queue, struct packet, link)->len;
}

static int netlink_setopt(struct sock *s, struct task *t, int level, int opt, const void *v,
			  uint32_t len)
{
	(void)s, (void)t, (void)v;
	if (level != 270 /* SOL_NETLINK */ || opt < NETLINK_ADD_MEMBERSHIP ||
	    opt > NETLINK_GET_STRICT_CHK)
		return -ENOPROTOOPT;
	return len < sizeof(int) ? -EINVAL : 0;
}

static int netlink_shutdown(struct sock *s, int how)
{
	(void)s, (void)how;
	return -EOPNOTSUPP;
}

static void netlink_release(struct sock *s)
{
	sock_fini(s);
	obj_free(&netlink_type, netlink_sk(s));
}

static const struct sock_ops netlink_ops = {
	.bind = netlink_bind,
	.connect = netlink_connect,
	.name = netlink_name,
	.send = netlink_send,
	.recv = netlink_recv,
	.shutdown = netlink_shutdown,
	.poll = netlink_poll,
	.readable = netlink_readable,
	.setopt = netlink_setopt,
	.release = netlink_release,
};
