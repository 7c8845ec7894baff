/* AF_NETLINK: the route family as far as programs ask what interfaces, addresses and routes there
 * are.
 *
 * A request is answered while it is sent: the answers lie in the sender's own queue afterwards. A
 * cell has one interface, lo. What would change something is refused with EPERM, what is not known
 * with EOPNOTSUPP. Groups may be joined; nothing ever happens there (NETLINK_KOBJECT_UEVENT is
 * accepted for the same reason: it stays silent). NETLINK_SOCK_DIAG is in netlink_diag.c. Left out:
 * all other families, user to user messages. */
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/net/netlink_priv.h"
#include "kernel/net/route.h"
#include "kernel/platform/uio.h"

#define LO_INDEX 1
#define LO_MTU 65536u
#define LO_FLAGS 0x10049u /* up, loopback, running, lower up */
#define ARPHRD_LOOPBACK 772
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

static void link_put(struct answer *a)
{
	static const uint8_t no_mac[6];
	struct rtnl_link_stats64 stats = { 0 };
	struct ifinfomsg *m = answer_begin(a, RTM_NEWLINK, sizeof(*m));

	m->ifi_family = AF_UNSPEC;
	m->ifi_type = ARPHRD_LOOPBACK;
	m->ifi_index = LO_INDEX;
	m->ifi_flags = LO_FLAGS;
	answer_attr(a, IFLA_IFNAME, "lo", 3);
	attr_u32(a, IFLA_TXQLEN, 1000);
	attr_u8(a, IFLA_OPERSTATE, 0);
	attr_u8(a, IFLA_LINKMODE, 0);
	attr_u32(a, IFLA_MTU, LO_MTU);
	attr_u32(a, IFLA_GROUP, 0);
	attr_u32(a, IFLA_PROMISCUITY, 0);
	attr_u32(a, IFLA_NUM_TX_QUEUES, 1);
	attr_u32(a, IFLA_NUM_RX_QUEUES, 1);
	attr_u8(a, IFLA_CARRIER, 1);
	answer_attr(a, IFLA_QDISC, "noqueue", 8);
	answer_attr(a, IFLA_ADDRESS, no_mac, sizeof(no_mac));
	answer_attr(a, IFLA_BROADCAST, no_mac, sizeof(no_mac));
	answer_attr(a, IFLA_STATS64, &stats, sizeof(stats));
	answer_end(a);
}

static void addr_put(struct answer *a, uint8_t family)
{
	static const struct ifa_cacheinfo forever = { .ifa_prefered = UINT32_MAX,
						      .ifa_valid = UINT32_MAX };
	struct ifaddrmsg *m = answer_begin(a, RTM_NEWADDR, sizeof(*m));

	m->ifa_family = family;
	m->ifa_prefixlen = family == AF_INET ? 8 : 128;
	m->ifa_flags = IFA_F_PERMANENT;
	m->ifa_scope = RT_SCOPE_HOST;
	m->ifa_index = LO_INDEX;
	if (family == AF_INET) {
		answer_attr(a, IFA_ADDRESS, ip_loop4.b + 12, 4);
		answer_attr(a, IFA_LOCAL, ip_loop4.b + 12, 4);
		answer_attr(a, IFA_LABEL, "lo", 3);
	} else {
		answer_attr(a, IFA_ADDRESS, ip_loop6.b, 16);
	}
	attr_u32(a, IFA_FLAGS, IFA_F_PERMANENT);
	answer_attr(a, IFA_CACHEINFO, &forever, sizeof(forever));
	answer_end(a);
}

static void route_put(struct answer *a, uint8_t family, const uint8_t *dst, uint8_t bits)
{
	struct rtmsg *m = answer_begin(a, RTM_NEWROUTE, sizeof(*m));
	size_t size = family == AF_INET ? 4 : 16;

	m->rtm_family = family;
	m->rtm_dst_len = bits;
	m->rtm_table = RT_TABLE_LOCAL;
	m->rtm_protocol = RTPROT_KERNEL;
	m->rtm_scope = family == AF_INET ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE;
	m->rtm_type = RTN_LOCAL;
	attr_u32(a, RTA_TABLE, RT_TABLE_LOCAL);
	answer_attr(a, RTA_DST, dst, size);
	if (family == AF_INET)
		answer_attr(a, RTA_PREFSRC, ip_loop4.b + 12, 4);
	attr_u32(a, RTA_OIF, LO_INDEX);
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
	static const uint8_t net127[4] = { 127, 0, 0, 0 };

	a->flags = NLM_F_MULTI;
	switch (req->nlmsg_type) {
	case RTM_GETLINK:
		link_put(a);
		break;
	case RTM_GETADDR:
		if (wants(family, AF_INET))
			addr_put(a, AF_INET);
		if (wants(family, AF_INET6))
			addr_put(a, AF_INET6);
		break;
	case RTM_GETROUTE:
		if (wants(family, AF_INET)) {
			route_put(a, AF_INET, net127, 8);
			route_put(a, AF_INET, ip_loop4.b + 12, 32);
		}
		if (wants(family, AF_INET6))
			route_put(a, AF_INET6, ip_loop6.b, 128);
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
	const char *name;

	if (len < sizeof(m))
		return -EINVAL;
	memcpy(&m, body, sizeof(m));
	name = attr_find(body + sizeof(m), len - sizeof(m), IFLA_IFNAME, 3);
	if (m.ifi_index > 0 ? m.ifi_index != LO_INDEX : !name)
		return m.ifi_index > 0 ? -ENODEV : -EINVAL;
	if (m.ifi_index <= 0 && memcmp(name, "lo", 3) != 0)
		return -ENODEV;
	link_put(a);
	return 0;
}

static int get_route(struct answer *a, const char *body, size_t len)
{
	struct ipaddr dst = ip_any4;
	const char *data;
	struct rtmsg m;

	if (len < sizeof(m))
		return -EINVAL;
	memcpy(&m, body, sizeof(m));
	if (m.rtm_family != AF_INET && m.rtm_family != AF_INET6)
		return -EOPNOTSUPP;
	data = attr_find(body + sizeof(m), len - sizeof(m), RTA_DST,
			 m.rtm_family == AF_INET ? 4 : 16);
	if (!data)
		return -EINVAL;
	if (m.rtm_family == AF_INET)
		memcpy(dst.b + 12, data, 4);
	else
		memcpy(dst.b, data, 16);
	if (route_dest(&dst) == DEST_OUTSIDE)
		return -ENETUNREACH;
	route_put(a, m.rtm_family, m.rtm_family == AF_INET ? dst.b + 12 : dst.b,
		  m.rtm_family == AF_INET ? 32 : 128);
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
