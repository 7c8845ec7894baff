/* Connections of the cell to the outside.
 *
 * What the kernel gives is an address. It stands for a name (names.c), which is looked up again and
 * checked again now, or it is meant as it is, which needs a rule with that address. The policy
 * decides before anything is sent. A connection that may be of any protocol is handed over as soon
 * as it is made; one that must be TLS for its name is held until the client's first message has
 * shown that (hello.c), and that message is passed on by the gate before it lets go. One with rules
 * about requests, and plain HTTP, are opened (open.h).
 *
 * What was handed over is remembered until the kernel has closed it: when the policy changes and
 * denies it, the kernel is told to end it. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/ca.h"
#include "gate/control.h"
#include "gate/dns.h"
#include "gate/gate.h"
#include "gate/hello.h"
#include "gate/record.h"

#define TRY_MS 5000 /* for an address when there are others */
#define SLOTS 4096
#define FIRST_ALL_MAX (24u << 20) /* bytes of what all held clients have said */

enum conn_state {
	CONN_ASKED, /* the operator is asked about it */
	CONN_LOOKUP, /* addresses of its name are asked for */
	CONN_CONNECTING,
	CONN_HELD, /* the client has to speak first */
	CONN_PASSING, /* what it said is being sent */
	CONN_PASSED, /* the kernel has it */
};

struct conn {
	struct list link; /* by its id */
	uint32_t id;
	enum conn_state state;
	bool check; /* it must be TLS for its name, or HTTP */
	bool open; /* the gate has to look at requests */
	bool any; /* it may be of any protocol */
	bool approved; /* the operator has allowed it: rules that say ask allow it */
	struct ask ask;
	bool audit; /* it is let through all the same, and what it is gets recorded */
	bool tls_any; /* it is TLS, but not for its name */
	bool made; /* and recorded */
	int32_t pid; /* of the process that asked */
	char name[DNS_NAME_MAX]; /* "": a plain address */
	char program[GATE_PROGRAM_MAX];
	uint16_t port;
	struct lookup *lookup;
	struct ip asked; /* the address that the program used */
	struct ip addrs[DNS_ADDRS_MAX];
	unsigned n, at;
	struct watch w; /* its socket */
	struct alarm late;
	int err; /* of the address that was tried last */
	uint8_t *first; /* what the client said */
	size_t nfirst, first_room, sent;
};

static struct list slots[SLOTS];
static unsigned count;
static size_t first_all;

static struct conn *conn_find(uint32_t id)
{
	struct list *head = &slots[id % SLOTS];
	struct conn *c;

	if (!head->next)
		list_init(head);
	list_for_each(c, head, link)
		if (c->id == id)
			return c;
	return NULL;
}

static void first_drop(struct conn *c)
{
	first_all -= c->first_room;
	c->first_room = 0;
	free(c->first);
	c->first = NULL;
}

static void conn_free(struct conn *c)
{
	list_remove(&c->link);
	count--;
	control_withdraw(&c->ask);
	if (c->lookup)
		lookup_cancel(c->lookup);
	alarm_clear(&c->late);
	watch_close(&c->w);
	first_drop(c);
	free(c);
}

/* ---- records ---- */

static void conn_record(const struct conn *c, const char *decision, const struct rule *rule,
			const char *why)
{
	record_connect(&(struct record_connection){ .number = c->id,
						    .pid = c->pid,
						    .program = c->program,
						    .name = c->name,
						    .addr = c->n ? &c->addrs[MIN(c->at, c->n - 1)]
							    : c->name[0] ? NULL
									 : &c->asked,
						    .port = c->port },
		       decision, rule, why);
}

bool connect_cancel(uint32_t id)
{
	struct conn *c = conn_find(id);

	if (c && !c->made)
		conn_record(c, "failed", NULL, "nobody waits for it any more");
	if (c)
		conn_free(c);
	return c || udp_cancel(id);
}

void connect_end(void)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct conn *c;

		if (!slots[i].next)
			continue;
		list_for_each(c, &slots[i], link)
			if (!c->made)
				conn_record(c, "failed", NULL, "the cell has ended");
	}
}

