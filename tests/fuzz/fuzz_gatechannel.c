/* The gate's side of the channel to a kernel that was captured: messages of any kind, in any order, with descriptors, while lookups,
 * connections, answers of the operator and changes of the policy come in between, and while the kernel does not read. No connection
 * leads to an address that is not public, or to a port of no rule; what is cancelled and closed leaves nothing. */
/* objects: src/gate/channel.c src/gate/connect.c src/gate/udp.c src/gate/resolve.c src/gate/dnstcp.c src/gate/names.c src/gate/dns.c src/gate/hello.c src/gate/record.c src/host/journalring.c src/wire/journal.c src/host/fdmsg.c src/policy/address.c src/policy/decide.c src/policy/glob.c src/policy/layers.c src/policy/dnstypes.c src/policy/parse.c src/policy/presets.c src/policy/print.c src/policy/cover.c src/base/json.c src/base/buf.c src/base/err.c src/base/utf8.c src/base/log.c src/base/jsontext.c */
/* libraries: -Wl,--wrap=socket,--wrap=connect */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "fuzz.h"
#include "gate/ca.h"
#include "gate/control.h"
#include "gate/dns.h"
#include "gate/open.h"
#include "host/fdmsg.h"
#include "gatering.h"

const char fuzz_name[] = "gatechannel";
const size_t fuzz_max = 2048;

#define IDS 16u
#define MANY 256
#define FDS 160 /* numbers that are looked at for what is left open */

struct settings settings;
static const char *const policies[] = {
	"allow net a.org:80,443\nallow net a.org:7 tcp\nallow net b.org:7 udp\nallow net b.org:443 GET /x\nallow net *.w.org\n"
	"ask net q.org\nallow net 93.184.216.36:7 tcp\nallow net 93.184.216.36:9 udp\nallow net a.org dns=TXT\n",
	"deny net *\n",
	"use audit\n",
	"ask net *\n",
};

static unsigned policy_now;
static int kernel = -1; /* its end of the channel */
static bool reads, over; /* does it read? Has the gate ended? */
static int64_t clock_ms = 1000000;

/* ---- the input ---- */

static const uint8_t *in;
static size_t left;

static unsigned take(void)
{
	if (!left)
		return 0;
	left--;
	return *in++;
}

/* ---- loop.c ---- */

static struct watch *watches[MANY];
static unsigned nwatches;
static struct list alarms = LIST_INIT(alarms);

void loop_end(void)
{
	over = true;
}

void watch_set(struct watch *w, uint32_t events)
{
	if (w->fd < 0 || events == w->events)
		return;
	if (!w->events) {
		FUZZ_CHECK(nwatches < MANY);
		watches[nwatches++] = w;
	}
	if (!events)
		for (unsigned i = 0; i < nwatches; i++)
			if (watches[i] == w)
				watches[i] = watches[--nwatches];
	w->events = events;
}

void watch_close(struct watch *w)
{
	if (w->fd < 0)
		return;
	watch_set(w, 0);
	close(w->fd);
	w->fd = -1;
}

void alarm_clear(struct alarm *a)
{
	if (a->at)
		list_remove(&a->link);
	a->at = 0;
}

void alarm_set(struct alarm *a, int64_t ms)
{
	alarm_clear(a);
	a->at = clock_ms + ms;
	list_append(&alarms, &a->link);
}

int64_t now_ms(void)
{
	return clock_ms++;
}

/* All that is set now. */
static void alarms_run(void)
{
	clock_ms += 400000;
	for (unsigned i = 0; i < MANY && !list_is_empty(&alarms); i++) {
		struct alarm *a = list_first(&alarms, struct alarm, link);

		alarm_clear(a);
		a->run(a);
	}
}

/* ---- the network ---- */

static int peers[MANY];
static unsigned npeers;
static unsigned how; /* what becomes of the next connection */

int __wrap_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol)
{
	int pair[2];

	FUZZ_CHECK((family == AF_INET || family == AF_INET6) && npeers < MANY);
	(void)protocol;
	if (how == 3) {
		errno = EMFILE;
		return -1;
	}
	if (socketpair(AF_UNIX, type, 0, pair) < 0)
		return -1;
	peers[npeers++] = pair[1];
	return pair[0];
}

