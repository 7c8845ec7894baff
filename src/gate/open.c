/* See open.h: a pair of ends, and bytes that go from one to the other through a protocol. */
#include "gate/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "gate/record.h"

#define HANDSHAKE_MS 30000
#define SEND_MS 60000 /* for a client that does not read the last of what it gets */
#define LINGER_MS 2000 /* for what a client still sends when it was answered already */
#define ROUNDS 4 /* before others get their turn */
#define READ_SIZE (WIRE_SIZE + RECORD_MAX) /* with what was left of a record before */
#define IN_MAX (HEAD_MAX + READ_SIZE)

static struct list all = LIST_INIT(all);
static unsigned count;
static uint8_t scratch[READ_SIZE];

static void opened_run(struct opened *o);

static void opened_free(struct opened *o)
{
	if (o->session)
		o->protocol->free(o);
	redial_fini(o);
	end_fini(&o->ends[CLIENT]);
	end_fini(&o->ends[SERVER]);
	alarm_clear(&o->late);
	alarm_clear(&o->again);
	list_remove(&o->link);
	count--;
	free(o->program);
	free(o);
}

void opened_abort(struct opened *o)
{
	o->dead = true;
}

void opened_end(struct opened *o)
{
	if (o->state == OPENED_ENDS)
		return;
	o->state = OPENED_ENDS;
	alarm_set(&o->late, SEND_MS);
}

/* ---- beginning ---- */

static void client_begin(struct opened *o)
{
	struct end *c = &o->ends[CLIENT];
	struct err e = { 0 };

	o->state = OPENED_CLIENT;
	alarm_set(&o->late, HANDSHAKE_MS);
	c->offer = o->broken_status ? 0 : end_is_http2(&o->ends[SERVER]) ? 'h' : '1';
	if (end_tls_server(c, o->name, &e) < 0) {
		log_warn("%s", err_line(&e).str);
		opened_abort(o);
	}
}

static void protocol_begin(struct opened *o)
{
	alarm_clear(&o->late);
	o->state = OPENED_RUNS;
	o->protocol = end_is_http2(&o->ends[CLIENT]) ? &h2_protocol : &h1_protocol;
	o->protocol->begin(o);
}

static bool handshake_run(struct opened *o)
{
	struct err e = { 0 };
	int r;

	if (o->state == OPENED_SERVER) {
		r = end_handshake(&o->ends[SERVER], &e);
		if (r < 0)
			server_broken(o, 502, err_line(&e).str);
		if (r)
			client_begin(o);
		return r != 0;
	}
	r = end_handshake(&o->ends[CLIENT], &e);
	if (r < 0)
		opened_abort(o);
	else if (r)
		protocol_begin(o);
	return r != 0;
}

/* ---- running ---- */

/* What is there already, then what can be read. */
static bool side_run(struct opened *o, enum side side)
{
	struct end *s = &o->ends[side];
	size_t n = 0, used;
	bool moved = false;

	if (!o->protocol->wants(o, side))
		return false;
	if (s->in.len) {
		used = o->protocol->take(o, side, s->in.p, s->in.len);
		end_drop(&s->in, used);
		moved = used > 0;
		if (o->dead || o->state != OPENED_RUNS || !o->protocol->wants(o, side))
			return moved;
	}
	if (s->in.len < IN_MAX && !s->blocked)
		n = end_read(s, scratch, sizeof(scratch));
	if (n) {
		used = s->in.len ? 0 : o->protocol->take(o, side, scratch, n);
		buf_add(&s->in, scratch + used, n - used);
		return true;
	}
	if (s->eof && !moved && !o->told[side]) {
		o->told[side] = true;
		o->protocol->ended(o, side);
		return true;
	}
	return moved;
}

static bool running(struct opened *o)
{
	return !o->dead && o->state == OPENED_RUNS;
}

/* Is more for this side there to be read at once? Then less than a record waits for it. */
static bool side_is_fed(struct opened *o, enum side side)
{
	enum side from = (enum side)(SERVER - side);
	struct end *s = &o->ends[from];

	return running(o) && s->w.fd >= 0 && !(from == SERVER && o->redial) && !s->blocked &&
	       !s->eof && s->in.len < IN_MAX && o->protocol->wants(o, from);
}