static struct net_question conn_question(const struct conn *c, unsigned protocol)
{
	return (struct net_question){ .name = c->name[0] ? c->name : NULL,
				      .addr = c->name[0] ? NULL : &c->asked,
				      .port = c->port,
				      .program = c->program,
				      .protocol = protocol };
}

/* Its end, which is recorded and told to the cell. denied: by the policy; err is EACCES then. rule
 * may be NULL. */
static void conn_refuse(struct conn *c, bool denied, int err, const struct rule *rule,
			const char *fmt, ...) printf_like(5, 6);
static void conn_refuse(struct conn *c, bool denied, int err, const struct rule *rule,
			const char *fmt, ...)
{
	struct net_question q = conn_question(c, c->check ? NET_WEB : NET_TCP);
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!c->made)
		conn_record(c, denied ? "deny" : "failed", rule, text);
	else if (err == EACCES)
		record_denial(c->pid, &q, rule, text);
	if (denied)
		gate_deny(c->id, err, &q, rule, "%s", text);
	else
		channel_fail(c->id, err, "%s", text);
	conn_free(c);
}
#define conn_fail(c, err, ...) conn_refuse(c, false, err, NULL, __VA_ARGS__)
#define conn_deny(c, rule, ...) conn_refuse(c, true, EACCES, rule, __VA_ARGS__)

/* ---- handing over ---- */

static bool conn_tell(struct conn *c, enum gate_type type)
{
	struct gate_msg m = { .type = type, .id = c->id };

	return channel_send(&m, type == GATE_OPEN ? c->w.fd : -1);
}

static void conn_release(struct conn *c)
{
	struct net_question q = conn_question(c, c->check ? NET_WEB : NET_TCP);

	const struct rule *rule = policy_net(&settings.policy, &q).rule;

	(void)conn_tell(c, GATE_OPEN);
	/* An address that a rule had to list is part of it. */
	if (ip_special(&c->addrs[c->at], NULL))
		q.addr = &c->addrs[c->at];
	if (rule)
		gate_used(&q, rule, c->tls_any);
	c->state = CONN_PASSED;
	watch_close(&c->w);
	first_drop(c);
}

/* #syscalls: sendto */
static void first_send(struct conn *c)
{
	while (c->sent < c->nfirst) {
		ssize_t n = send(c->w.fd, c->first + c->sent, c->nfirst - c->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			watch_set(&c->w, EPOLLOUT);
			return;
		}
		if (n < 0) {
			conn_fail(c, errno, "the connection broke");
			return;
		}
		c->sent += (size_t)n;
	}
	conn_release(c);
}

static void conn_pass(struct conn *c)
{
	c->state = CONN_PASSING;
	first_send(c);
}

/* ---- opening ---- */

static const char *conn_label(const struct conn *c)
{
	static char text[64];

	if (c->name[0])
		return c->name;
	snprintf(text, sizeof(text), "%s", ip_text(&c->addrs[0]).str);
	return text;
}

/* The kernel gets one end of a pair, which begins with what it has sent already; the gate speaks
 * for the server at the other. #syscalls: socketpair fcntl sendto */
static void conn_open(struct conn *c, bool tls, bool http2)
{
	struct opened_options x = { .name = c->name[0] ? c->name : NULL,
				    .addr = &c->addrs[c->at],
				    .port = c->port,
				    .program = c->program,
				    .number = c->id,
				    .pid = c->pid,
				    .tls = tls,
				    .http2 = http2,
				    .approved = c->approved };
	struct gate_msg m = { .type = GATE_OPEN, .id = c->id };
	int pair[2];

	if (tls && !ca_is_loaded()) {
		conn_fail(c, EACCES,
			  "%s: the cell has no CA, as its policy had no rules about requests when "
			  "it started",
			  conn_label(c));
		return;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
		conn_fail(c, ENOBUFS, "%s: no descriptors are left", conn_label(c));
		return;
	}
	x.client = pair[0];
	x.server = fcntl(c->w.fd, F_DUPFD_CLOEXEC, 0);
	if (x.server < 0 ||
	    send(pair[1], c->first, c->nfirst, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)c->nfirst) {
		close(pair[0]);
		if (x.server >= 0)
			close(x.server);
		conn_fail(c, ENOBUFS, "%s: no descriptors are left", conn_label(c));
	} else if (!opened_new(&x)) {
		conn_fail(c, ENOBUFS, "too many opened connections");
	} else {
		(void)channel_send(&m, pair[1]);
		conn_free(c);
	}
	close(pair[1]);
}