int __wrap_connect(int fd, const struct sockaddr *sa, socklen_t len);
int __wrap_connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	static unsigned turn;
	const struct sockaddr_in6 *six = (const void *)sa;
	const struct sockaddr_in *four = (const void *)sa;
	unsigned port = ntohs(four->sin_port);
	struct ip a = { { [10] = 0xff, [11] = 0xff } };

	FUZZ_CHECK(fd >= 0 && len >= sizeof(*four));
	if (sa->sa_family == AF_INET)
		memcpy(a.b + 12, &four->sin_addr, 4);
	else
		memcpy(a.b, &six->sin6_addr, 16);
	FUZZ_CHECK(!ip_special(&a, NULL));
	FUZZ_CHECK(policy_now != 0 || port == 7 || port == 9 || port == 80 || port == 443);
	FUZZ_CHECK(policy_now != 1); /* it denies everything */
	errno = how == 2 ? ECONNREFUSED : turn++ % 2 ? EISCONN : EINPROGRESS;
	return how == 1 ? 0 : -1;
}

/* ---- lookup.c ---- */

struct lookup {
	struct list link;
	lookup_fn *fn;
	raw_fn *raw;
	void *arg;
};
static struct list lookups = LIST_INIT(lookups);
static unsigned nlookups;

static struct lookup *pending_new(lookup_fn *fn, raw_fn *raw, void *arg)
{
	struct lookup *l = nlookups < 64 ? calloc(1, sizeof(*l)) : NULL;

	if (!l)
		return NULL;
	*l = (struct lookup){ .fn = fn, .raw = raw, .arg = arg };
	list_append(&lookups, &l->link);
	nlookups++;
	return l;
}

struct lookup *lookup_new(const char *name, bool v4, bool v6, lookup_fn *fn, void *arg)
{
	FUZZ_CHECK(name[0] && strlen(name) < DNS_NAME_MAX && (v4 || v6));
	return pending_new(fn, NULL, arg);
}

bool lookup_raw(const char *name, uint16_t type, raw_fn *fn, void *arg)
{
	FUZZ_CHECK(name[0] && type);
	return pending_new(NULL, fn, arg) != NULL;
}

void lookup_cancel(struct lookup *l)
{
	list_remove(&l->link);
	nlookups--;
	free(l);
}

static void lookup_answer(unsigned what)
{
	static const char *const all[] = { "93.184.216.34", "93.184.216.36", "2606:2800:220:1::34", "127.0.0.1", "10.1.2.3",
					   "169.254.169.254", "::1", "::ffff:10.0.0.1" };
	struct ip addrs[8];
	struct lookup l;
	unsigned n = 0;

	if (list_is_empty(&lookups))
		return;
	l = *list_first(&lookups, struct lookup, link);
	lookup_cancel(list_first(&lookups, struct lookup, link));
	for (unsigned i = 0; i < 8; i++)
		if (what >> i & 1)
			FUZZ_CHECK(ip_parse(all[i], &addrs[n++]));
	if (l.raw) {
		uint8_t bytes[512];
		size_t got = 0;

		for (unsigned want = take() * 2; got < want && left; got++)
			bytes[got] = (uint8_t)take();
		l.raw(l.arg, what & 1 ? bytes : NULL, what & 1 ? got : 0);
	} else {
		l.fn(l.arg, addrs, n, what, n || what & 1, n || what != 0x80 ? NULL : "no server answers");
	}
}

/* ---- control.c, open.c, ca.c ---- */

static struct list asks = LIST_INIT(asks);
static unsigned nasks;

bool control_ask(struct ask *a, const struct net_question *q, const struct rule *rule)
{
	FUZZ_CHECK(q && rule);
	if (nasks == 8)
		return false;
	a->id = 1;
	nasks++;
	list_append(&asks, &a->link);
	return true;
}

bool answer_allows(const char *json, size_t n)
{
	return memmem(json, n, "allow", 5) != NULL;
}

void control_withdraw(struct ask *a)
{
	if (!a->id)
		return;
	a->id = 0;
	nasks--;
	list_remove(&a->link);
}

void control_decided(struct ask *a)
{
	control_withdraw(a);
}

static void ask_answer(unsigned what)
{
	static const char *const says[] = { "{\"verdict\":\"allow\"}", "{\"verdict\":\"deny\"}", "{}", "nonsense" };
	struct ask *a;

	if (list_is_empty(&asks))
		return;
	a = list_first(&asks, struct ask, link);
	control_withdraw(a);
	a->answered(a, says[what % 4], strlen(says[what % 4]));
}

void gate_deny(uint32_t id, int err, const struct net_question *q, const struct rule *rule, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	FUZZ_CHECK(q);
	(void)rule;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (id)
		channel_fail(id, err, "%s", text);
	else
		channel_note("%s", text);
}

void gate_used(const struct net_question *q, const struct rule *rule, bool tls_any)
{
	FUZZ_CHECK(q && (q->name || q->addr));
	(void)rule, (void)tls_any;
}

bool ca_is_loaded(void)
{
	return true;
}

