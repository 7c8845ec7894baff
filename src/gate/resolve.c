/* Names. Only those that the policy could allow are ever asked for; the answer that the cell gets
 * is made here, of one address that stands for the name (names.c). */
#include <ares.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gate/dns.h"
#include "gate/gate.h"

#define TIMEOUT_MS 2000
#define TRIES 3
#define TTL_MAX 60u
#define SOCKETS_MAX 1024
#define QUESTIONS_MAX 4096 /* under way */

static ares_channel ares;
static struct alarm ares_alarm;
static struct watch sockets[SOCKETS_MAX];
static unsigned questions;

/* ---- c-ares in the loop ---- */

static void ares_next(void)
{
	struct timeval t, *left = ares_timeout(ares, NULL, &t);

	if (left)
		alarm_set(&ares_alarm, left->tv_sec * 1000 + left->tv_usec / 1000 + 1);
	else
		alarm_clear(&ares_alarm);
}

static void ares_late(struct alarm *a)
{
	(void)a;
	ares_process_fd(ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
	ares_next();
}

static void ares_ready(struct watch *w, uint32_t events)
{
	bool out = events & (EPOLLOUT | EPOLLERR | EPOLLHUP);
	int fd = w->fd;

	ares_process_fd(ares, events & (EPOLLIN | EPOLLERR | EPOLLHUP) ? fd : ARES_SOCKET_BAD,
			out && (w->events & EPOLLOUT) ? fd : ARES_SOCKET_BAD);
	ares_next();
}

static void socket_state(void *arg, ares_socket_t fd, int in, int out)
{
	unsigned i = 0;

	(void)arg;
	while (i < SOCKETS_MAX && (sockets[i].ready ? sockets[i].fd != fd : true))
		i++;
	if (i == SOCKETS_MAX) {
		for (i = 0; i < SOCKETS_MAX && sockets[i].ready; i++)
			;
		if (i == SOCKETS_MAX || (!in && !out))
			return; /* it runs into its time limit */
		sockets[i] = (struct watch){ .fd = fd, .ready = ares_ready };
	}
	watch_set(&sockets[i], (in ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u));
	if (!in && !out)
		sockets[i].ready = NULL;
}

int resolve_init(struct err *e)
{
	struct ares_options o = { .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
				  .timeout = TIMEOUT_MS,
				  .tries = TRIES,
				  .sock_state_cb = socket_state };
	struct ares_addr_port_node nodes[SETTINGS_SERVERS_MAX] = { 0 };
	char lookups[] = "b";
	int r;

	o.lookups = lookups;
	r = ares_library_init(ARES_LIB_INIT_ALL);
	if (r == ARES_SUCCESS)
		r = ares_init_options(&ares, &o,
				      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					      ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS);
	for (unsigned i = 0; i < settings.nservers; i++) {
		const struct ip *a = &settings.servers[i].addr;

		nodes[i].next = i + 1 < settings.nservers ? &nodes[i + 1] : NULL;
		nodes[i].family = ip_is_v4(a) ? AF_INET : AF_INET6;
		memcpy(&nodes[i].addr, a->b + (ip_is_v4(a) ? 12 : 0), ip_is_v4(a) ? 4 : 16);
		nodes[i].udp_port = nodes[i].tcp_port = settings.servers[i].port;
	}
	if (r == ARES_SUCCESS)
		r = ares_set_servers_ports(ares, settings.nservers ? nodes : NULL);
	ares_alarm.run = ares_late;
	return r == ARES_SUCCESS
		       ? 0
		       : err_set(e, ERR_FAILED, "cannot start the resolver: %s", ares_strerror(r));
}

/* ---- look-ups ---- */

struct lookup {
	lookup_fn *fn; /* NULL: nobody waits any more */
	void *arg;
	bool v4, v6;
	bool beginning; /* whoever asks does not have it yet */
	struct alarm later; /* for an answer that is known at once */
	struct ip addrs[DNS_ADDRS_MAX];
	unsigned n;
	uint32_t ttl;
	bool exists;
	const char *why; /* constant */
};

static void lookup_end(struct lookup *l)
{
	questions--;
	if (l->fn)
		l->fn(l->arg, l->addrs, l->n, l->ttl, l->exists, l->why);
	free(l);
}

static void lookup_later(struct alarm *a)
{
	lookup_end(container_of(a, struct lookup, later));
}

static void lookup_add(struct lookup *l, int family, const void *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ip *a = &l->addrs[l->n];

	if (l->n == ARRAY_LEN(l->addrs) || (family == AF_INET ? !l->v4 : !l->v6))
		return;
	if (family == AF_INET) {
		memcpy(a->b, mapped, sizeof(mapped));
		memcpy(a->b + 12, addr, 4);
	} else {
		memcpy(a->b, addr, 16);
		/* An IPv4 address is none of IPv6. */
		if (ip_is_v4(a))
			return;
	}
	l->n++;
}

static void lookup_done(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
	struct lookup *l = arg;
	uint32_t ttl = TTL_MAX;

	(void)timeouts;
	for (const struct ares_addrinfo_node *a = found ? found->nodes : NULL; a; a = a->ai_next) {
		if (a->ai_ttl >= 0)
			ttl = MIN(ttl, (uint32_t)a->ai_ttl);
		if (a->ai_family == AF_INET)
			lookup_add(
				l, AF_INET,
				&((const struct sockaddr_in *)(const void *)a->ai_addr)->sin_addr);
		else if (a->ai_family == AF_INET6)
			lookup_add(l, AF_INET6,
				   &((const struct sockaddr_in6 *)(const void *)a->ai_addr)
					    ->sin6_addr);
	}
	if (found)
		ares_freeaddrinfo(found);
	l->ttl = ttl;
	l->exists = status != ARES_ENOTFOUND;
	if (status != ARES_SUCCESS && status != ARES_ENODATA && status != ARES_ENOTFOUND)
		l->why = ares_strerror(status);
	if (l->beginning)
		alarm_set(&l->later, 0);
	else
		lookup_end(l);
}

struct lookup *lookup_new(const char *name, bool v4, bool v6, lookup_fn *fn, void *arg)
{
	struct ares_addrinfo_hints hints = { .ai_flags = ARES_AI_NOSORT,
					     .ai_family = v4 && v6 ? AF_UNSPEC
							  : v4	   ? AF_INET
								   : AF_INET6 };
	struct lookup *l;
	bool known = false;

	if (questions == QUESTIONS_MAX)
		return NULL;
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	questions++;
	l->fn = fn;
	l->arg = arg;
	l->v4 = v4;
	l->v6 = v6;
	l->later.run = lookup_later;
	l->ttl = TTL_MAX;
	l->exists = true;
	for (unsigned i = 0; i < settings.nhosts; i++) {
		const struct ip *a = &settings.hosts[i].addr;

		if (strcmp(settings.hosts[i].name, name))
			continue;
		known = true;
		lookup_add(l, ip_is_v4(a) ? AF_INET : AF_INET6, a->b + (ip_is_v4(a) ? 12 : 0));
	}
	if (known) {
		alarm_set(&l->later, 0);
		return l;
	}
	l->beginning = true;
	ares_getaddrinfo(ares, name, NULL, &hints, lookup_done, l);
	l->beginning = false;
	ares_next();
	return l;
}

void lookup_cancel(struct lookup *l)
{
	l->fn = NULL;
}

/* ---- questions of the cell ---- */

struct question {
	uint32_t id;
	size_t room;
	struct dns_query q;
	size_t n;
	uint8_t bytes[]; /* n: the question as it came */
};

static void question_end(struct question *x, const struct dns_answer *a)
{
	struct gate_msg m = { .type = GATE_ANSWER, .id = x->id };

	m.nbytes = (uint32_t)dns_answer_write(x->bytes, &x->q, a, (uint8_t *)m.bytes, x->room);
	(void)channel_send(&m, -1);
	free(x);
}

static void question_refuse(struct question *x, unsigned code, unsigned ede, const char *fmt, ...)
	printf_like(4, 5);
static void question_refuse(struct question *x, unsigned code, unsigned ede, const char *fmt, ...)
{
	char text[320];
	struct dns_answer a = { .code = code, .ede = ede, .text = text };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	question_end(x, &a);
}

static void question_found(void *arg, const struct ip *addrs, unsigned n, uint32_t ttl, bool exists,
			   const char *why)
{
	struct question *x = arg;
	struct dns_answer a = { .ttl = ttl, .n = 1 };
	const struct ip *good = NULL;

	if (why) {
		question_refuse(x, DNS_SERVFAIL, DNS_EDE_NO_REACHABLE, "%s: %s", x->q.name, why);
		return;
	}
	for (unsigned i = 0; i < n && !good; i++)
		if (!ip_special(&addrs[i], NULL) ||
		    policy_address(&settings.policy, &addrs[i], 0, NET_ALL).verdict != VERDICT_DENY)
			good = &addrs[i];
	if (!n) {
		a = (struct dns_answer){ .code = exists ? DNS_OK : DNS_NXDOMAIN };
	} else if (!good) {
		question_refuse(x, DNS_REFUSED, DNS_EDE_BLOCKED,
				"%.100s is at %s, which is %s: a rule must list that address",
				x->q.name, ip_text(&addrs[0]).str, ip_special(&addrs[0], NULL));
		return;
	} else {
		a.addrs = names_bind(x->q.name, good, x->q.type == DNS_AAAA);
		if (!a.addrs) {
			question_refuse(x, DNS_REFUSED, DNS_EDE_BLOCKED, "too many names");
			return;
		}
	}
	question_end(x, &a);
}

void resolve_question(const struct gate_msg *m)
{
	struct question *x = xalloc(sizeof(*x) + m->nbytes);
	int code = dns_query_read((const uint8_t *)m->bytes, m->nbytes, &x->q);
	struct dns_answer none = { .code = (unsigned)code };

	x->id = m->id;
	x->n = m->nbytes;
	memcpy(x->bytes, m->bytes, m->nbytes);
	x->room = m->flags & GATE_BY_TCP ? DNS_QUERY_MAX : MIN(x->q.room, DNS_QUERY_MAX);
	if (code < 0) {
		channel_fail(m->id, EINVAL, "not a question");
		free(x);
	} else if (code != DNS_OK) {
		question_end(x, &none);
	} else if (policy_name(&settings.policy, x->q.name).verdict == VERDICT_DENY) {
		question_refuse(x, DNS_REFUSED, DNS_EDE_BLOCKED, "no rule allows %s",
				x->q.name[0] ? x->q.name : "the root");
	} else if (x->q.type == DNS_HTTPS) {
		question_end(x, &none); /* it would bring keys for hiding the name */
	} else if (x->q.type != DNS_A && x->q.type != DNS_AAAA) {
		question_refuse(x, DNS_REFUSED, DNS_EDE_BLOCKED, "only addresses can be asked for");
	} else if (!lookup_new(x->q.name, x->q.type == DNS_A, x->q.type == DNS_AAAA, question_found,
			       x)) {
		question_refuse(x, DNS_SERVFAIL, DNS_EDE_NO_REACHABLE,
				"too many questions at once");
	}
}