/* ---- what the client says first ---- */

/* Under audit nothing is refused: what it is decides which rule it would need. */
static void first_audit(struct conn *c, const struct hello *h)
{
	bool tls = h->kind == HELLO_TLS;

	if (h->kind == HELLO_MORE && c->nfirst < GATE_FIRST_MAX) {
		(void)conn_tell(c, GATE_HELD);
		return;
	}
	if (h->kind == HELLO_HTTP && (c->nfirst < 4 || memcmp(c->first, "PRI ", 4) != 0)) {
		conn_open(c, false, false);
		return;
	}
	c->tls_any = tls && (h->wrong || h->encrypted || strcmp(h->name, c->name) != 0);
	c->check = tls;
	conn_pass(c);
}

static void first_check(struct conn *c)
{
	struct hello h;

	hello_read(c->first, c->nfirst, &h);
	if (c->audit && !c->open) {
		first_audit(c, &h);
		return;
	}
	switch (h.kind) {
	case HELLO_MORE:
		if (c->nfirst >= GATE_FIRST_MAX)
			conn_deny(c, NULL, "%s: the first message is too long", c->name);
		else
			(void)conn_tell(c, GATE_HELD);
		return;
	case HELLO_HTTP:
		if (c->nfirst >= 4 && !memcmp(c->first, "PRI ", 4))
			conn_deny(c, NULL, "%s:%u: HTTP/2 without TLS needs a rule that says tcp",
				  conn_label(c), c->port);
		else
			conn_open(c, false, false);
		return;
	case HELLO_OTHER:
		if (c->any) {
			conn_pass(c);
			return;
		}
		conn_deny(c, NULL, "%s:%u: this is not TLS; a rule for other protocols says tcp",
			  conn_label(c), c->port);
		return;
	case HELLO_TLS:
		break;
	}
	if (h.wrong)
		conn_deny(c, NULL, "%s: the TLS client hello is refused: %s", c->name, h.wrong);
	else if (h.encrypted)
		conn_deny(c, NULL, "%s: the TLS client hello is encrypted", c->name);
	else if (c->name[0] && !h.name[0])
		conn_deny(c, NULL, "%s: TLS without a server name", c->name);
	else if (strcmp(h.name, c->name))
		conn_deny(c, NULL, "TLS for %s on a connection to %s", h.name, c->name);
	else if (c->open)
		conn_open(c, true, h.http2);
	else
		conn_pass(c);
}

/* Most say a few hundred bytes; some who say a lot must not take the memory of all. */
static bool first_grow(struct conn *c, size_t n)
{
	size_t room = c->first_room ? c->first_room : 1024;
	uint8_t *more;

	while (room < c->nfirst + n)
		room *= 2;
	if (room == c->first_room)
		return true;
	if (room - c->first_room > FIRST_ALL_MAX - first_all || !(more = realloc(c->first, room)))
		return false;
	first_all += room - c->first_room;
	c->first_room = room;
	c->first = more;
	return true;
}

void connect_first(const struct gate_msg *m)
{
	struct conn *c = conn_find(m->id);

	/* It may have failed since. */
	if (!c || c->state != CONN_HELD || !m->nbytes)
		return;
	if (m->nbytes > GATE_FIRST_MAX - c->nfirst) {
		conn_deny(c, NULL, "%s: the first message is too long", c->name);
		return;
	}
	if (!first_grow(c, m->nbytes)) {
		conn_fail(c, ENOBUFS, "%s: too many first messages at once", c->name);
		return;
	}
	memcpy(c->first + c->nfirst, m->bytes, m->nbytes);
	c->nfirst += m->nbytes;
	first_check(c);
}

/* ---- connecting ---- */

static void conn_try(struct conn *c);

/* The server has it: it is recorded before the program can use it. */
static void conn_made(struct conn *c)
{
	struct net_question q = conn_question(c, c->open || !c->any ? NET_WEB : NET_TCP);
	struct decision d = policy_net(&settings.policy, &q);
	const struct rule *rule = d.opened ? NULL : d.rule;

	conn_record(c, record_verdict(VERDICT_ALLOW, rule), rule, "its requests decide");
	c->made = true;
}

