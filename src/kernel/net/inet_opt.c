/* Options of IP, IPv6, TCP and UDP.
 *
 * Most have nothing to do inside a cell: they are checked, remembered and told again. Those with a
 * meaning are IPV6_V6ONLY, the requests for control messages, and TCP_INFO. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <string.h>

#include "kernel/net/inet.h"
#include "kernel/net/route.h"
#include "kernel/task/cred.h"
#include "kernel/task/task.h"

#define MSS_V4 65483
/* What TCP_MAXSEG says of a connection: Linux keeps to half of the peer's first window. Programs
 * set it on a socket again (py-amqp), and more than 32767 cannot be set. */
#define MAXSEG_V4 32741
#define MAXSEG_V6 32732
#define MSS_UNKNOWN 536
#define RTT_US 50
#define TTL_DEFAULT 64
#define WINDOW_MIN 1152 /* half of what Linux gives a receive buffer at least */
#define ECN_MASK 3 /* of IP_TOS: a stream keeps its own */
#define RTO_MAX_S 120
#define FIN_TIMEOUT_S 60
#define FIN_TIMEOUT_MAX_S 120
#define QUEUE_MAX 4096 /* somaxconn */
#define MSS_MIN 88

struct known {
	int level, opt;
	int32_t def, min, max;
};

#define BOOL(level, opt, def)          \
	{                              \
		level, opt, def, 0, -1 \
	}

/* max -1: any value, told as 0 or 1. */
static const struct known known[] = {
	{ IPPROTO_IP, IP_TOS, 0, INT32_MIN, INT32_MAX },
	{ IPPROTO_IP, IP_TTL, 64, 1, 255 },
	{ IPPROTO_IP, IP_MTU_DISCOVER, 1, 0, 5 },
	{ IPPROTO_IP, IP_MULTICAST_TTL, 1, 0, 255 },
	BOOL(IPPROTO_IP, IP_MULTICAST_LOOP, 1),
	BOOL(IPPROTO_IP, 49 /* IP_MULTICAST_ALL */, 1),
	BOOL(IPPROTO_IP, IP_PKTINFO, 0),
	BOOL(IPPROTO_IP, IP_RECVERR, 0),
	BOOL(IPPROTO_IP, IP_RECVTTL, 0),
	BOOL(IPPROTO_IP, IP_RECVTOS, 0),
	BOOL(IPPROTO_IP, IP_RECVOPTS, 0),
	BOOL(IPPROTO_IP, IP_FREEBIND, 0),
	BOOL(IPPROTO_IP, 20 /* IP_RECVORIGDSTADDR */, 0),
	BOOL(IPPROTO_IP, 24 /* IP_BIND_ADDRESS_NO_PORT */, 0),
	{ IPPROTO_IP, 21 /* IP_MINTTL */, 0, 0, 255 },
	{ IPPROTO_IPV6, IPV6_UNICAST_HOPS, 64, 0, 255 },
	{ IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 1, 0, 255 },
	{ IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1, 0, 1 },
	{ IPPROTO_IPV6, IPV6_MULTICAST_IF, 0, 0, 1 },
	{ IPPROTO_IPV6, IPV6_TCLASS, 0, 0, 255 },
	{ IPPROTO_IPV6, IPV6_MTU_DISCOVER, 1, 0, 5 },
	BOOL(IPPROTO_IPV6, IPV6_RECVPKTINFO, 0),
	BOOL(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 0),
	BOOL(IPPROTO_IPV6, IPV6_RECVTCLASS, 0),
	BOOL(IPPROTO_IPV6, IPV6_RECVERR, 0),
	BOOL(IPPROTO_IPV6, 62 /* IPV6_DONTFRAG */, 0),
	BOOL(IPPROTO_IPV6, 70 /* IPV6_AUTOFLOWLABEL */, 0),
	BOOL(IPPROTO_IPV6, 78 /* IPV6_FREEBIND */, 0),
	BOOL(IPPROTO_TCP, TCP_NODELAY, 0),
	BOOL(IPPROTO_TCP, TCP_CORK, 0),
	{ IPPROTO_TCP, TCP_KEEPIDLE, 7200, 1, 32767 },
	{ IPPROTO_TCP, TCP_KEEPINTVL, 75, 1, 32767 },
	{ IPPROTO_TCP, TCP_KEEPCNT, 9, 1, 127 },
	{ IPPROTO_TCP, TCP_SYNCNT, 6, 1, 127 },
	{ IPPROTO_TCP, TCP_LINGER2, 60, INT32_MIN, INT32_MAX },
	{ IPPROTO_TCP, TCP_DEFER_ACCEPT, 0, INT32_MIN, INT32_MAX },
	{ IPPROTO_TCP, TCP_WINDOW_CLAMP, 0, 0, INT32_MAX },
	BOOL(IPPROTO_TCP, TCP_QUICKACK, 1),
	{ IPPROTO_TCP, TCP_USER_TIMEOUT, 0, 0, INT32_MAX },
	{ IPPROTO_TCP, TCP_FASTOPEN, 0, 0, INT32_MAX },
	BOOL(IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 0),
	{ IPPROTO_TCP, TCP_NOTSENT_LOWAT, 0, INT32_MIN, INT32_MAX },
	BOOL(IPPROTO_TCP, TCP_SAVE_SYN, 0),
	BOOL(IPPROTO_TCP, TCP_INQ, 0),
	{ IPPROTO_TCP, TCP_MAXSEG, 0, 0, 32767 }, /* 0: not set */
	BOOL(IPPROTO_UDP, UDP_CORK, 0),
	BOOL(IPPROTO_UDP, 104 /* UDP_GRO */, 0),
};
_Static_assert(ARRAY_LEN(known) <= INET_OPTS, "inet_sock.opts");

