/* AF_INET and AF_INET6 sockets: what TCP and UDP share. Addresses are IPv6 inside, IPv4 as mapped;
 * ports in host order. */
#ifndef VIV_KERNEL_NET_INET_H
#define VIV_KERNEL_NET_INET_H

#include "base/list.h"
#include "kernel/net/route.h"
#include "kernel/net/sock.h"

struct task;
struct uio;

enum tcp_state {
	TCPS_ESTABLISHED = 1,
	TCPS_SYN_SENT = 2,
	TCPS_FIN_WAIT1 = 4,
	TCPS_FIN_WAIT2 = 5,
	TCPS_TIME_WAIT = 6,
	TCPS_CLOSE = 7,
	TCPS_CLOSE_WAIT = 8,
	TCPS_LAST_ACK = 9,
	TCPS_LISTEN = 10,
};

#define INET_OPTS 56 /* at least as many as inet_opt.c remembers */

struct inet_sock {
	struct sock s; /* first */
	struct ipaddr laddr, raddr;
	uint16_t lport, rport; /* 0: none */
	uint16_t old_port; /* TCP: the port that a name still tells after it was given back */
	bool v6only;
	bool port_kept; /* by bind: a failed connect keeps it */
	bool addr_kept;
	struct list bind_link; /* by local port */
	struct list listen_link; /* of listeners, by port */
	enum tcp_state state; /* UDP: ESTABLISHED when connected, else CLOSE */
	/* TCP */
	bool connecting; /* connect() was begun and its end not yet told */
	bool connected; /* connect() or accept() succeeded */
	bool fin; /* the peer's end of stream is after the queue */
	bool abort; /* its end is a reset, whatever else */
	struct list connects; /* listener: those that wait for room, by accept_link */
	bool urg_set, urg_read; /* an urgent byte: it came; it was taken */
	uint8_t urg_byte;
	uint64_t urg_at; /* its place in the stream */
	uint64_t rcv_seq; /* bytes that came before the head of the queue */
	uint64_t bytes_in, bytes_out;
	bool inbound; /* it came from outside of the cell (inbound.c) */
	struct outside *out; /* TCP: the connection leads out of the cell (outside.c) */
	/* UDP */
	struct packet *cork; /* MSG_MORE, UDP_CORK: what was said so far; NULL: nothing */
	struct ipaddr cork_dst, cork_src;
	uint16_t cork_port;
	struct ipaddr *groups; /* of multicast: a blob, NULL before the first (mcast.c) */
	uint8_t ttl, tos; /* of what it sends: IP_TTL, IP_TOS */
	uint32_t ngroups;
	bool mcast_if; /* datagrams to groups leave through lo */
	struct ipaddr mcast_addr; /* as IP_MULTICAST_IF tells it */
	struct list flows; /* to the outside (udp_out.c) */
	uint32_t nflows;
	struct list asks; /* questions to the resolver (resolver.c) */
	uint32_t nasks;
	struct list errors; /* packets: the error queue of IP_RECVERR, oldest first */
	uint32_t nerrors;
	char congestion[16];
	int32_t opts[INET_OPTS]; /* see inet_opt.c */
};

static inline struct inet_sock *inet_sk(const struct sock *s)
{
	return container_of(s, struct inet_sock, s);
}
static inline bool inet_is_tcp(const struct inet_sock *i)
{
	return i->s.type == SOCK_STREAM;
}

extern const struct sock_ops tcp_ops, udp_ops;

/* ---- tcp.c, outside.c ---- */
int tcp_connect(struct sock *s, struct task *t, const struct sockname *n, bool nonblock,
		struct waitq **ret_q);
/* What a connection has of its listener. */
void tcp_inherit(struct inet_sock *end, const struct inet_sock *l);
/* Begins to connect to the outside, for t: 0, -errno. */
int must_check outside_connect(struct inet_sock *i, struct task *t, const struct ipaddr *dst,
			       uint16_t port);
/* i, which is new, becomes the end of a connection that the host has made. Takes fd, unless it
 * fails: -ENOBUFS. */
int must_check outside_adopt(struct inet_sock *i, int fd);
/* The connection ends, and i is an ordinary sock again. */
void outside_drop(struct inet_sock *i);

/* ---- inet.c ---- */
struct inet_sock *inet_new(struct task *t, int family, int type, int protocol);
void inet_free(struct inet_sock *i);
/* An address argument as i sees it: -EINVAL, -EAFNOSUPPORT; -ENETUNREACH for IPv4 on a socket for
 * IPv6 only. */