bool opened_new(const struct opened_options *x)
{
	FUZZ_CHECK(x->client >= 0 && x->server >= 0);
	close(x->client);
	close(x->server);
	return how != 2;
}

void opened_review(const struct policy *old)
{
	FUZZ_CHECK(old);
}

void secret_site_init(struct secret_site *site, struct secrets *s, const char *host, uint16_t port, bool tls)
{
	(void)s, (void)host, (void)port, (void)tls;
	memset(site, 0, sizeof(*site));
}

void secret_site_fini(struct secret_site *site)
{
	(void)site;
}

void secret_conceal(struct secrets *set, const char *text, size_t n, struct buf *to)
{
	(void)set;
	buf_add(to, text, n);
}

const char *net_protocol_name(unsigned protocol)
{
	return protocol == NET_UDP ? "udp" : "tcp";
}

/* ---- the kernel ---- */

static int held[MANY]; /* descriptors that it was given */
static unsigned nheld;

static void kernel_read(void)
{
	struct gate_msg m;
	int fds[4];

	for (unsigned i = 0; i < MANY; i++) {
		unsigned nfds = 0;
		int64_t n = fdmsg_recv(kernel, &m, sizeof(m), fds, 4, &nfds, MSG_DONTWAIT);

		if (n <= 0)
			return;
		FUZZ_CHECK((uint64_t)n == GATE_HEAD + m.nbytes && m.type >= GATE_OPEN && m.type <= GATE_REVOKE);
		FUZZ_CHECK(nfds == (m.type == GATE_OPEN));
		FUZZ_CHECK(m.type == GATE_NOTE || m.id < IDS);
		if (nfds)
			FUZZ_CHECK(nheld < MANY), held[nheld++] = fds[0];
	}
}

static void pump(unsigned rounds)
{
	while (rounds--) {
		bool any = false;

		if (reads)
			kernel_read();
		for (unsigned i = 0; i < nwatches; i++) {
			struct watch *w = watches[i];
			struct pollfd p = { .fd = w->fd, .events = (short)w->events };

			if (poll(&p, 1, 0) == 1) {
				any = true;
				w->ready(w, (uint32_t)p.revents);
				break; /* the list may be another one */
			}
		}
		if (!any)
			return;
	}
}

static void message_send(bool raw)
{
	static const char *const addrs[] = { "93.184.216.34", "93.184.216.36", "198.18.0.1", "198.18.0.2", "2606:2800:220:1::34",
					     "fd7a:7669:7600::1", "198.19.255.1", "fd7a:7669:7600:1::1", "10.1.2.3", "127.0.0.1", "::1",
					     "169.254.169.254", "::ffff:127.0.0.1", "0.0.0.0", "198.18.0.3", "8.8.8.8" };
	static const uint16_t ports[] = { 443, 80, 7, 53, 9, 0, 22, 65535 };
	struct gate_msg m = { 0 };
	struct ip a;
	unsigned shape = take(), n, lie = 0;
	int fds[2] = { kernel, kernel };
	uint8_t *p = (uint8_t *)&m;

	if (raw) {
		for (n = 0; n < GATE_HEAD + 300 && left; n++)
			p[n] = (uint8_t)take();
		m.id %= IDS;
		(void)!fdmsg_send(kernel, &m, n, fds, 0, MSG_DONTWAIT);
		return;
	}
	m.type = 1 + shape % 5 % 4;
	m.id = take() % IDS;
	n = take();
	FUZZ_CHECK(ip_parse(addrs[n % 16], &a));
	memcpy(m.addr, a.b, 16);
	m.port = ports[n >> 4 & 7];
	m.protocol = n & 128 ? IPPROTO_UDP : IPPROTO_TCP;
	m.pid = (int32_t)(shape * 0x01010101u);
	n = take();
	for (m.nbytes = 0; m.nbytes < n && left; m.nbytes++)
		m.bytes[m.nbytes] = (char)take();
	/* The same again and again, for messages that are long. */
	if (shape & 32 && m.nbytes)
		for (; m.nbytes < GATE_BYTES; m.nbytes++)
			m.bytes[m.nbytes] = m.bytes[m.nbytes - n % m.nbytes - 1];
	if (shape & 64)
		lie = take();
	n = (unsigned)GATE_HEAD + m.nbytes;
	m.nbytes += lie;
	(void)!fdmsg_send(kernel, &m, n, fds, shape >> 7 ? 2 : 0, MSG_DONTWAIT);
}