static void conn_done(struct conn *c)
{
	alarm_clear(&c->late);
	watch_set(&c->w, 0);
	conn_made(c);
	if (!c->check) {
		conn_release(c);
		return;
	}
	c->state = CONN_HELD;
	/* The other side may close it before anything is said. */
	watch_set(&c->w, EPOLLRDHUP);
	(void)conn_tell(c, GATE_HELD);
}

static void conn_next(struct conn *c, int err)
{
	c->err = err;
	alarm_clear(&c->late);
	watch_close(&c->w);
	c->at++;
	conn_try(c);
}

/* #syscalls: connect */
int address_connect(int fd, const struct ip *a, uint16_t port)
{
	union {
		struct sockaddr sa;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
	} to = { 0 };
	bool v4 = ip_is_v4(a);

	if (v4) {
		to.four.sin_family = AF_INET;
		to.four.sin_port = htons(port);
		memcpy(&to.four.sin_addr, a->b + 12, 4);
	} else {
		to.six.sin6_family = AF_INET6;
		to.six.sin6_port = htons(port);
		memcpy(&to.six.sin6_addr, a->b, 16);
	}
	return connect(fd, &to.sa, v4 ? sizeof(to.four) : sizeof(to.six)) < 0 ? -errno : 0;
}

/* #syscalls: getsockopt
 * #sockopts: SOL_SOCKET.SO_ERROR */
static void conn_ready(struct watch *w, uint32_t events)
{
	struct conn *c = container_of(w, struct conn, w);
	socklen_t n = sizeof(int);
	int r = 0;

	(void)events;
	if (c->state == CONN_PASSING) {
		first_send(c);
		return;
	}
	if (c->state == CONN_HELD) {
		(void)getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &r, &n);
		conn_fail(c, r, "%s has closed the connection", conn_label(c));
		return;
	}
	/* Once more: it says what became of the connection, and makes it one for good. A socket
	 * that only has been connecting can be led elsewhere when the connection is over, by
	 * whoever has it then, with TCP fast open. */
	r = address_connect(w->fd, &c->addrs[c->at], c->port);
	if (r == 0 || r == -EISCONN)
		conn_done(c);
	else if (r != -EALREADY && r != -EINPROGRESS)
		conn_next(c, -r);
}

static void conn_late(struct alarm *a)
{
	conn_next(container_of(a, struct conn, late), ETIMEDOUT);
}

/* #syscalls: socket setsockopt
 * #sockopts: IPPROTO_TCP.TCP_NODELAY SOL_SOCKET.SO_KEEPALIVE */