static int known_find(int level, int opt)
{
	for (size_t n = 0; n < ARRAY_LEN(known); n++)
		if (known[n].level == level && known[n].opt == opt)
			return (int)n;
	return -1;
}

void inet_opts_init(struct inet_sock *i)
{
	for (size_t n = 0; n < ARRAY_LEN(known); n++)
		i->opts[n] = known[n].def;
	strcpy(i->congestion, "cubic");
	i->ttl = TTL_DEFAULT;
	i->tos = 0;
}

bool inet_opt_on(const struct inet_sock *i, int level, int opt)
{
	int n = known_find(level, opt);

	return n >= 0 && i->opts[n];
}

bool inet_opt_changed(const struct inet_sock *i, int level, int opt, int32_t *ret_)
{
	int n = known_find(level, opt);

	*ret_ = n >= 0 ? i->opts[n] : 0;
	return n >= 0 && i->opts[n] != known[n].def;
}

/* Does a socket like i have options of that level? */
static bool level_fits(const struct inet_sock *i, int level)
{
	switch (level) {
	case IPPROTO_IP:
		return true;
	case IPPROTO_IPV6:
		return i->s.family == AF_INET6;
	case IPPROTO_TCP:
		return inet_is_tcp(i);
	case IPPROTO_UDP:
		return !inet_is_tcp(i);
	}
	return false;
}

/* Options whose value is no number, and those that need more than remembering. 1: it is none of
 * them. */
static int set_special(struct inet_sock *i, struct task *t, int level, int opt, const void *v,
		       uint32_t len)
{
	int32_t n = 0;

	memcpy(&n, v, MIN(len, sizeof(n)));
	if (level == IPPROTO_IPV6 && opt == IPV6_V6ONLY) {
		if (len < sizeof(n) || i->lport)
			return -EINVAL;
		i->v6only = n != 0;
		return 0;
	}
	if (level == IPPROTO_IP && opt == IP_OPTIONS)
		return len ? -EINVAL : 0;
	if (level == IPPROTO_IP && opt == 19 /* IP_TRANSPARENT */)
		return cred_has_cap(&t->cred, CAP_NET_ADMIN) ? 0 : -EPERM;
	if (level == IPPROTO_TCP && opt == TCP_CONGESTION) {
		char name[16] = "";

		memcpy(name, v, MIN(len, sizeof(name) - 1));
		if (!len)
			return -EINVAL;
		if (strcmp(name, "cubic") && strcmp(name, "reno"))
			return -ENOENT;
		memcpy(i->congestion, name, sizeof(name));
		return 0;
	}
	if (level == IPPROTO_TCP && opt == TCP_ULP)
		return -ENOENT;
	if (level == IPPROTO_TCP && opt == TCP_REPAIR)
		return -EPERM;
	return mcast_setopt(i, level, opt, v, len);
}

