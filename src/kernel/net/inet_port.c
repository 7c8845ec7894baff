/* Ports: who has which, Linux's rules for sharing them, and who is meant by a destination.
 *
 * Two tables for each protocol: sockets by local port, and listeners (TCP) by port. A connection
 * that was closed first on this side leaves a mark on its port for TIME_WAIT_NS, which keeps others
 * from binding it without SO_REUSEADDR; that is all there is of TIME_WAIT here, since no packet can
 * be late. Left out: the same port for connections to different destinations (each connect takes a
 * free one). */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "kernel/net/inet.h"
#include "kernel/task/clock.h"

#define BUCKETS 1024
#define PORT_FIRST 32768u
#define PORT_COUNT (60999u - PORT_FIRST + 1)
#define TIME_WAIT_NS (60 * NSEC_PER_SEC)

static struct list tcp_ports[BUCKETS], udp_ports[BUCKETS], listeners[BUCKETS];

struct time_wait {
	struct list link; /* oldest first */
	struct ipaddr addr;
	uint16_t port;
	bool reuse, v6only;
	int64_t until;
};
OBJ_TYPE(time_wait_type, struct time_wait, 4096);
static struct list waits = LIST_INIT(waits);

static void tables_init(void)
{
	if (tcp_ports[0].next)
		return;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		list_init(&tcp_ports[i]);
		list_init(&udp_ports[i]);
		list_init(&listeners[i]);
	}
}

static struct list *ports_of(const struct inet_sock *i, uint16_t port)
{
	tables_init();
	return &(inet_is_tcp(i) ? tcp_ports : udp_ports)[port % BUCKETS];
}

/* Do two bound addresses cover a common one? */
static bool addrs_meet(const struct ipaddr *a, bool a_v6only, const struct ipaddr *b, bool b_v6only)
{
	bool a4 = ipaddr_is_v4(a), b4 = ipaddr_is_v4(b);
	bool a_all = ipaddr_is_same(a, &ip_any6), b_all = ipaddr_is_same(b, &ip_any6);

	if (a4 != b4)
		return (a_all && !a_v6only) || (b_all && !b_v6only);
	return ipaddr_is_any(a) || ipaddr_is_any(b) || ipaddr_is_same(a, b);
}

/* At listen only other listeners count, except those who share the port for good. */
static bool listeners_conflict(const struct inet_sock *a, const struct inet_sock *b)
{
	return b->state == TCPS_LISTEN && addrs_meet(&a->laddr, a->v6only, &b->laddr, b->v6only) &&
	       !(a->s.reuseport && b->s.reuseport && a->s.uid == b->s.uid);
}

static bool socks_conflict(const struct inet_sock *a, const struct inet_sock *b)
{
	if (!addrs_meet(&a->laddr, a->v6only, &b->laddr, b->v6only))
		return false;
	if (a->s.reuseport && b->s.reuseport && a->s.uid == b->s.uid)
		return false;
	if (a->s.reuseaddr && b->s.reuseaddr &&
	    (!inet_is_tcp(a) || (a->state != TCPS_LISTEN && b->state != TCPS_LISTEN)))
		return false;
	return true;
}

static void waits_expire(void)
{
	while (!list_is_empty(&waits)) {
		struct time_wait *w = list_first(&waits, struct time_wait, link);

		if (w->until > now_mono())
			return;
		list_remove(&w->link);
		obj_free(&time_wait_type, w);
	}
}

static bool wait_conflicts(const struct inet_sock *i, uint16_t port)
{
	struct time_wait *w;

	waits_expire();
	list_for_each(w, &waits, link)
		if (w->port == port && !(w->reuse && i->s.reuseaddr) &&
		    addrs_meet(&i->laddr, i->v6only, &w->addr, w->v6only))
			return true;
	return false;
}

static bool port_is_taken(const struct inet_sock *i, uint16_t port)
{
	struct list *bucket = ports_of(i, port);
	struct inet_sock *o;

	list_for_each(o, bucket, bind_link)
		if (o != i && o->lport == port && socks_conflict(i, o))
			return true;
	return inet_is_tcp(i) && wait_conflicts(i, port);
}

/* Sharing a port is for those who name it: a free one is one that nobody has. */
static bool port_is_free(const struct inet_sock *i, uint16_t port)
{
	struct list *bucket = ports_of(i, port);
	struct inet_sock *o;

	list_for_each(o, bucket, bind_link)
		if (o->lport == port)
			return false;
	return true;
}

static uint32_t port_random(void)
{
	static uint64_t x;

	if (!x)
		x = (uint64_t)now_mono() | 1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16);
}

int port_bind(struct inet_sock *i, uint16_t port)
{
	if (!port) {
		uint32_t start = port_random() % PORT_COUNT;

		for (uint32_t n = 0; n < PORT_COUNT && !port; n++) {
			uint16_t p = (uint16_t)(PORT_FIRST + (start + n) % PORT_COUNT);

			if (port_is_free(i, p))
				port = p;
		}
		if (!port)
			return -EADDRINUSE;
	} else if (port_is_taken(i, port)) {
		return -EADDRINUSE;
	}
	port_share(i, port);
	return 0;
}