/* A question as a client asks it, so that names get bound. */
static void question_send(void)
{
	static const char *const names[] = { "a.org", "b.org", "q.org", "x.w.org", "other.org", "WWW.a.org" };
	static const uint8_t types[] = { 1, 28, 65, 16, 12, 255 };
	struct gate_msg m = { .type = GATE_DNS, .id = take() % IDS };
	unsigned what = take();
	const char *name = names[what % 6];
	uint8_t *p = (uint8_t *)m.bytes;
	size_t n = 12;

	memcpy(p, "\x12\x34\1\0\0\1\0\0\0\0\0\0", 12);
	while (*name) {
		size_t len = strcspn(name, ".");

		p[n++] = (uint8_t)len;
		memcpy(p + n, name, len);
		n += len, name += len + (name[len] == '.');
	}
	p[n++] = 0;
	p[n++] = 0, p[n++] = types[what / 6 % 6], p[n++] = 0, p[n++] = 1;
	m.nbytes = (uint32_t)n;
	(void)!fdmsg_send(kernel, &m, GATE_HEAD + n, NULL, 0, MSG_DONTWAIT);
}

/* Whoever is at the other end of a socket does something: a server, or the kernel with what it got. */
static void end_use(int *fds, unsigned *n)
{
	unsigned what = take(), i = what % 8, len;
	uint8_t bytes[256];

	if (i >= *n)
		return;
	switch (what >> 3 & 3) {
	case 0:
		close(fds[i]);
		fds[i] = fds[--*n];
		return;
	case 1:
		(void)shutdown(fds[i], SHUT_WR);
		return;
	case 2:
		(void)!recv(fds[i], bytes, sizeof(bytes), MSG_DONTWAIT);
		return;
	default:
		for (len = 0; len < (what >> 5) * 32 + 8 && left; len++)
			bytes[len] = (uint8_t)take();
		(void)!send(fds[i], bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	}
}

static void policy_change(unsigned which)
{
	const char *text = policies[which % ARRAY_LEN(policies)];
	struct policy old = settings.policy;
	struct err e = { 0 };

	policy_now = which % ARRAY_LEN(policies);
	policy_init(&settings.policy);
	FUZZ_CHECK(policy_parse(&settings.policy, text, strlen(text), "fuzz", 1, 1, &e) == 0);
	connect_review(&old);
	policy_fini(&old);
}

/* ---- driving it ---- */

static unsigned open_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < FDS; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void no_lines(const char *line)
{
	(void)line;
}

void fuzz_init(void)
{
	struct err e = { 0 };
	int fd = memfd_create("names", 0);

	log_sink = no_lines;
	FUZZ_CHECK(fd >= 0 && dup2(fd, GATE_FD_NAMES) == GATE_FD_NAMES);
	if (fd != GATE_FD_NAMES)
		close(fd);
	ring_begin();
	policy_init(&settings.policy);
	FUZZ_CHECK(policy_parse(&settings.policy, policies[0], strlen(policies[0]), "fuzz", 1, 1, &e) == 0);
}

/* What was sent is still taken; then everybody goes. */
static void finish(void)
{
	reads = true;
	for (unsigned round = 0; round < 4; round++) {
		pump(4096);
		while (!list_is_empty(&lookups))
			lookup_answer(0);
		for (uint32_t id = 0; id < IDS; id++)
			(void)connect_cancel(id);
		while (nheld)
			close(held[--nheld]);
		while (npeers)
			close(peers[--npeers]);
		alarms_run();
		ring_read(NULL);
	}
	close(kernel);
	pump(4096);
	ring_read(NULL);
	policy_change(0);
	FUZZ_CHECK(over && !nwatches && !nlookups && !nasks);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	unsigned before = open_fds();
	int pair[2], room = 4096;

	in = data, left = size;
	reads = true, over = false, how = 0;
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0);
	kernel = pair[0];
	/* So that a kernel that does not read is noticed soon. */
	(void)setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	channel_open(pair[1]);
	for (unsigned i = 0; i < 100 && left && !over; i++) {
		unsigned what = take();

		switch (what % 12) {
		case 0:
		case 1:
		case 2:
			message_send(false);
			break;
		case 3:
			message_send(true);
			break;
		case 4:
			question_send();
			break;
		case 5:
			lookup_answer(take());
			break;
		case 6:
			how = take() % 4;
			break;
		case 7:
			end_use(peers, &npeers);
			break;
		case 8:
			end_use(held, &nheld);
			break;
		case 9:
			ask_answer(what >> 4);
			break;
		case 10:
			policy_change(what >> 4);
			break;
		default:
			if (what & 16)
				alarms_run();
			else
				reads = !reads;
		}
		pump(64);
		ring_read(NULL);
	}
	left = 0;
	finish();
	FUZZ_CHECK(open_fds() == before);
}