/* True: there was no room for more, and now there is. */
static bool side_flush(struct opened *o, enum side side)
{
	struct end *s = &o->ends[side];
	bool full = end_full(s);

	/* Before its TLS is complete nothing may go to it. */
	if (side == SERVER && o->redial)
		return false;
	end_flush(s, !side_is_fed(o, side));
	return full && !end_full(s);
}

static bool round_run(struct opened *o)
{
	bool moved = false;

	for (int side = CLIENT; side <= SERVER; side++) {
		if (running(o) && o->ends[side].w.fd >= 0 && (side == CLIENT || !o->redial))
			moved |= side_run(o, (enum side)side);
		if (o->drop)
			opened_drop_server(o);
		if (running(o))
			o->protocol->pull(o);
		moved |= side_flush(o, (enum side)(SERVER - side));
		moved |= side_flush(o, (enum side)side);
	}
	/* A server that cannot be written to may have answered. */
	if (o->ends[CLIENT].broken)
		opened_abort(o);
	return moved;
}

/* Sends the rest, then waits for the client to see it: closing at once would take it away. */
static bool ending_run(struct opened *o)
{
	struct end *c = &o->ends[CLIENT];

	redial_fini(o);
	end_fini(&o->ends[SERVER]);
	end_flush(c, true);
	if (c->broken) {
		opened_abort(o);
		return false;
	}
	if (end_waiting(c))
		return false;
	if (!c->shut) {
		end_shut(c);
		alarm_set(&o->late, LINGER_MS);
	}
	if (end_read(c, scratch, sizeof(scratch)))
		return true;
	if (c->eof)
		opened_abort(o);
	return false;
}

static uint32_t events_of(struct opened *o, enum side side)
{
	struct end *s = &o->ends[side];
	bool send = end_waiting(s) && !s->shut && (s->stuck || !side_is_fed(o, side));
	uint32_t out = send ? EPOLLOUT : 0;

	switch (o->state) {
	case OPENED_SERVER:
	case OPENED_CLIENT:
		if ((int)o->state != (int)(side == SERVER ? OPENED_SERVER : OPENED_CLIENT))
			return 0;
		return s->wants_write ? EPOLLOUT : EPOLLIN;
	case OPENED_RUNS:
		if (s->w.fd < 0)
			return 0;
		if (side == SERVER && o->redial)
			return o->redial == REDIAL_CONNECT || s->wants_write ? EPOLLOUT : EPOLLIN;
		if (o->protocol->wants(o, side) && !s->eof && s->in.len < IN_MAX) {
			out |= s->wants_write ? EPOLLOUT : EPOLLIN;
			/* There may be more that epoll knows nothing of. */
			if (!s->blocked)
				alarm_set(&o->again, 0);
		}
		break;
	case OPENED_ENDS:
		out |= side == CLIENT && s->shut ? EPOLLIN : 0;
	}
	/* That it closes its end is seen in any case. */
	return out ? out : side == CLIENT ? (uint32_t)EPOLLET : 0;
}

static void opened_run(struct opened *o)
{
	bool moved = true;

	if (o->state == OPENED_RUNS && o->redial)
		redial_run(o);
	for (unsigned i = 0; i < ROUNDS && moved && !o->dead; i++)
		moved = o->state < OPENED_RUNS	  ? handshake_run(o)
			: o->state == OPENED_RUNS ? round_run(o)
						  : ending_run(o);
	if (o->dead) {
		opened_free(o);
		return;
	}
	watch_set(&o->ends[CLIENT].w, events_of(o, CLIENT));
	watch_set(&o->ends[SERVER].w, events_of(o, SERVER));
	if (moved)
		alarm_set(&o->again, 0);
}

static void client_ready(struct watch *w, uint32_t events)
{
	struct opened *o = container_of(w, struct opened, ends[CLIENT].w);

	end_ready(&o->ends[CLIENT]);
	if (events & (EPOLLHUP | EPOLLERR)) {
		o->gone = true;
		if (o->ends[CLIENT].eof || o->state < OPENED_RUNS || o->holds)
			o->dead = true;
	}
	opened_run(o);
}

