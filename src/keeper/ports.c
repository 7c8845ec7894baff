/* Ports of the host that lead into the cell (--publish), and streams that clients hand in
 * (KEEP_DIAL).
 *
 * The host listens before the cell starts, so that a port which is in use is an error at once. A
 * connection is accepted here and its descriptor goes to the kernel (CTL_INBOUND), which gives it
 * to whoever listens in the cell; bytes do not pass through us. We keep a copy until the kernel has
 * answered: the last one to close a connection that is refused has to reset it. While ASKED_MAX of
 * them are unanswered, further ones wait in the host's queue.
 *
 * Datagrams do pass: the host's socket stays here, and the kernel has one end of a pair for each
 * port. A cell can answer only who has sent to the port.
 *
 * The kernel is told the address of the peer, except the host's own addresses: the cell learns none
 * of those by this. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "keeper/journal.h"
#include "keeper/keeper.h"
#include "keeper/portsocket.h"
#include "spec/ports.h"
#include "wire/memfd.h"

#define ASKED_MAX 256
#define PEERS_MAX 256
#define DATAGRAMS 32 /* in a row, likewise */
#define DATAGRAM_MAX 65535u
#define ACCEPTS 16 /* in a row, before others have their turn */
#define EARLY_NS (30 * NSEC_PER_SEC) /* for the command of a woken cell, until it listens */
#define EARLY_STEP_NS 10000000

struct peer {
	union address real;
	socklen_t len; /* 0: none */
	struct ctl_peer shown; /* what the cell knows it by */
};

struct port {
	struct source src; /* first */
	struct ip addr;
	uint16_t host, cell;
	bool udp;
	/* of UDP: the stream of datagrams to and from the kernel; fd -1: none came yet */
	struct source pair;
	struct peer *peers; /* PEERS_MAX that may be answered, last is the youngest */
	unsigned last;
};

static struct port *ports;
static unsigned nports, asked;
static int64_t inbound_at; /* the last connection, nanoseconds since 1970; 0: none */
static int spare = -1; /* a descriptor to give up when there are no more */

/* ---- addresses ---- */

/* As the cell is to see it: 0 for a peer on this host. */
static void peer_fill(int fd, const union address *from, struct ctl_peer *ret)
{
	union address own = { 0 };
	socklen_t len = sizeof(own);
	const char *special;
	struct ip peer, mine;

	*ret = (struct ctl_peer){ .port = address_read(from, &peer) };
	special = ip_special(&peer, NULL);
	if (special && !strcmp(special, "loopback"))
		return;
	if (getsockname(fd, &own.sa, &len) == 0) {
		address_read(&own, &mine);
		if (!memcmp(&mine, &peer, sizeof(peer)))
			return;
	}
	memcpy(ret->addr, peer.b, sizeof(ret->addr));
}

/* ---- connections ---- */

static void accept_allow(bool on)
{
	for (unsigned i = 0; i < nports; i++)
		if (!ports[i].udp)
			source_change(&ports[i].src, on ? EPOLLIN : 0);
}

/* ---- connections that came before their program ---- */

/* Somebody's connection woke the cell, whose command has only just been started: one that is
 * refused is offered again until the command listens, or had its time for that. */
struct early {
	struct list link;
	int fd;
	bool asked; /* the kernel has it */
	uint16_t port;
	struct ctl_peer peer;
};

static struct list earlies = LIST_INIT(earlies);
static struct source early_timer = { .fd = -1 };
static bool awaited; /* its command was started by a wake, and may not listen yet */

static bool is_early(void)
{
	awaited &= clock_mono() < keeper.began + EARLY_NS;
	return awaited;
}

static struct early *early_find(int fd)
{
	struct early *x;

	list_for_each(x, &earlies, link)
		if (x->fd == fd)
			return x;
	return NULL;
}

static void early_add(int fd, const struct ctl_msg *m)
{
	struct early *x = is_early() ? calloc(1, sizeof(*x)) : NULL;

	if (!x)
		return;
	*x = (struct early){ .fd = fd, .asked = true, .port = (uint16_t)m->a, .peer = m->peer };
	list_init(&x->link);
	list_append(&earlies, &x->link);
}

static void early_free(struct early *x)
{
	list_remove(&x->link);
	free(x);
}

