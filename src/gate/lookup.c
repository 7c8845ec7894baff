/* Addresses of names, by way of c-ares and the servers of the settings.
 *
 * Both families of a name are asked for at once, and the answer is kept for as long as it says, at
 * most TTL_MAX: a connection that follows a question asks nobody. Those who want a name that is
 * being asked for wait for the same answer. Everybody gets it from the loop, never within
 * lookup_new(). */
#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "gate/dns.h"
#include "gate/gate.h"

#define TIMEOUT_MS 1500
#define TRIES 3
#define TTL_MIN 1u
#define TTL_MAX 60u
#define TTL_NONE 5u /* of an answer that there is nothing */
#define SOCKETS_MAX 1024
#define LOOKUPS_MAX 4096 /* under way */
#define KEPT_MAX 1024 /* answers */
#define SLOTS 1024

static ares_channel ares;
static struct alarm ares_alarm;
static struct watch sockets[SOCKETS_MAX];

/* ---- c-ares in the loop ---- */

static void ares_next(void)
{
	struct timeval t, *left = ares_timeout(ares, NULL, &t);

	if (left)
		alarm_set(&ares_alarm, left->tv_sec * 1000 + left->tv_usec / 1000 + 1);
	else
		alarm_clear(&ares_alarm);
}

/* What c-ares does, over UDP and TCP:
 * #syscalls: socket connect sendto recvfrom read write readv writev close getsockname setsockopt
 * #sockopts: IPPROTO_TCP.TCP_NODELAY */
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

int lookup_servers(struct err *e)
{
	struct ares_addr_port_node nodes[SETTINGS_SERVERS_MAX] = { 0 };
	int r;

	for (unsigned i = 0; i < settings.nservers; i++) {
		const struct ip *a = &settings.servers[i].addr;

		nodes[i].next = i + 1 < settings.nservers ? &nodes[i + 1] : NULL;
		nodes[i].family = ip_is_v4(a) ? AF_INET : AF_INET6;
		memcpy(&nodes[i].addr, a->b + (ip_is_v4(a) ? 12 : 0), ip_is_v4(a) ? 4 : 16);
		nodes[i].udp_port = nodes[i].tcp_port = settings.servers[i].port;
	}
	ares_cancel(ares); /* it cannot change them while it waits for answers */
	r = ares_set_servers_ports(ares, settings.nservers ? nodes : NULL);
	return r == ARES_SUCCESS ? 0
				 : err_set(e, ERR_FAILED, "cannot use the name servers: %s",
					   ares_strerror(r));
}

int lookup_init(struct err *e)
{
	struct ares_options o = { .flags = ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES,
				  .timeout = TIMEOUT_MS,
				  .tries = TRIES,
				  .sock_state_cb = socket_state };
	char lookups[] = "b";
	int r;

	o.lookups = lookups;
	r = ares_library_init(ARES_LIB_INIT_ALL);
	if (r == ARES_SUCCESS)
		r = ares_init_options(&ares, &o,
				      ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES |
					      ARES_OPT_SOCK_STATE_CB | ARES_OPT_LOOKUPS);
	ares_alarm.run = ares_late;
	if (r != ARES_SUCCESS)
		return err_set(e, ERR_FAILED, "cannot start the resolver: %s", ares_strerror(r));
	return lookup_servers(e);
}

/* ---- answers ---- */

struct found {
	struct ip addrs[DNS_ADDRS_MAX];
	unsigned n;
	bool exists;
	const char *why; /* constant */
};

/* A name that is being asked for, or whose answer is kept. */
struct entry {
	struct list link; /* by the name */
	struct list age; /* in kept, the oldest first; while it is asked for, in nothing */
	struct list waiters;
	bool known;
	int64_t until; /* ms */
	struct found f;
	char name[];
};

struct lookup {
	struct list link; /* in its entry's waiters */
	lookup_fn *fn;
	void *arg;
	bool v4, v6;
	struct alarm later;
	uint32_t ttl;
	struct found f; /* of the families that it wants */
};

static struct list slots[SLOTS];
static struct list kept = LIST_INIT(kept);
static unsigned nkept, nasked, nlookups;

static struct list *slot_of(const char *name)
{
	struct list *l = &slots[names_hash(name) % SLOTS];

	if (!l->next)
		list_init(l);
	return l;
}

static void entry_drop(struct entry *x)
{
	list_remove(&x->link);
	list_remove(&x->age);
	nkept--;
	free(x);
}

/* What is known of a name; NULL: nothing that still counts. */
static struct entry *entry_find(const char *name)
{
	struct entry *x;

	list_for_each(x, slot_of(name), link) {
		if (strcmp(x->name, name))
			continue;
		if (!x->known || x->until > now_ms())
			return x;
		entry_drop(x);
		return NULL;
	}
	return NULL;
}

static void entry_keep(struct entry *x, uint32_t ttl)
{
	x->known = true;
	x->until = now_ms() + (int64_t)ttl * 1000;
	list_append(&kept, &x->age);
	if (++nkept > KEPT_MAX)
		entry_drop(list_first(&kept, struct entry, age));
}

/* ---- look-ups ---- */

static void lookup_later(struct alarm *a)
{
	struct lookup *l = container_of(a, struct lookup, later);

	nlookups--;
	l->fn(l->arg, l->f.addrs, l->f.n, l->ttl, l->f.exists, l->f.why);
	free(l);
}

