/* See record.h. Encoding and the ring are those of the kernel's journal (host/journalring.h). */
#include "gate/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host/journalring.h"

#define PID_MAX (1 << 22) /* Linux has no greater one */
#define URLS_MAX (8u << 20) /* bytes that requests under way keep for their end */

static struct ring_writer writer;
static size_t urls;

int record_open(struct err *e)
{
	int err;

	if (fcntl(GATE_FD_RING, F_GETFD) < 0)
		return 0;
	err = ring_writer_init(&writer, GATE_FD_RING, GATE_FD_BELL);
	/* Who breaks in later can neither cut the file nor give it away. */
	close(GATE_FD_RING);
	return err ? err_set(e, ERR_FAILED, "cannot use the cell's journal: %s", strerror(-err))
		   : 0;
}

bool record_is_on(void)
{
	return writer.ring != NULL;
}

int32_t record_pid(const struct gate_msg *m)
{
	return m->pid > 0 && m->pid <= PID_MAX ? m->pid : 0;
}

/* #syscalls: clock_gettime */
static int64_t clock_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void put(enum journal_kind kind, const void *record, int32_t pid)
{
	static uint8_t frame[JOURNAL_FRAME_MAX] __attribute__((aligned(8)));
	size_t n = journal_encode(kind, record, pid, clock_of(CLOCK_MONOTONIC),
				  clock_of(CLOCK_REALTIME), frame);

	if (n)
		ring_writer_put(&writer, frame, n);
}
#define PUT(ID, who, ...) put(J_##ID, &(const struct journal_##ID){ __VA_ARGS__ }, who)

static struct jtext text_of(const char *s)
{
	return (struct jtext){ s, s ? (uint32_t)strlen(s) : 0 };
}

/* The rule as people write it, else why; valid until the next call. */
static struct jtext reason_of(const struct rule *rule, const char *why)
{
	static struct buf text;

	if (!rule)
		return text_of(why);
	text.len = 0;
	rule_print(rule, &text);
	return (struct jtext){ (const char *)text.p, (uint32_t)MIN(text.len, JOURNAL_TEXT_MAX) };
}

const char *record_verdict(enum verdict v, const struct rule *rule)
{
	if (v == VERDICT_ALLOW && rule && rule->audit)
		return "audit";
	return v == VERDICT_ALLOW ? "allow" : v == VERDICT_ASK ? "ask" : "deny";
}

/* ---- names, connections ---- */

static const char *type_name(uint16_t type)
{
	static const struct {
		uint16_t type;
		const char *name;
	} names[] = { { DNS_A, "A" },	    { DNS_NS, "NS" },	   { DNS_CNAME, "CNAME" },
		      { DNS_SOA, "SOA" },   { DNS_PTR, "PTR" },	   { DNS_MX, "MX" },
		      { DNS_TXT, "TXT" },   { DNS_AAAA, "AAAA" },  { DNS_SRV, "SRV" },
		      { DNS_SVCB, "SVCB" }, { DNS_HTTPS, "HTTPS" } };
	static char other[16];

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (names[i].type == type)
			return names[i].name;
	snprintf(other, sizeof(other), "TYPE%u", type);
	return other;
}

void record_name(int32_t pid, const char *name, uint16_t type, const char *decision,
		 const struct rule *rule, const char *why)
{
	if (!writer.ring)
		return;
	PUT(NAME, pid, .name = text_of(name[0] ? name : "."), .decision = text_of(decision),
	    .rule = reason_of(rule, why), .type = text_of(type_name(type)));
}

void record_connect(const struct record_connection *c, const char *decision,
		    const struct rule *rule, const char *why)
{
	struct ip_text addr = { "" };

	if (!writer.ring)
		return;
	if (c->addr)
		addr = ip_text(c->addr);
	PUT(CONNECT, c->pid, .connection = c->number, .protocol = text_of(c->udp ? "udp" : "tcp"),
	    .name = text_of(c->name), .address = text_of(addr.str), .port = c->port,
	    .decision = text_of(decision), .rule = reason_of(rule, why),
	    .program = text_of(c->program));
}