static void early_offer(struct early *x)
{
	struct ctl_msg m = { .type = CTL_INBOUND, .a = x->port, .peer = x->peer };
	const struct keep_msg in = { .type = KEEP_DIAL };
	int copy = fcntl(x->fd, F_DUPFD_CLOEXEC, 3);

	x->asked = true;
	if (copy < 0 || !pass_on_kept(NULL, &in, &m, &copy, 1, x->fd)) {
		int fd = x->fd;

		early_free(x);
		inbound_done(fd, -ENOBUFS);
	}
}

static void early_ready(struct source *s, uint32_t events)
{
	struct early *x, *tmp;
	uint64_t n;

	(void)events;
	(void)!read(s->fd, &n, sizeof(n));
	list_for_each_safe(x, tmp, &earlies, link)
		if (!x->asked)
			early_offer(x);
	if (list_is_empty(&earlies))
		source_close(s);
}

/* False: it is not to wait. */
static bool early_wait(struct early *x)
{
	const struct itimerspec often = { { 0, EARLY_STEP_NS }, { 0, EARLY_STEP_NS } };
	int fd;

	if (!is_early())
		return false;
	x->asked = false;
	if (early_timer.fd >= 0)
		return true;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (fd < 0)
		return false;
	if (timerfd_settime(fd, 0, &often, NULL) == 0 &&
	    source_add(&early_timer, fd, EPOLLIN, early_ready) == 0)
		return true;
	close(fd);
	early_timer.fd = -1;
	return false;
}

/* ---- their end ---- */

void inbound_done(int fd, int err)
{
	const struct linger reset = { .l_onoff = 1 };
	struct early *early = early_find(fd);

	if (early && err == -ECONNREFUSED && early_wait(early))
		return;
	if (early)
		early_free(early);
	if (err)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	close(fd);
	if (asked-- == ASKED_MAX)
		accept_allow(true);
}

static void inbound_record(const union address *from, uint16_t port)
{
	bool v6 = from->sa.sa_family == AF_INET6;
	char ip[INET6_ADDRSTRLEN] = "", peer[INET6_ADDRSTRLEN + 16];
	struct journal_INBOUND r = { .port = port };

	if (!journal_is_on())
		return;
	(void)!inet_ntop(from->sa.sa_family,
			 v6 ? (const void *)&from->in6.sin6_addr : &from->in.sin_addr, ip,
			 sizeof(ip));
	snprintf(peer, sizeof(peer), v6 ? "[%s]:%u" : "%s:%u", ip,
		 ntohs(v6 ? from->in6.sin6_port : from->in.sin_port));
	r.peer = jtext_of(peer);
	journal_record(J_INBOUND, &r, 0);
}

/* Takes fd. */
static void hand_in(struct port *p, int fd, const union address *from)
{
	struct ctl_msg m = { .type = CTL_INBOUND, .a = p->cell };
	const struct keep_msg in = { .type = KEEP_DIAL };
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), on = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	peer_fill(fd, from, &m.peer);
	asked++;
	if (copy < 0) {
		inbound_done(fd, -EMFILE);
		return;
	}
	inbound_record(from, p->cell);
	inbound_at = clock_real();
	early_add(copy, &m);
	if (!pass_on_kept(NULL, &in, &m, &fd, 1, copy))
		inbound_done(copy, -ENOBUFS);
	else if (asked == ASKED_MAX)
		accept_allow(false);
}

/* There is no descriptor for the next connection: it is taken and closed, or the loop would not
 * rest.
 */
