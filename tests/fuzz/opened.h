/* An opened connection of the gate without sockets and without a loop, for fuzzers of its protocols:
 * what each side is sent is kept in memory. */
#ifndef VIV_TESTS_FUZZ_OPENED_H
#define VIV_TESTS_FUZZ_OPENED_H

#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gate/control.h"
#include "gate/open.h"
#include "gatering.h"

struct settings settings;
static struct opened *conn;
static struct buf sent[2]; /* to that side */
static int64_t clock_ms;
static const char *never_recorded; /* the value of the secret */

/* ---- what open.c, tls.c and loop.c are for it ---- */

void opened_end(struct opened *o)
{
	o->state = OPENED_ENDS;
}

void opened_abort(struct opened *o)
{
	o->dead = true;
}

void end_send(struct end *s, const uint8_t *p, size_t n)
{
	end_put(s, p, n);
}

void end_shut(struct end *s)
{
	s->shut = true;
}

void end_drop(struct buf *b, size_t n)
{
	FUZZ_CHECK(n <= b->len);
	b->len -= n;
	if (b->len)
		memmove(b->p, b->p + n, b->len);
}

void alarm_set(struct alarm *a, int64_t ms)
{
	a->at = ms + 1;
}

void alarm_clear(struct alarm *a)
{
	a->at = 0;
}

int64_t now_ms(void)
{
	return clock_ms++;
}

/* control.c: nobody is told. */
void gate_deny(uint32_t id, int err, const struct net_question *q, const struct rule *rule,
	       const char *fmt, ...)
{
	(void)id, (void)err, (void)q, (void)rule, (void)fmt;
}

void gate_used(const struct net_question *q, const struct rule *rule, bool tls_any)
{
	FUZZ_CHECK(q && rule);
	(void)tls_any;
}

const char *net_protocol_name(unsigned protocol)
{
	return protocol == NET_TCP ? "tcp" : "web";
}

static struct list asks = LIST_INIT(asks);
static unsigned nasks;

bool control_ask(struct ask *a, const struct net_question *q, const struct rule *rule)
{
	FUZZ_CHECK(q->method && q->path && rule->verdict == VERDICT_ASK && !a->id);
	if (nasks == 4)
		return false;
	a->id = ++nasks;
	list_init(&a->link);
	list_append(&asks, &a->link);
	return true;
}

void control_withdraw(struct ask *a)
{
	if (!a->id)
		return;
	a->id = 0;
	list_remove(&a->link);
	nasks--;
}

void control_decided(struct ask *a)
{
	control_withdraw(a);
}

bool answer_allows(const char *json, size_t n)
{
	return n && json[0] == 'y';
}

void opened_drop_server(struct opened *o)
{
	o->told[SERVER] = o->drop = false;
	o->ends[SERVER].eof = false;
	o->ends[SERVER].in.len = o->ends[SERVER].out.len = 0;
}

void opened_redial(struct opened *o)
{
	FUZZ_CHECK(!o->redial);
	opened_drop_server(o);
	o->redial = REDIAL_CONNECT;
}

/* ---- driving it ---- */

static struct policy other; /* that settings.policy is exchanged for */

static void opened_fuzz_init(const char *rules, const char *secret)
{
	struct err e = { 0 };

	ring_begin();
	policy_init(&settings.policy);
	FUZZ_CHECK(policy_parse(&settings.policy, rules, strlen(rules), "fuzz", 1, 1, &e) == 0);
	if (secret) {
		settings.secrets = secrets_new();
		FUZZ_CHECK(secrets_add(settings.secrets, secret, strlen(secret), &e) == 0);
	}
}

static void other_init(const char *rules)
{
	struct err e = { 0 };

	policy_init(&other);
	FUZZ_CHECK(policy_parse(&other, rules, strlen(rules), "fuzz", 1, 1, &e) == 0);
}

static void conn_begin(const struct protocol *p, bool tls)
{
	conn = calloc(1, sizeof(*conn));
	conn->ends[CLIENT].w.fd = conn->ends[SERVER].w.fd = -1;
	strcpy(conn->name, "a.org");
	conn->is_name = true;
	conn->port = tls ? 443 : 80;
	conn->tls = tls;
	conn->program = strdup("");
	conn->number = 7;
	conn->pid = 42;
	conn->state = OPENED_RUNS;
	conn->protocol = p;
	p->begin(conn);
}

static bool conn_runs(void)
{
	return !conn->dead && conn->state == OPENED_RUNS;
}

/* What was put is sent, as if both sides read all. */
static void conn_flush(void)
{
	if (conn_runs())
		conn->protocol->pull(conn);
	for (int side = CLIENT; side <= SERVER; side++) {
		struct end *s = &conn->ends[side];

		/* A reader is asked before, so no more than a piece and its heads is there. */
		FUZZ_CHECK(s->out.len < 8 * END_FULL);
		buf_add(&sent[side], s->out.p, s->out.len);
		s->out.len = 0;
	}
	ring_read(never_recorded);
}

/* Something that happens besides: an answer, a new policy, a server that is there again. */
static void conn_happen(unsigned what)
{
	if (conn->drop)
		opened_drop_server(conn);
	if (!conn_runs())
		return;
	if (conn->redial && (what & 1)) {
		conn->redial = REDIAL_NOT;
		conn->broken_status = what & 2 ? 502 : 0;
		conn->protocol->redialed(conn);
	} else if ((what & 4) && nasks) {
		struct ask *a = list_first(&asks, struct ask, link);

		control_withdraw(a);
		a->answered(a, what & 8 ? "y" : "n", 1);
	} else if ((what & 48) == 48) {
		struct policy p = settings.policy;

		settings.policy = other;
		other = p;
		conn->protocol->review(conn);
	}
	clock_ms += what & 64 ? 40000 : 0;
	conn_flush();
	FUZZ_CHECK(conn->holds == nasks);
}

static void conn_feed(enum side from, const uint8_t *p, size_t n)
{
	struct buf *in = &conn->ends[from].in;

	if (from == SERVER && conn->redial)
		return;
	buf_add(in, p, n);
	for (unsigned i = 0; i < 10000 && conn_runs() && in->len; i++) {
		size_t used;

		conn_flush();
		if (!conn_runs() || !conn->protocol->wants(conn, from))
			break;
		used = conn->protocol->take(conn, from, in->p, in->len);
		FUZZ_CHECK(used <= in->len);
		end_drop(in, used);
		if (!used)
			break;
	}
	conn_flush();
}

static void conn_eof(enum side from, bool clean)
{
	conn->ends[from].eof = true;
	conn->ends[from].clean = clean;
	if (!conn_runs() || conn->told[from])
		return;
	conn->told[from] = true;
	conn->protocol->ended(conn, from);
	conn_flush();
}

static void conn_end(void)
{
	conn->protocol->free(conn);
	ring_read(never_recorded);
	FUZZ_CHECK(!under_way);
	FUZZ_CHECK(!nasks && !conn->holds);
	for (int side = CLIENT; side <= SERVER; side++) {
		buf_free(&conn->ends[side].in);
		buf_free(&conn->ends[side].out);
		buf_free(&sent[side]);
	}
	free(conn->program);
	free(conn);
}

#endif
