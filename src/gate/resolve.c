/* The cell's resolver. Questions come as datagrams, by way of the kernel, and in streams
 * (dnstcp.c). Only names that the policy could allow are ever asked for; the answer that the cell
 * gets is made here, of one address that stands for the name (names.c).
 *
 *   A, AAAA      the address; if there is none of that family, no data
 *   PTR          the name that an address stands for; nobody is asked
 *   HTTPS, SVCB  what dns_records_read() leaves of them
 *   MX, TXT ...  where a rule says so with dns=
 *   others       no data, with the reason as an extended error
 *
 * A name that a rule with a wildcard matches can be anything that the cell wants to say to the
 * servers of that domain. So new names below a wildcard are bounded, in length and in number. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/control.h"
#include "gate/dns.h"
#include "gate/record.h"
#include "gate/resolve.h"

#define BELOW_MAX 128 /* bytes of a name in front of what the rule says */
#define NEW_BURST 2048 /* new names below wildcards */
#define NEW_EACH_MS 50 /* and then one in this time */

struct question {
	struct list link; /* in its stream; else in nothing */
	struct stream *stream; /* NULL: it came as a datagram */
	uint32_t id; /* of the kernel's request */
	int32_t pid; /* of the process that asks */
	bool denied; /* which is recorded */
	size_t room;
	struct dns_query q;
	uint8_t bytes[]; /* the question as it came */
};

static void question_end(struct question *x, const struct dns_answer *a)
{
	struct gate_msg m = { .type = GATE_ANSWER, .id = x->id };
	struct stream *s = x->stream;

	m.nbytes = (uint32_t)dns_answer_write(x->bytes, &x->q, a, (uint8_t *)m.bytes, x->room);
	if (!list_is_empty(&x->link)) {
		list_remove(&x->link);
		stream_answer(s, (const uint8_t *)m.bytes, m.nbytes);
	} else if (!s) {
		(void)channel_send(&m, -1);
	}
	free(x);
}

void questions_forget(struct list *questions)
{
	while (!list_is_empty(questions))
		list_remove(&list_first(questions, struct question, link)->link);
}

static void question_record(struct question *x, const char *decision, const struct rule *rule,
			    const char *why)
{
	x->denied = !strcmp(decision, "deny");
	record_name(x->pid, x->q.name, x->q.type, decision, rule, why);
}

static void question_deny(struct question *x, const char *why)
{
	struct net_question q = { .name = x->q.name };

	/* It was asked for, and then refused. */
	if (!x->denied)
		record_denial(x->pid, &q, NULL, why);
	gate_deny(0, 0, &q, NULL, "%s", why);
}

/* An answer without records, and why. */
static void question_refuse(struct question *x, unsigned code, unsigned ede, const char *fmt, ...)
	printf_like(4, 5);
static void question_refuse(struct question *x, unsigned code, unsigned ede, const char *fmt, ...)
{
	char text[512];
	struct dns_answer a = { .code = code, .ede = ede, .text = text };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (code == DNS_REFUSED || ede == DNS_EDE_BLOCKED || ede == DNS_EDE_PROHIBITED)
		question_deny(x, text);
	question_end(x, &a);
}

/* ---- addresses ---- */

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
				"%s is at %s, which is %s: a rule must list that address, such as "
				"'allow net %s'",
				x->q.name, ip_text(&addrs[0]).str, ip_special(&addrs[0], NULL),
				ip_text(&addrs[0]).str);
		return;
	} else {
		a.addrs = names_bind(x->q.name, good, x->q.type == DNS_AAAA);
		if (!a.addrs) {
			question_refuse(x, DNS_REFUSED, DNS_EDE_BLOCKED,
					"%s: the cell has used more than %u names", x->q.name,
					NAMES_MAX);
			return;
		}
		gate_used(&(struct net_question){ .name = x->q.name }, NULL, false);
	}
	question_end(x, &a);
}

/* A name of --add-host that no rule knows, at an address that a rule allows: it is itself. */
static bool question_host(struct question *x)
{
	for (unsigned i = 0; i < settings.nhosts; i++) {
		const struct ip *a = &settings.hosts[i].addr;
		struct decision d;

		if (strcmp(settings.hosts[i].name, x->q.name))
			continue;
		d = policy_address(&settings.policy, a, 0, NET_ALL);
		if (d.rule && d.verdict != VERDICT_DENY) {
			struct dns_answer answer = { .addrs = a, .ttl = 60 };

			answer.n = x->q.type == (ip_is_v4(a) ? DNS_A : DNS_AAAA);
			question_record(x, record_verdict(VERDICT_ALLOW, d.rule), d.rule, NULL);
			question_end(x, &answer);
			return true;
		}
	}
	return false;
}

/* ---- other records ---- */

static void question_reverse(struct question *x)
{
	struct dns_answer a = { .code = DNS_NXDOMAIN };
	struct dns_record r;
	const char *name = NULL;
	struct ip ip;

	question_record(x, "allow", NULL, "nobody outside is asked");
	if (dns_reverse_read(x->q.name, &ip))
		name = names_find(&ip);
	if (name) {
		dns_name_write(name, &r);
		a = (struct dns_answer){ .records = &r, .n = 1, .ttl = 60 };
	}
	question_end(x, &a);
}

static void question_records(void *arg, const uint8_t *p, size_t n)
{
	static struct dns_record records[DNS_RECORDS_MAX];
	struct question *x = arg;
	struct dns_answer a = { .records = records, .ttl = 60 };

	if (p)
		a.n = dns_records_read(p, n, x->q.type, records, &a.ttl);
	question_end(x, &a);
}