void server_ready(struct watch *w, uint32_t events)
{
	struct opened *o = container_of(w, struct opened, ends[SERVER].w);

	(void)events;
	end_ready(&o->ends[SERVER]);
	opened_run(o);
}

static void opened_again(struct alarm *a)
{
	opened_run(container_of(a, struct opened, again));
}

static void opened_late(struct alarm *a)
{
	struct opened *o = container_of(a, struct opened, late);

	if (o->state == OPENED_SERVER) {
		server_broken(o, 504, "TLS with the server takes too long");
		client_begin(o);
	} else {
		opened_abort(o);
	}
	opened_run(o);
}

bool opened_new(const struct opened_options *x)
{
	struct opened *o = count < OPENED_MAX ? calloc(1, sizeof(*o)) : NULL;
	struct err e = { 0 };

	if (!o) {
		close(x->server);
		close(x->client);
		return false;
	}
	count++;
	list_append(&all, &o->link);
	snprintf(o->name, sizeof(o->name), "%s", x->name ? x->name : ip_text(x->addr).str);
	o->is_name = x->name != NULL;
	o->addr = *x->addr;
	o->port = x->port;
	o->program = xstrndup(x->program, strlen(x->program));
	o->number = x->number;
	o->pid = x->pid;
	o->tls = x->tls;
	o->http2 = x->http2;
	o->approved = x->approved;
	o->late.run = opened_late;
	o->again.run = opened_again;
	o->ends[CLIENT].w = (struct watch){ .fd = x->client, .ready = client_ready };
	o->ends[SERVER].w = (struct watch){ .fd = x->server, .ready = server_ready };
	o->state = OPENED_SERVER;
	alarm_set(&o->late, HANDSHAKE_MS);
	if (!o->tls)
		protocol_begin(o);
	else if (end_tls_client(&o->ends[SERVER], o->name, o->http2, &e) < 0) {
		server_broken(o, 502, err_line(&e).str);
		client_begin(o);
	}
	alarm_set(&o->again, 0);
	return true;
}

void opened_finish(void)
{
	struct opened *o, *next;

	list_for_each_safe(o, next, &all, link)
		opened_free(o);
}

/* ---- changes of the policy ---- */

bool opened_may_reach(const struct opened *o, const struct ip *a)
{
	const struct policy *p = &settings.policy;

	return policy_address(p, a, o->port, NET_WEB).verdict == VERDICT_ALLOW ||
	       policy_address(p, a, o->port, NET_TCP).verdict == VERDICT_ALLOW;
}

/* Can there be a request that is not denied? */
static bool connection_stands(const struct opened *o, struct net_question *q,
			      const struct rule **ret_rule)
{
	struct decision web, any;

	q->protocol = NET_TCP;
	any = policy_net(&settings.policy, q);
	q->protocol = NET_WEB;
	web = policy_net(&settings.policy, q);
	*ret_rule = web.rule ? web.rule : any.rule;
	return (web.opened || web.verdict != VERDICT_DENY || any.verdict != VERDICT_DENY) &&
	       (!o->is_name || opened_may_reach(o, &o->addr));
}

static bool policies_agree(const struct policy *old, struct net_question *q)
{
	bool same;

	q->protocol = NET_TCP;
	same = policy_same(old, &settings.policy, q);
	q->protocol = NET_WEB;
	return same && policy_same(old, &settings.policy, q);
}

void opened_review(const struct policy *old)
{
	struct opened *o;

	list_for_each(o, &all, link) {
		struct net_question q = { .name = o->is_name ? o->name : NULL,
					  .addr = &o->addr,
					  .port = o->port,
					  .program = o->program };
		const struct rule *rule;

		if (!connection_stands(o, &q, &rule)) {
			gate_deny(0, 0, &q, rule,
				  "the policy has changed: the connection to %s was ended",
				  o->name);
			record_denial(o->pid, &q, rule,
				      "the policy has changed: the connection was ended");
			opened_abort(o);
		} else if (o->state == OPENED_RUNS && !policies_agree(old, &q)) {
			o->protocol->review(o);
		} else {
			continue;
		}
		alarm_set(&o->again, 0); /* which frees it, if it is dead */
	}
}