/* How often a connection request is sent again in so many seconds, and the other way. */
static int32_t secs_to_tries(int32_t secs)
{
	int32_t period = 1, step = 1, n = secs > 0;

	while (secs > period && n < 255) {
		n++;
		step = MIN(step * 2, RTO_MAX_S);
		period += step;
	}
	return n;
}

static int32_t tries_to_secs(int32_t n)
{
	int32_t period = n > 0, step = 1;

	while (--n > 0) {
		step = MIN(step * 2, RTO_MAX_S);
		period += step;
	}
	return period;
}

/* What Linux keeps of a value that it takes: 0, -EINVAL. */
static int value_adjust(const struct inet_sock *i, int level, int opt, int32_t *v)
{
	bool tcp = inet_is_tcp(i);

	if (level == IPPROTO_IP) {
		if (opt == IP_MULTICAST_TTL && tcp)
			return -EINVAL;
		if (opt == 49 /* IP_MULTICAST_ALL */ && *v != 0 && *v != 1)
			return -EINVAL;
		if (opt == IP_TOS)
			*v = *v & (tcp ? 0xff & ~ECN_MASK : 0xff);
	} else if (level == IPPROTO_IPV6) {
		if (opt == IPV6_TCLASS && tcp && *v > 0)
			*v &= ~ECN_MASK;
	} else if (level == IPPROTO_TCP) {
		if (opt == TCP_DEFER_ACCEPT)
			*v = tries_to_secs(secs_to_tries(*v));
		if (opt == TCP_FASTOPEN && i->state != TCPS_CLOSE && i->state != TCPS_LISTEN)
			return -EINVAL;
		if (opt == TCP_FASTOPEN)
			*v = MIN(*v, QUEUE_MAX);
		if (opt == TCP_MAXSEG && *v && *v < MSS_MIN)
			return -EINVAL;
		if (opt == TCP_WINDOW_CLAMP && *v > 0)
			*v = MAX(*v, WINDOW_MIN);
		if (opt == TCP_LINGER2)
			*v = *v < 0 ? -1 : !*v ? FIN_TIMEOUT_S : MIN(*v, FIN_TIMEOUT_MAX_S);
	}
	return 0;
}

/* IP takes no bytes at all as 0 for these. */
static bool ip_takes_nothing(int opt)
{
	switch (opt) {
	case IP_PKTINFO:
	case IP_RECVTTL:
	case IP_RECVOPTS:
	case IP_RECVTOS:
	case IP_TOS:
	case IP_MTU_DISCOVER:
	case IP_RECVERR:
	case 20: /* IP_RECVORIGDSTADDR */
	case 24: /* IP_BIND_ADDRESS_NO_PORT */
		return true;
	}
	return false;
}

int inet_setopt(struct sock *s, struct task *t, int level, int opt, const void *v, uint32_t len)
{
	struct inet_sock *i = inet_sk(s);
	int32_t value = 0;
	int n, r;

	if (!level_fits(i, level))
		return -ENOPROTOOPT;
	r = set_special(i, t, level, opt, v, len);
	if (r <= 0)
		return r;
	if ((level == IPPROTO_TCP || level == IPPROTO_UDP) && len < sizeof(value))
		return -EINVAL;
	n = known_find(level, opt);
	if (n < 0)
		return -ENOPROTOOPT;
	/* IP takes a byte, too. */
	if (len < sizeof(value) && !(level == IPPROTO_IP && (len >= 1 || ip_takes_nothing(opt))))
		return -EINVAL;
	memcpy(&value, v, len < sizeof(value) ? MIN(len, 1u) : sizeof(value));
	r = value_adjust(i, level, opt, &value);
	if (r < 0)
		return r;
	if (value == -1 && known[n].max == 255)
		value = known[n].def;
	if (known[n].max == -1)
		value = value != 0;
	else if (value < known[n].min || value > known[n].max)
		return -EINVAL;
	i->opts[n] = value;
	if (level == IPPROTO_IP && opt == IP_TTL)
		i->ttl = (uint8_t)value;
	if (level == IPPROTO_IP && opt == IP_TOS)
		i->tos = (uint8_t)value;
	if (level == IPPROTO_UDP && opt == UDP_CORK && !value)
		udp_uncork(i);
	return 0;
}