static void accept_away(struct port *p)
{
	if (spare >= 0)
		close(spare);
	spare = accept4(p->src.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (spare >= 0)
		close(spare);
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void tcp_ready(struct source *s, uint32_t events)
{
	struct port *p = (struct port *)s;

	(void)events;
	for (int i = 0; i < ACCEPTS && asked < ASKED_MAX && s->fd >= 0; i++) {
		union address from = { 0 };
		socklen_t len = sizeof(from);
		int fd = accept4(s->fd, &from.sa, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			accept_away(p);
		if (fd < 0)
			return;
		hand_in(p, fd, &from);
	}
}

/* ---- datagrams ---- */

static char packet[sizeof(struct ctl_peer) + DATAGRAM_MAX];

/* From now on this peer can be answered; the oldest one makes room. */
static void peer_note(struct port *p, const union address *from, socklen_t len,
		      struct ctl_peer *ret)
{
	struct peer *e;

	peer_fill(p->src.fd, from, ret);
	for (unsigned i = 0; i < PEERS_MAX; i++)
		if (p->peers[i].len == len && !memcmp(&p->peers[i].real, from, len))
			return;
	p->last = (p->last + 1) % PEERS_MAX;
	e = &p->peers[p->last];
	*e = (struct peer){ .real = *from, .len = len, .shown = *ret };
}

/* The youngest, if the host's own addresses hide several behind one. */
static const struct peer *peer_find(const struct port *p, const struct ctl_peer *shown)
{
	for (unsigned i = 0; i < PEERS_MAX; i++) {
		const struct peer *e = &p->peers[(p->last + PEERS_MAX - i) % PEERS_MAX];

		if (e->len && e->shown.port == shown->port &&
		    !memcmp(e->shown.addr, shown->addr, sizeof(shown->addr)))
			return e;
	}
	return NULL;
}

/* Answers of the cell: to those only who have asked. */
static void answers_ready(struct source *s, uint32_t events)
{
	struct port *p = container_of(s, struct port, pair);

	(void)events;
	for (int i = 0; i < DATAGRAMS; i++) {
		ssize_t n = recv(s->fd, packet, sizeof(packet), MSG_DONTWAIT);
		const struct peer *to;
		struct ctl_peer shown;

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			source_close(s);
			return;
		}
		memcpy(&shown, packet, sizeof(shown));
		to = n >= (ssize_t)sizeof(shown) ? peer_find(p, &shown) : NULL;
		if (to)
			(void)!sendto(p->src.fd, packet + sizeof(shown), (size_t)n - sizeof(shown),
				      MSG_DONTWAIT | MSG_NOSIGNAL, &to->real.sa, to->len);
	}
}

static bool pair_open(struct port *p)
{
	struct ctl_msg m = { .type = CTL_INBOUND, .a = p->cell, .flags = CTL_IN_UDP };
	const struct keep_msg in = { .type = KEEP_DIAL };
	int pair[2];

	if (!p->peers)
		p->peers = calloc(PEERS_MAX, sizeof(*p->peers));
	if (!p->peers ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return false;
	if (source_add(&p->pair, pair[0], EPOLLIN, answers_ready) < 0) {
		close(pair[0]);
		close(pair[1]);
		p->pair.fd = -1;
		return false;
	}
	if (pass_on(NULL, &in, &m, &pair[1], 1))
		return true;
	source_close(&p->pair);
	return false;
}

static void udp_ready(struct source *s, uint32_t events)
{
	struct port *p = (struct port *)s;

	(void)events;
	for (int i = 0; i < DATAGRAMS; i++) {
		struct ctl_peer shown = { 0 };
		union address from = { 0 };
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(s->fd, packet + sizeof(shown), DATAGRAM_MAX, MSG_DONTWAIT,
				     &from.sa, &len);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 || (p->pair.fd < 0 && !pair_open(p)))
			continue; /* an error of an answer, or one that is lost */
		peer_note(p, &from, len, &shown);
		memcpy(packet, &shown, sizeof(shown));
		(void)!send(p->pair.fd, packet, sizeof(shown) + (size_t)n,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

/* ---- listening ---- */

/* Of a cell that slept: the sockets at which vivd listened meanwhile, with all who have come since,
 * in the order of its ports. All were sent before we were started. */
static unsigned given_take(int given[PORTS_MAX])
{
	struct keep_msg m;
	int fds[KEEP_MAX_FDS];
	unsigned n = 0, nfds;

	do {
		if (keep_recv(keeper.ready, &m, fds, &nfds, KEEP_NOWAIT) < 0)
			break;
		for (unsigned i = 0; i < nfds; i++)
			if (n < PORTS_MAX)
				given[n++] = fds[i];
			else
				close(fds[i]);
	} while (m.type == KEEP_PORTS && m.a);
	return n;
}

/* given: -1, or a socket for it, which is taken. */
static int port_open(struct port *p, int given, struct err *e)
{
	if (given >= 0 && port_socket_fits(given, &p->addr, &p->host, p->udp)) {
		p->src.fd = given;
		return 0;
	}
	if (given >= 0)
		close(given);
	p->src.fd = port_socket_open(&p->addr, &p->host, p->udp, e);
	return p->src.fd < 0 ? -1 : 0;
}

void ports_close(void)
{
	for (unsigned i = 0; i < nports; i++) {
		source_close(&ports[i].src);
		source_close(&ports[i].pair);
		free(ports[i].peers);
	}
	free(ports);
	ports = NULL;
	nports = 0;
	if (spare >= 0)
		close(spare);
	spare = -1;
}

int ports_open(const struct run_options *o, struct err *e)
{
	int given[PORTS_MAX];
	unsigned ngiven = o->woken ? given_take(given) : 0, at = 0;
	struct published r;

	if (!o->ports || !o->ports[0] || o->visit) {
		while (at < ngiven)
			close(given[at++]);
		return 0;
	}
	awaited = o->woken && !o->idle;
	ports = calloc(PORTS_MAX, sizeof(*ports));
	spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!ports || spare < 0)
		return err_set(e, ERR_FAILED, "out of memory");
	for (char **text = o->ports; *text; text++) {
		if (ports_parse("--publish", *text, &r, e) < 0)
			goto out_close;
		for (unsigned i = 0; i < r.count && nports < PORTS_MAX; i++) {
			struct port *p = &ports[nports++];

			*p = (struct port){ .addr = r.addr,
					    .host = (uint16_t)(r.host ? r.host + i : 0),
					    .cell = (uint16_t)(r.cell + i),
					    .udp = r.udp,
					    .pair.fd = -1 };
			if (port_open(p, at < ngiven ? given[at] : -1, e) < 0) {
				at++;
				goto out_close;
			}
			at++;
		}
	}
	while (at < ngiven)
		close(given[at++]);
	return 0;
out_close:
	while (at < ngiven)
		close(given[at++]);
	ports_close();
	return -1;
}

int ports_follow(struct err *e)
{
	for (unsigned i = 0; i < nports; i++)
		if (source_add(&ports[i].src, ports[i].src.fd, EPOLLIN,
			       ports[i].udp ? udp_ready : tcp_ready) < 0)
			return err_set(e, ERR_FAILED, "cannot watch the cell's ports");
	return 0;
}

int64_t ports_used(void)
{
	return inbound_at;
}

void ports_leave(struct client *c, uint32_t id)
{
	int fds[KEEP_MAX_FDS];
	unsigned n = 0;

	for (unsigned i = 0; i < nports; i++) {
		struct keep_msg m = { .type = KEEP_PORTS };

		fds[n++] = fcntl(ports[i].src.fd, F_DUPFD_CLOEXEC, 3);
		/* Those who come from now on are for who has it then. */
		source_close(&ports[i].src);
		if (fds[n - 1] < 0) { /* it, and those after it, are opened again */
			n--;
			break;
		}
		if (n < KEEP_MAX_FDS && i + 1 < nports)
			continue;
		client_send(c, id, &m, fds, n);
		n = 0;
	}
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

bool ports_are_open(void)
{
	return nports > 0;
}

/* ---- requests ---- */

void dial_request(struct client *c, const struct keep_msg *in, const int *fds, unsigned nfds)
{
	struct ctl_msg m = { .type = CTL_INBOUND, .a = in->a, .peer.port = 1 };

	m.peer.port = (uint16_t)(32768 + keeper.last_request % 28232);
	inbound_at = clock_real();
	if (nfds == 1 && in->a > 0 && in->a <= UINT16_MAX) {
		pass_on(c, in, &m, fds, 1);
		return;
	}
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	client_fail(c, in->id, ERR_USAGE, 0, "the request for a connection is damaged");
}

void ports_request(struct client *c, const struct keep_msg *in)
{
	struct keep_msg m = { .type = KEEP_PORTS };
	struct buf text = { 0 };
	int fd;

	buf_add_text(&text, "[");
	for (unsigned i = 0; i < nports; i++) {
		const struct port *p = &ports[i];

		buf_add_text(&text, i ? ",{" : "{");
		json_member_text(&text, "address", ip_text(&p->addr).str);
		json_member_number(&text, "host_port", p->host);
		json_member_number(&text, "cell_port", p->cell);
		json_member_text(&text, "protocol", p->udp ? "udp" : "tcp");
		buf_add_text(&text, "}");
	}
	buf_add_text(&text, "]");
	fd = memfd_sealed("ports", text.p, text.len);
	buf_free(&text);
	if (fd < 0)
		client_fail(c, in->id, ERR_FAILED, 0, "out of memory");
	else
		client_send(c, in->id, &m, &fd, 1);
}