int address_socket(const struct ip *a)
{
	int on = 1, fd = socket(ip_is_v4(a) ? AF_INET : AF_INET6,
				SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	/* For connections that the gate opens; of others the kernel says what the guest wants. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	return fd;
}

static int socket_begin(struct conn *c, const struct ip *a)
{
	int fd = address_socket(a);

	if (fd < 0)
		return fd;
	c->w = (struct watch){ .fd = fd, .ready = conn_ready };
	return address_connect(fd, a, c->port);
}

static void conn_try(struct conn *c)
{
	for (; c->at < c->n; c->at++) {
		int r = socket_begin(c, &c->addrs[c->at]);

		if (r == 0 || r == -EINPROGRESS) {
			c->state = CONN_CONNECTING;
			watch_set(&c->w, EPOLLOUT);
			if (c->at + 1 < c->n)
				alarm_set(&c->late, TRY_MS);
			return;
		}
		watch_close(&c->w);
		c->err = -r;
	}
	conn_fail(c, c->err, "%s: %s", c->name[0] ? c->name : ip_text(&c->addrs[0]).str,
		  strerror(c->err));
}

/* Those of the family that the program chose, the very address first; others only if there are
 * none.
 */
static void addrs_choose(struct conn *c)
{
	bool v4 = ip_is_v4(&c->asked);
	unsigned n = 0;

	for (unsigned i = 0; i < c->n; i++) {
		struct ip a = c->addrs[i];

		if (ip_is_v4(&a) != v4)
			continue;
		c->addrs[i] = c->addrs[n];
		c->addrs[n++] = a;
		if (!memcmp(&a, &c->asked, sizeof(a))) {
			c->addrs[n - 1] = c->addrs[0];
			c->addrs[0] = a;
		}
	}
	if (n)
		c->n = n;
}

static void conn_found(void *arg, const struct ip *addrs, unsigned n, uint32_t ttl, bool exists,
		       const char *why)
{
	struct conn *c = arg;

	(void)ttl;
	c->lookup = NULL;
	for (unsigned i = 0; i < n; i++)
		if (policy_address(&settings.policy, &addrs[i], c->port,
				   c->check ? NET_WEB : NET_TCP)
			    .verdict == VERDICT_ALLOW)
			c->addrs[c->n++] = addrs[i];
	if (why)
		conn_fail(c, EHOSTUNREACH, "%s: %s", c->name, why);
	else if (!n)
		conn_fail(c, EHOSTUNREACH, "%s %s", c->name,
			  exists ? "has no address any more" : "does not exist any more");
	else if (!c->n)
		conn_deny(c, NULL, "%s is at %s, which is %s: a rule must list that address",
			  c->name, ip_text(&addrs[0]).str,
			  ip_special(&addrs[0], NULL) ? ip_special(&addrs[0], NULL) : "denied");
	else {
		addrs_choose(c);
		conn_try(c);
	}
}

/* ---- deciding ---- */

static bool allows(const struct conn *c, const struct decision *d)
{
	return d->verdict == VERDICT_ALLOW || (d->verdict == VERDICT_ASK && c->approved);
}

/* What the policy says: true, with check set if it must be looked at. */
static bool conn_decide(struct conn *c, const struct rule **ret_rule)
{
	struct net_question q = conn_question(c, NET_TCP);
	struct decision d = policy_net(&settings.policy, &q);
	struct secret_site site;

	const struct decision raw = d;

	c->audit = false;
	c->any = allows(c, &d) && !d.opened;
	secret_site_init(&site, settings.secrets, c->name, c->port, true);
	c->open = secret_site_guards(&site);
	secret_site_fini(&site);
	q.protocol = NET_WEB;
	d = policy_net(&settings.policy, &q);
	*ret_rule = d.rule ? d.rule : raw.rule;
	c->open = d.opened || (c->open && (c->any || allows(c, &d)));
	c->check = c->open;
	if (!c->open && c->any) {
		/* Where clients speak first, what they say is looked at. */
		c->audit = raw.audit && c->name[0] && (c->port == 443 || c->port == 80);
		c->check = c->audit;
	}
	if (c->open || c->any)
		return true;
	if (allows(c, &d)) {
		/* A layer that does more than record is not to be passed unchecked. */
		c->audit = d.audit && d.unchecked;
		/* A plain address is itself: there is no name to compare. */
		c->check = c->name[0] && !d.tls_any;
		return true;
	}
	return false;
}

/* Would it be made now as it was? */
static bool conn_stands(struct conn *c, const struct rule **ret_rule)
{
	bool checked = c->check && !c->tls_any, good = conn_decide(c, ret_rule);

	if (c->state == CONN_ASKED && !good)
		return *ret_rule && (*ret_rule)->verdict == VERDICT_ASK;
	if (c->state <= CONN_LOOKUP)
		return good;
	/* What was not looked at then cannot be looked at any more. */
	good = good && (checked || !c->check || c->audit || c->state == CONN_CONNECTING) &&
	       (!c->open || c->state <= CONN_HELD);
	if (c->state != CONN_CONNECTING)
		c->check = checked;
	return good && c->at < c->n &&
	       (!c->name[0] || policy_address(&settings.policy, &c->addrs[c->at], c->port,
					      c->check ? NET_WEB : NET_TCP)
					       .verdict == VERDICT_ALLOW);
}

/* It may be made. */
static void conn_begin(struct conn *c)
{
	if (!c->name[0]) {
		conn_try(c);
		return;
	}
	c->state = CONN_LOOKUP;
	c->lookup = lookup_new(c->name, true, true, conn_found, c);
	if (!c->lookup)
		conn_fail(c, ENOBUFS, "too many questions at once");
}

static void conn_review(struct conn *c)
{
	const struct rule *rule;
	struct gate_msg m = { .type = GATE_REVOKE, .id = c->id };
	struct net_question q = conn_question(c, c->check ? NET_WEB : NET_TCP);

	if (conn_stands(c, &rule)) {
		if (c->state == CONN_ASKED && conn_decide(c, &rule)) {
			control_decided(&c->ask);
			conn_begin(c);
		}
		return;
	}
	if (c->state != CONN_PASSED) {
		control_decided(&c->ask);
		conn_deny(c, rule, "the policy has changed");
		return;
	}
	record_denial(c->pid, &q, rule, "the policy has changed: the connection was ended");
	(void)channel_send(&m, -1);
	gate_deny(0, 0, &q, rule, "the policy has changed: the connection was ended");
	conn_free(c);
}

void connect_review(const struct policy *old)
{
	udp_review();
	for (unsigned i = 0; i < SLOTS; i++) {
		struct conn *c, *tmp;

		if (!slots[i].next)
			continue;
		list_for_each_safe(c, tmp, &slots[i], link)
			conn_review(c);
	}
	opened_review(old);
}

/* ---- asking the operator ---- */

static void conn_answered(struct ask *a, const char *json, size_t n)
{
	struct conn *c = container_of(a, struct conn, ask);
	const struct rule *rule = NULL;

	c->approved = answer_allows(json, n);
	if (conn_decide(c, &rule) && c->approved)
		conn_begin(c);
	else
		conn_deny(c, rule, "the operator denies %s:%u", conn_label(c), c->port);
}

/* The connection waits for as long as it takes. */
static void conn_ask(struct conn *c, const struct rule *rule)
{
	struct net_question q = conn_question(c, rule->net.protocols & NET_TCP ? NET_TCP : NET_WEB);

	c->state = CONN_ASKED;
	c->ask.answered = conn_answered;
	if (control_ask(&c->ask, &q, rule))
		conn_record(c, "ask", rule, NULL);
	else
		conn_deny(c, rule, "%s:%u needs an approval, and too many wait for one already",
			  conn_label(c), c->port);
}

void connect_begin(const struct gate_msg *m)
{
	struct ip a;
	const struct rule *rule;
	const char *name;
	struct conn *c;

	memcpy(a.b, m->addr, sizeof(a.b));
	if (m->protocol == IPPROTO_UDP && m->port && !conn_find(m->id)) {
		udp_begin(m);
		return;
	}
	if (m->protocol != IPPROTO_TCP || !m->port || conn_find(m->id)) {
		channel_fail(m->id, EINVAL, "a wrong request");
		return;
	}
	if (names_is_resolver(&a) && m->port == DNS_PORT) {
		stream_begin(m);
		return;
	}
	if (count == GATE_CONNS_MAX || !(c = calloc(1, sizeof(*c)))) {
		record_connect(&(struct record_connection){ .number = m->id,
							    .pid = record_pid(m),
							    .addr = &a,
							    .port = m->port },
			       "failed", NULL, "too many connections at once");
		channel_fail(m->id, ENOBUFS, "too many connections at once");
		return;
	}
	count++;
	c->id = m->id;
	c->pid = record_pid(m);
	c->w.fd = -1;
	c->late.run = conn_late;
	c->port = m->port;
	c->asked = a;
	c->err = EHOSTUNREACH;
	c->state = CONN_LOOKUP;
	list_append(&slots[m->id % SLOTS], &c->link);
	memcpy(c->program, m->bytes, MIN(m->nbytes, (uint32_t)sizeof(c->program) - 1));
	name = names_find(&a);
	if (name)
		snprintf(c->name, sizeof(c->name), "%s", name);
	else
		c->addrs[c->n++] = a;
	if (!conn_decide(c, &rule)) {
		struct ip_text plain = ip_text(&a);
		const char *host = name ? name : plain.str;

		if (rule && rule->verdict == VERDICT_ASK)
			conn_ask(c, rule);
		else if (rule)
			conn_deny(c, rule, "a rule denies %s:%u", host, c->port);
		else
			conn_deny(c, rule,
				  "no rule allows %s:%u; such a rule is 'allow net %s:%u tcp'",
				  host, c->port, host, c->port);
		return;
	}
	conn_begin(c);
}