static void info_fill(const struct inet_sock *i, struct optval *out)
{
	struct tcp_info ti = { 0 };
	bool open = i->s.peer;

	ti.tcpi_state = (uint8_t)i->state;
	ti.tcpi_rto = open ? 201000 : 1000000;
	ti.tcpi_ato = open ? 40000 : 0;
	ti.tcpi_snd_mss = ti.tcpi_rcv_mss = ti.tcpi_advmss = open ? MSS_V4 : MSS_UNKNOWN;
	ti.tcpi_pmtu = open ? 65535 : 0;
	ti.tcpi_rtt = ti.tcpi_rcv_rtt = open ? RTT_US : 0;
	ti.tcpi_rttvar = open ? RTT_US / 2 : 250000;
	ti.tcpi_snd_cwnd = 10;
	ti.tcpi_snd_ssthresh = INT32_MAX;
	ti.tcpi_reordering = 3;
	ti.tcpi_rcv_space = 65495;
	ti.tcpi_bytes_acked = i->bytes_out;
	ti.tcpi_bytes_received = i->bytes_in;
	ti.tcpi_bytes_sent = i->bytes_out;
	if (i->state == TCPS_LISTEN) {
		ti.tcpi_unacked = i->s.acceptq_len;
		ti.tcpi_sacked = i->s.backlog;
	}
	out->len = sizeof(ti);
	memcpy(out->u.raw, &ti, sizeof(ti));
}
_Static_assert(sizeof(struct tcp_info) <= sizeof(((struct optval *)0)->u), "tcp_info");

/* As set_special. */
static int get_special(const struct inet_sock *i, int level, int opt, struct optval *out)
{
	if (level == IPPROTO_IPV6 && opt == IPV6_V6ONLY) {
		out->u.i = i->v6only;
		return 0;
	}
	if (level == IPPROTO_TCP && opt == TCP_INFO) {
		info_fill(i, out);
		return 0;
	}
	if (level == IPPROTO_TCP && opt == TCP_CONGESTION) {
		out->len = sizeof(i->congestion);
		memcpy(out->u.raw, i->congestion, out->len);
		return 0;
	}
	if (level == IPPROTO_TCP && opt == TCP_ULP) {
		out->len = 0;
		return 0;
	}
	if (level == IPPROTO_TCP && opt == TCP_MAXSEG && i->s.peer) {
		out->u.i = ipaddr_is_v4(&i->raddr) ? MAXSEG_V4 : MAXSEG_V6;
		return 0;
	}
	if (level == IPPROTO_TCP && opt == TCP_MAXSEG) {
		int32_t set = i->opts[known_find(level, opt)];

		out->u.i = set ? set : MSS_UNKNOWN;
		return 0;
	}
	if ((level == IPPROTO_IP && opt == IP_MTU) || (level == IPPROTO_IPV6 && opt == IPV6_MTU)) {
		out->u.i = 65536;
		return i->rport ? 0 : -ENOTCONN;
	}
	if (level == IPPROTO_IP && opt == IP_OPTIONS) {
		out->len = 0;
		return 0;
	}
	if (level == IPPROTO_IP && opt == IP_MULTICAST_IF) {
		memcpy(out->u.raw, i->mcast_addr.b + 12, 4);
		out->byte = false;
		return 0;
	}
	if (level == IPPROTO_IP && opt == 19) {
		out->u.i = 0;
		return 0;
	}
	return 1;
}

int inet_getopt(struct sock *s, int level, int opt, struct optval *out)
{
	const struct inet_sock *i = inet_sk(s);
	int n, r;

	out->len = sizeof(out->u.i);
	if (!level_fits(i, level))
		return i->s.family == AF_INET6 ? -ENOPROTOOPT : -EOPNOTSUPP;
	/* IPv6 takes any length for a number. */
	if (out->room < 0 && level != IPPROTO_IPV6)
		return -EINVAL;
	out->byte = level == IPPROTO_IP;
	r = get_special(i, level, opt, out);
	if (r <= 0)
		return r;
	n = known_find(level, opt);
	if (n < 0)
		return -ENOPROTOOPT;
	out->u.i = i->opts[n];
	return 0;
}