void record_denial(int32_t pid, const struct net_question *q, const struct rule *rule,
		   const char *why)
{
	struct ip_text addr = { "" };
	char what[400];
	int n;

	if (!writer.ring)
		return;
	if (q->addr)
		addr = ip_text(q->addr);
	n = snprintf(what, sizeof(what), "%s %s",
		     q->protocol ? net_protocol_name(q->protocol) : "name",
		     q->name ? q->name : addr.str);
	if (q->port && n > 0 && (size_t)n < sizeof(what))
		snprintf(what + n, sizeof(what) - (size_t)n, ":%u", q->port);
	PUT(DENIAL, pid, .scope = text_of("net"), .what = text_of(what),
	    .rule = reason_of(rule, why));
}

/* ---- requests ---- */

/* SCHEME://HOST[:PORT]TARGET, with the names of secrets for what stands for them and for what they
 * are. Whatever a client wrote before the host, a user with a password for example, is not part. */
static void url_make(const struct opened *o, const struct head *h, struct buf *to)
{
	bool v6 = !o->is_name && strchr(o->name, ':');
	char text[DNS_NAME_MAX + 32];

	snprintf(text, sizeof(text), "%s://%s%s%s", o->tls ? "https" : "http", v6 ? "[" : "",
		 o->name, v6 ? "]" : "");
	buf_add_text(to, text);
	if (o->port != (o->tls ? 443 : 80)) {
		snprintf(text, sizeof(text), ":%u", o->port);
		buf_add_text(to, text);
	}
	if (h->target)
		secret_conceal(settings.secrets, h->target, strlen(h->target), to);
}

void record_request_begin(struct exchange *x, const struct opened *o, const struct head *h)
{
	struct buf url = { 0 };

	if (!writer.ring || x->record.number)
		return;
	x->record = (struct request_record){ .connection = o->number,
					     .number = ++x->o->nrequests,
					     .pid = o->pid };
	secret_conceal(settings.secrets, h->method, strlen(h->method), &url);
	snprintf(x->record.method, sizeof(x->record.method), "%.*s", (int)url.len,
		 (const char *)url.p);
	url.len = 0;
	url_make(o, h, &url);
	url.len = MIN(url.len, (size_t)JOURNAL_TEXT_MAX);
	x->record.url = (char *)url.p;
	x->record.nurl = (uint32_t)url.len;
}

static struct jtext url_of(const struct exchange *x)
{
	return (struct jtext){ x->record.url, x->record.nurl };
}

/* It was sent on: its end has the URL once more, if there is room to keep it. */
static void url_keep(struct exchange *x)
{
	if (x->record.nurl > URLS_MAX - urls) {
		record_request_fini(x);
		return;
	}
	x->record.kept = true;
	urls += x->record.nurl;
}

void record_request(struct exchange *x, const char *decision, const struct rule *rule,
		    const struct refusal *r)
{
	const char *message = r ? (r->brief ? r->brief : r->message) : "";
	struct buf why = { 0 };

	if (!writer.ring || !x->record.number)
		return;
	secret_conceal(settings.secrets, message, strlen(message), &why);
	buf_add(&why, "", 1);
	PUT(REQUEST, x->record.pid, .connection = x->record.connection, .number = x->record.number,
	    .method = text_of(x->record.method), .url = url_of(x), .status = r ? r->status : 0,
	    .decision = text_of(decision), .rule = reason_of(rule, (const char *)why.p));
	buf_free(&why);
	if (r || !strcmp(decision, "ask"))
		return;
	x->record.sent = true;
	url_keep(x);
}

void record_response(struct exchange *x)
{
	if (!writer.ring || !x->record.sent)
		return;
	x->record.sent = false;
	PUT(RESPONSE, x->record.pid, .connection = x->record.connection, .number = x->record.number,
	    .method = text_of(x->record.method), .url = url_of(x), .status = x->record.status,
	    .in = x->record.in, .out = x->record.out);
}

void record_request_fini(struct exchange *x)
{
	if (x->record.kept)
		urls -= x->record.nurl;
	x->record.kept = false;
	free(x->record.url);
	x->record.url = NULL;
	x->record.nurl = 0;
}