/* It has its answer, and says so soon. */
static void lookup_answer(struct lookup *l, const struct found *f, uint32_t ttl)
{
	for (unsigned i = 0; i < f->n; i++)
		if (ip_is_v4(&f->addrs[i]) ? l->v4 : l->v6)
			l->f.addrs[l->f.n++] = f->addrs[i];
	l->f.exists = f->exists;
	l->f.why = f->why;
	l->ttl = ttl;
	alarm_set(&l->later, 0);
}

static void found_add(struct found *f, int family, const void *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ip *a = &f->addrs[f->n];

	if (f->n == ARRAY_LEN(f->addrs))
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
	f->n++;
}

static void asked(void *arg, int status, int timeouts, struct ares_addrinfo *info)
{
	struct entry *x = arg;
	uint32_t ttl = TTL_MAX;

	(void)timeouts;
	for (const struct ares_addrinfo_node *a = info ? info->nodes : NULL; a; a = a->ai_next) {
		const struct sockaddr_in *four = (const void *)a->ai_addr;
		const struct sockaddr_in6 *six = (const void *)a->ai_addr;

		if (a->ai_ttl >= 0)
			ttl = MIN(ttl, (uint32_t)a->ai_ttl);
		if (a->ai_family == AF_INET)
			found_add(&x->f, AF_INET, &four->sin_addr);
		else if (a->ai_family == AF_INET6)
			found_add(&x->f, AF_INET6, &six->sin6_addr);
	}
	if (info)
		ares_freeaddrinfo(info);
	ttl = x->f.n ? MAX(ttl, TTL_MIN) : TTL_NONE;
	x->f.exists = status != ARES_ENOTFOUND;
	if (status != ARES_SUCCESS && status != ARES_ENODATA && status != ARES_ENOTFOUND)
		x->f.why = ares_strerror(status);
	nasked--;
	while (!list_is_empty(&x->waiters)) {
		struct lookup *l = list_first(&x->waiters, struct lookup, link);

		list_remove(&l->link);
		lookup_answer(l, &x->f, ttl);
	}
	if (x->f.why) {
		list_remove(&x->link);
		free(x);
	} else {
		entry_keep(x, ttl);
	}
}

static void ask(struct entry *x)
{
	struct ares_addrinfo_hints hints = { .ai_flags = ARES_AI_NOSORT, .ai_family = AF_UNSPEC };

	nasked++;
	ares_getaddrinfo(ares, x->name, NULL, &hints, asked, x);
	ares_next();
}

/* What --add-host says of a name; false: nothing. */
static bool host_find(const char *name, struct found *f)
{
	bool known = false;

	for (unsigned i = 0; i < settings.nhosts; i++) {
		const struct ip *a = &settings.hosts[i].addr;

		if (strcmp(settings.hosts[i].name, name))
			continue;
		known = true;
		found_add(f, ip_is_v4(a) ? AF_INET : AF_INET6, a->b + (ip_is_v4(a) ? 12 : 0));
	}
	return known;
}

struct lookup *lookup_new(const char *name, bool v4, bool v6, lookup_fn *fn, void *arg)
{
	struct found host = { .exists = true };
	bool is_host = host_find(name, &host);
	struct entry *x = is_host ? NULL : entry_find(name);
	struct lookup *l;

	if (nlookups == LOOKUPS_MAX || (!x && nasked == LOOKUPS_MAX))
		return NULL;
	l = xalloc(sizeof(*l));
	*l = (struct lookup){ .fn = fn, .arg = arg, .v4 = v4, .v6 = v6 };
	list_init(&l->link);
	l->later.run = lookup_later;
	nlookups++;
	if (is_host) {
		lookup_answer(l, &host, TTL_MAX);
		return l;
	}
	if (x && x->known) {
		lookup_answer(l, &x->f, (uint32_t)((x->until - now_ms() + 999) / 1000));
		return l;
	}
	if (x) {
		list_append(&x->waiters, &l->link);
		return l;
	}
	x = xalloc(sizeof(*x) + strlen(name) + 1);
	*x = (struct entry){ .known = false };
	strcpy(x->name, name);
	list_init(&x->age);
	list_init(&x->waiters);
	list_append(slot_of(name), &x->link);
	list_append(&x->waiters, &l->link);
	ask(x);
	return l;
}

void lookup_cancel(struct lookup *l)
{
	nlookups--;
	list_remove(&l->link);
	alarm_clear(&l->later);
	free(l);
}

/* ---- other records ---- */

struct raw {
	raw_fn *fn;
	void *arg;
};

static void raw_done(void *arg, int status, int timeouts, unsigned char *p, int n)
{
	struct raw r = *(struct raw *)arg;

	(void)timeouts;
	free(arg);
	nasked--;
	r.fn(r.arg, status == ARES_SUCCESS ? p : NULL, n > 0 ? (size_t)n : 0);
}

bool lookup_raw(const char *name, uint16_t type, raw_fn *fn, void *arg)
{
	struct raw *r;

	if (nasked == LOOKUPS_MAX)
		return false;
	nasked++;
	r = xalloc(sizeof(*r));
	*r = (struct raw){ fn, arg };
	ares_query(ares, name, 1, type, raw_done, r);
	ares_next();
	return true;
}