void port_share(struct inet_sock *i, uint16_t port)
{
	i->lport = port;
	list_push(ports_of(i, port), &i->bind_link);
}

void port_unbind(struct inet_sock *i)
{
	list_remove(&i->bind_link);
	i->lport = 0;
}

int port_listen(struct inet_sock *i)
{
	struct list *bucket = &listeners[i->lport % BUCKETS];
	struct inet_sock *o;

	list_for_each(o, bucket, listen_link)
		if (o->lport == i->lport && listeners_conflict(i, o))
			return -EADDRINUSE;
	i->state = TCPS_LISTEN;
	list_push(bucket, &i->listen_link);
	return 0;
}

void port_unlisten(struct inet_sock *i)
{
	list_remove(&i->listen_link);
}

/* How well a bound socket fits a destination: -1 not at all. */
static int fit(const struct inet_sock *i, const struct ipaddr *a, uint16_t port)
{
	if (i->lport != port)
		return -1;
	if (ipaddr_is_same(&i->laddr, a))
		return 4;
	if (ipaddr_is_same(&i->laddr, &ip_any4))
		return ipaddr_is_v4(a) ? 2 : -1;
	if (ipaddr_is_same(&i->laddr, &ip_any6))
		return ipaddr_is_v4(a) ? (i->v6only ? -1 : 1) : 2;
	return -1;
}

static int fit_udp(const struct inet_sock *i, const struct ipaddr *dst, uint16_t dport,
		   const struct ipaddr *src, uint16_t sport)
{
	int score = fit(i, dst, dport);

	if (score < 0 || !i->rport)
		return score;
	return i->rport == sport && ipaddr_is_same(&i->raddr, src) ? score + 8 : -1;
}

struct inet_sock *port_listener(const struct ipaddr *a, uint16_t port, uint32_t salt)
{
	struct list *bucket = &listeners[port % BUCKETS];
	struct inet_sock *o, *best = NULL;
	uint32_t same = 0;
	int best_score = -1;

	tables_init();
	list_for_each(o, bucket, listen_link) {
		int score = fit(o, a, port);

		if (score < 0 || score < best_score)
			continue;
		same = score > best_score ? 1 : same + 1;
		/* Equals share by chance; the salt makes the choice. */
		if (score > best_score || (salt * 2654435761u >> 8) % same == 0)
			best = o;
		best_score = score;
	}
	return best;
}

struct inet_sock *port_udp(const struct ipaddr *dst, uint16_t dport, const struct ipaddr *src,
			   uint16_t sport)
{
	struct list *bucket = &udp_ports[dport % BUCKETS];
	struct inet_sock *o, *best = NULL;
	uint32_t same = 0;
	int best_score = -1;

	tables_init();
	list_for_each(o, bucket, bind_link) {
		int score = fit_udp(o, dst, dport, src, sport);

		if (score < 0 || score < best_score)
			continue;
		same = score > best_score ? 1 : same + 1;
		if (score > best_score ||
		    (o->s.reuseport && (sport * 2654435761u >> 8) % same == 0))
			best = o;
		best_score = score;
	}
	return best;
}

uint32_t port_udp_all(const struct ipaddr *dst, uint16_t dport, const struct ipaddr *src,
		      uint16_t sport, struct inet_sock **out, uint32_t max)
{
	struct list *bucket = &udp_ports[dport % BUCKETS];
	struct inet_sock *o;
	uint32_t n = 0;

	tables_init();
	list_for_each(o, bucket, bind_link) {
		if (n == max)
			break;
		if (fit_udp(o, dst, dport, src, sport) >= 0)
			out[n++] = o;
	}
	return n;
}

bool port_connected(const struct ipaddr *l, uint16_t lport, const struct ipaddr *r, uint16_t rport)
{
	struct list *bucket = &tcp_ports[lport % BUCKETS];
	struct inet_sock *o;

	tables_init();
	list_for_each(o, bucket, bind_link)
		if (o->lport == lport && o->rport == rport && ipaddr_is_same(&o->laddr, l) &&
		    ipaddr_is_same(&o->raddr, r) && o->state != TCPS_CLOSE &&
		    o->state != TCPS_LISTEN)
			return true;
	return false;
}

void port_time_wait(const struct inet_sock *i)
{
	struct time_wait *w;

	waits_expire();
	if (!i->lport)
		return;
	w = obj_new(&time_wait_type);
	if (!w) {
		/* The oldest makes room. */
		if (list_is_empty(&waits))
			return;
		w = list_first(&waits, struct time_wait, link);
		list_remove(&w->link);
	}
	w->addr = i->laddr;
	w->port = i->lport;
	w->reuse = i->s.reuseaddr;
	w->v6only = i->v6only;
	w->until = now_mono() + TIME_WAIT_NS;
	list_append(&waits, &w->link);
}