/* ---- what may be asked ---- */

/* NULL, or why the cell may not say this name to a server, which a wildcard allows. */
static const char *name_excess(const char *name, const struct rule *r)
{
	static int64_t tokens = NEW_BURST, last;
	int64_t now = now_ms();

	if (!r || (r->net.kind != DEST_BELOW && r->net.kind != DEST_ANY) || names_has(name))
		return NULL;
	if (r->net.kind == DEST_BELOW && strlen(name) - strlen(r->net.name) > BELOW_MAX)
		return "too long below a wildcard";
	if (now - last >= NEW_EACH_MS) {
		tokens = MIN(tokens + (now - last) / NEW_EACH_MS, (int64_t)NEW_BURST);
		last = now;
	}
	if (!tokens)
		return "too many new names below wildcards";
	tokens--;
	return NULL;
}

/* Is it one that a client makes of a shorter name, with the domains of --dns-search? */
static bool name_is_searched(const char *name)
{
	size_t n = strlen(name);

	for (unsigned i = 0; i < settings.nsearch; i++) {
		size_t m = strlen(settings.search[i]);

		if (n > m + 1 && name[n - m - 1] == '.' &&
		    !strcmp(name + n - m, settings.search[i]))
			return true;
	}
	return false;
}

static void question_denied(struct question *x, const struct rule *r)
{
	/* A client goes on with the next domain only if it is told that there is no such name. */
	unsigned code = name_is_searched(x->q.name) ? DNS_NXDOMAIN : DNS_REFUSED;
	struct buf rule = { 0 };

	question_record(x, "deny", r, "no rule allows it");
	if (!r) {
		question_refuse(x, code, DNS_EDE_PROHIBITED,
				"no rule allows the name %s; such a rule is 'allow net %s'",
				x->q.name[0] ? x->q.name : ".", x->q.name[0] ? x->q.name : "*");
		return;
	}
	rule_print(r, &rule);
	question_refuse(x, code, DNS_EDE_BLOCKED, "the rule '%.200s' denies the name %s",
			(const char *)rule.p, x->q.name);
	buf_free(&rule);
}

/* A name that the operator will be asked about, when it is used: until then nobody outside hears of
 * it. It gets an address that stands for it, and only one: who tries several of them would ask
 * several times. Whether it exists, and at which addresses, is found out when it is approved. */
static void question_asked(struct question *x)
{
	struct dns_answer a = { .ttl = 60 };

	if (x->q.type == DNS_A) {
		a.addrs = names_bind(x->q.name, NULL, false);
		a.n = a.addrs != NULL;
	}
	question_end(x, &a);
}

static void question_begin(struct question *x)
{
	struct decision d = policy_name(&settings.policy, x->q.name);
	bool addrs = x->q.type == DNS_A || x->q.type == DNS_AAAA;
	const char *excess;

	if (x->q.type == DNS_PTR) {
		question_reverse(x);
		return;
	}
	if (d.verdict == VERDICT_DENY) {
		if (!addrs || !question_host(x))
			question_denied(x, d.rule);
		return;
	}
	if (!addrs && x->q.type != DNS_HTTPS && x->q.type != DNS_SVCB) {
		if (policy_dns(&settings.policy, x->q.name, x->q.type).verdict != VERDICT_ALLOW) {
			question_record(x, "deny", NULL, "no rule allows records of this type");
			question_refuse(x, DNS_OK, DNS_EDE_FILTERED,
					"no rule allows records of type %u of %s; a rule for some "
					"says dns=, such as 'allow net %s dns=TXT'",
					x->q.type, x->q.name, x->q.name);
			return;
		}
	}
	if (d.verdict == VERDICT_ASK) {
		question_record(x, "ask", d.rule, NULL);
		question_asked(x);
		return;
	}
	excess = name_excess(x->q.name, d.rule);
	/* Recorded before anybody outside is asked. */
	question_record(x, excess ? "deny" : record_verdict(d.verdict, d.rule),
			excess ? NULL : d.rule, excess);
	if (excess) {
		question_refuse(x, DNS_REFUSED, DNS_EDE_BLOCKED,
				"%s: %s; a rule with the name itself has no such bound", excess,
				x->q.name);
		return;
	}
	if (addrs ? !lookup_new(x->q.name, x->q.type == DNS_A, x->q.type == DNS_AAAA,
				question_found, x)
		  : !lookup_raw(x->q.name, x->q.type, question_records, x))
		question_refuse(x, DNS_SERVFAIL, DNS_EDE_NO_REACHABLE,
				"too many questions at once");
}

bool resolve_ask(const uint8_t *p, size_t n, struct stream *s, struct list *questions, uint32_t id,
		 int32_t pid)
{
	struct question *x;
	struct dns_query q;
	int code = dns_query_read(p, n, &q);
	struct dns_answer none = { .code = (unsigned)code };

	if (code < 0)
		return false;
	x = xalloc(sizeof(*x) + n);
	*x = (struct question){ .stream = s, .id = id, .pid = pid, .q = q };
	x->room = s ? DNS_ANSWER_MAX : MIN(q.room, DNS_ANSWER_MAX);
	memcpy(x->bytes, p, n);
	list_init(&x->link);
	if (questions)
		list_append(questions, &x->link);
	if (code != DNS_OK)
		question_end(x, &none);
	else
		question_begin(x);
	return true;
}

void resolve_question(const struct gate_msg *m)
{
	if (!resolve_ask((const uint8_t *)m->bytes, m->nbytes, NULL, NULL, m->id, record_pid(m)))
		channel_fail(m->id, EINVAL, "not a question");
}