int inet_addr_in(const struct inet_sock *i, const struct sockname *n, struct ipaddr *ret_a,
		 uint16_t *ret_port);
/* The same the other way. */
void inet_addr_out(const struct inet_sock *i, const struct ipaddr *a, uint16_t port,
		   struct sockname *out);
int inet_bind(struct sock *s, struct task *t, const struct sockname *n);
int inet_name(struct sock *s, int which, struct sockname *out);
/* MSG_ERRQUEUE: the oldest message of the error queue. -EAGAIN, never waits. */
int64_t inet_recv_error(struct inet_sock *i, struct uio *u, struct sockmsg *m);
/* An address that t chose: replaces "any" and asks hooks. */
int inet_dest(const struct inet_sock *i, struct task *t, enum destination_use use,
	      struct ipaddr *dst, uint16_t port);
/* i's own address for a destination: -ENETUNREACH, -EINVAL. */
int inet_route(const struct inet_sock *i, const struct ipaddr *dst, struct ipaddr *ret_src);

/* ---- ports (inet_port.c) ---- */
/* Gives i a port (0: a free one) for its address: -EADDRINUSE. */
int port_bind(struct inet_sock *i, uint16_t port);
void port_unbind(struct inet_sock *i);
/* A connection's other end shares the port of its listener. */
void port_share(struct inet_sock *i, uint16_t port);
/* Is i the only listener where it wants to be? -EADDRINUSE. */
int port_listen(struct inet_sock *i);
void port_unlisten(struct inet_sock *i);
/* Who listens at a, who gets a datagram from src to dst; borrowed, NULL: nobody. */
struct inet_sock *port_listener(const struct ipaddr *a, uint16_t port, uint32_t salt);
struct inet_sock *port_udp(const struct ipaddr *dst, uint16_t dport, const struct ipaddr *src,
			   uint16_t sport);
/* All who get a datagram to many, at most max: how many there are in out, borrowed. */
uint32_t port_udp_all(const struct ipaddr *dst, uint16_t dport, const struct ipaddr *src,
		      uint16_t sport, struct inet_sock **out, uint32_t max);
/* Is there such a connection? */
bool port_connected(const struct ipaddr *l, uint16_t lport, const struct ipaddr *r, uint16_t rport);
/* The port of i stays taken for a while. */
void port_time_wait(const struct inet_sock *i);

/* ---- multicast (mcast.c) ---- */
/* Options about groups: 0, -errno, 1: it is none of them. */
int mcast_setopt(struct inet_sock *i, int level, int opt, const void *v, uint32_t len);
bool mcast_is_joined(const struct ipaddr *g); /* by anybody */
bool mcast_wants(const struct inet_sock *i, const struct ipaddr *g);
void mcast_fini(struct inet_sock *i);

/* Puts a datagram into i's queue, which drops it when it is full (udp.c). Takes pk. */
void udp_enqueue(struct inet_sock *to, struct packet *pk);

/* ---- datagrams to the outside (udp_out.c) ---- */
/* Sends pk, taken, for t (NULL: nobody in particular): 0; -EAGAIN: i's queue is woken when there is
 * room; -errno. */
int udp_send_out(struct inet_sock *i, struct task *t, struct packet *pk, const struct ipaddr *dst,
		 uint16_t port);
/* Does the way to i's peer take no more? */
bool udp_flow_is_full(const struct inet_sock *i);
void udp_flows_drop(struct inet_sock *i);

/* ---- the resolver (resolver.c) ---- */
#define RESOLVER_PORT 53
/* A datagram of i's for the resolver, taken. */
void resolver_ask(struct inet_sock *i, struct task *t, struct packet *pk, const struct ipaddr *to);
void resolver_forget(struct inet_sock *i);

/* UDP_CORK was taken off: what waited goes (udp.c). */
void udp_uncork(struct inet_sock *i);

/* ---- options (inet_opt.c) ---- */
void inet_opts_init(struct inet_sock *i);
int inet_setopt(struct sock *s, struct task *t, int level, int opt, const void *v, uint32_t len);
int inet_getopt(struct sock *s, int level, int opt, struct optval *out);
bool inet_opt_on(const struct inet_sock *i, int level, int opt);
/* Its value; is it another one than at first? */
bool inet_opt_changed(const struct inet_sock *i, int level, int opt, int32_t *ret_);

#endif
