/* HTTP/1 on both sides of an opened connection; see open.h.
 *
 * One exchange at a time: what a client sends ahead stays unread until the response is complete.
 * The head is read as a whole, checked and written anew; bodies go through piece by piece, each
 * piece as soon as it comes. After an accepted upgrade to WebSocket bytes pass both ways as they
 * are. A request that waits for the operator (hold.c) stays as it was read; its body is not read
 * before it may be sent. */
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "gate/record.h"

#define INTERIM_MAX 32 /* responses with a status of 1xx before the one that counts */
#define HEAD_MS 60000 /* for a head that has begun */
#define PIECE END_FULL /* what is put at once, at most about */

#define STALE_MS 30000 /* a connection that was not used for so long may be gone */

enum message { MSG_HEAD, MSG_HELD, MSG_BODY, MSG_DONE };

struct h1 {
	enum message request, response; /* response: counts from when a request was sent */
	bool asked; /* a request was sent */
	struct head q; /* the request, until it is sent */
	bool again; /* not the first of this connection */
	struct exchange x;
	struct body bodies[2]; /* by the side that sends it */
	bool chunked[2]; /* as it is sent on */
	size_t scanned[2];
	bool bare; /* HEAD */
	bool old; /* the client speaks HTTP/1.0 */
	bool close; /* after this exchange */
	char accept[BASE64_SIZE(SHA_DIGEST_LENGTH) + 1]; /* what a WebSocket answers; "": none */
	unsigned interim;
	bool tunnel;
	bool half[2]; /* tunnel: that side has ended */
	struct buf piece;
};

static void h1_begin(struct opened *o)
{
	o->session = xalloc(sizeof(struct h1));
}

static void exchange_clear(struct h1 *h)
{
	exchange_fini(&h->x);
	body_fini(&h->bodies[CLIENT]);
	body_fini(&h->bodies[SERVER]);
}

static void h1_free(struct opened *o)
{
	struct h1 *h = o->session;

	exchange_clear(h);
	head_fini(&h->q);
	buf_free(&h->piece);
	free(h);
}

/* ---- answers of the gate ---- */

static void field_put(struct head *h, const char *name, const char *value)
{
	(void)!head_add(h, name, strlen(name), value, strlen(value));
}

/* The request is answered here; it was not sent, or the connection to the server ends. */
static void refuse(struct opened *o, const struct refusal *r, bool end)
{
	struct h1 *h = o->session;
	struct head answer = { 0 };
	struct buf body = { 0 };

	h->x.record.status = r->status;
	record_response(&h->x);
	refusal_write(r, &answer, &body);
	if (end)
		field_put(&answer, "Connection", "close");
	h1_head_write(&answer, &o->ends[CLIENT].out);
	if (!h->bare)
		end_put(&o->ends[CLIENT], body.p, body.len);
	head_fini(&answer);
	buf_free(&body);
	if (end)
		opened_end(o);
}

static void client_wrong(struct opened *o, const char *wrong)
{
	struct h1 *h = o->session;
	struct refusal r;

	/* A part of a response was sent: there is no place for another. */
	if (h->asked && h->response != MSG_HEAD) {
		opened_abort(o);
		return;
	}
	refusal_set(&r, strstr(wrong, "too") ? 431 : 400, "bad_request", "%s", wrong);
	refuse(o, &r, true);
}

static void server_wrong(struct opened *o, const char *wrong)
{
	struct h1 *h = o->session;
	struct refusal r;

	if (h->tunnel || !h->asked || h->response != MSG_HEAD) {
		opened_abort(o);
		return;
	}
	refusal_set(&r, 502, "bad_gateway", "the response of %s cannot be used: %s", o->name,
		    wrong);
	refuse(o, &r, true);
}

/* ---- bodies ---- */

static void exchange_done(struct opened *o)
{
	struct h1 *h = o->session;

	if (h->response != MSG_DONE || !h->asked)
		return;
	if (h->request != MSG_DONE || h->close || o->told[SERVER]) {
		opened_end(o);
		return;
	}
	exchange_clear(h);
	h->request = h->response = MSG_HEAD;
	h->asked = h->bare = false;
	h->again = true;
	h->interim = 0;
}

static void body_end(struct opened *o, enum side from)
{
	struct h1 *h = o->session;
	struct end *to = &o->ends[!from];
	struct buf *lines = &h->bodies[from].trailers;
	struct head trailers = { 0 };
	const char *wrong = NULL;

	if (h->chunked[from]) {
		if (lines->len)
			wrong = h1_fields_read(&trailers, lines->p, lines->len);
		if (!wrong) {
			trailers_check(&trailers);
			if (from == SERVER)
				exchange_fields(&h->x, &trailers);
			end_put(to, "0\r\n", 3);
			h1_fields_write(&trailers, &to->out);
			end_put(to, "\r\n", 2);
		}
		head_fini(&trailers);
	}
	if (wrong) {
		from == CLIENT ? client_wrong(o, wrong) : opened_abort(o);
		return;
	}
	*(from == CLIENT ? &h->request : &h->response) = MSG_DONE;
	exchange_done(o);
}

/* Sends on what came out of a filter. r: the result of the pump. */
static void piece_send(struct opened *o, enum side from, int r, const struct err *e)
{
	struct h1 *h = o->session;

	if (r < 0) {
		from == CLIENT ? client_wrong(o, err_line(e).str) : opened_abort(o);
		return;
	}
	if (h->chunked[from] && !h->tunnel)
		chunk_write(&o->ends[!from].out, h->piece.p, h->piece.len);
	else
		end_put(&o->ends[!from], h->piece.p, h->piece.len);
	h->piece.len = 0;
	if (r && h->bodies[from].done && !h->tunnel)
		body_end(o, from);
}

static struct pump *pump_of(struct h1 *h, enum side from)
{
	return from == CLIENT ? &h->x.up : &h->x.down;
}

static void data_put(struct opened *o, enum side from, const uint8_t *p, size_t n, bool end)
{
	struct h1 *h = o->session;
	struct pump *pump = pump_of(h, from);
	struct err e = { 0 };
	int r = 1;

	*(from == CLIENT ? &h->x.record.out : &h->x.record.in) += n;
	if (end && from == SERVER)
		record_response(&h->x);
	if (pump->filter) {
		r = pump_put(pump, p, n, end, &h->piece, PIECE, &e);
		piece_send(o, from, r, &e);
		return;
	}
	if (h->chunked[from])
		chunk_write(&o->ends[!from].out, p, n);
	else if (from == CLIENT && o->redial)
		end_put(&o->ends[SERVER], p, n); /* whose TLS is not complete */
	else
		end_send(&o->ends[!from], p, n);
	if (end)
		body_end(o, from);
}

static size_t body_take(struct opened *o, enum side from, const uint8_t *p, size_t n)
{
	struct h1 *h = o->session;
	struct body *b = &h->bodies[from];
	size_t used = 0;

	while (used < n && !b->done && !end_full(&o->ends[!from]) && !pump_of(h, from)->busy) {
		const uint8_t *data;
		size_t ndata;

		used += body_step(b, p + used, n - used, &data, &ndata);
		if (b->wrong) {
			from == CLIENT ? client_wrong(o, b->wrong) : opened_abort(o);
			return n;
		}
		if (ndata || b->done)
			data_put(o, from, data, ndata, b->done);
	}
	return used;
}

/* ---- requests ---- */

/* Of a WebSocket: what the server must answer. */
static void upgrade_read(struct h1 *h, const struct head *q)
{
	static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	const char *key = head_find(q, "sec-websocket-key", NULL);
	const char *version = head_find(q, "sec-websocket-version", NULL);
	const char *to = head_find(q, "upgrade", NULL);
	uint8_t sum[SHA_DIGEST_LENGTH];
	char text[24 + sizeof(guid)];

	h->accept[0] = '\0';
	if (q->minor == 0 || strcmp(q->method, "GET") || !head_has(q, "connection", "upgrade") ||
	    !to || strcasecmp(to, "websocket") || !key || strlen(key) != 24 || !version ||
	    strcmp(version, "13"))
		return;
	memcpy(text, key, 24);
	memcpy(text + 24, guid, sizeof(guid));
	SHA1((const uint8_t *)text, strlen(text), sum);
	base64_encode(h->accept, sum, sizeof(sum));
	h->accept[sizeof(h->accept) - 1] = '\0';
}

static void request_send(struct opened *o, struct head *q)
{
	struct h1 *h = o->session;
	struct body *b = &h->bodies[CLIENT];

	h->chunked[CLIENT] = b->kind == BODY_CHUNKED || (b->kind == BODY_LENGTH && h->x.up.filter);
	if (h->chunked[CLIENT])
		field_put(q, "Transfer-Encoding", "chunked");
	if (h->accept[0]) {
		field_put(q, "Connection", "Upgrade");
		field_put(q, "Upgrade", "websocket");
	} else if (h->close) {
		field_put(q, "Connection", "close");
	}
	h1_head_write(q, &o->ends[SERVER].out);
	h->asked = true;
	h->request = b->done ? MSG_DONE : MSG_BODY;
}

/* An absolute target is a path with a Host from here on. */
static const char *host_put(struct head *q)
{
	unsigned hosts;

	(void)head_find(q, "host", &hosts);
	return q->authority && !hosts ? head_add(q, "Host", 4, q->authority, strlen(q->authority))
				      : NULL;
}

static void request_refuse(struct opened *o, const struct refusal *r)
{
	struct h1 *h = o->session;

	/* Without a server there is nothing to keep it for. */
	refuse(o, r,
	       !h->bodies[CLIENT].done || h->close || r->status == 400 ||
		       (h->x.since && (o->ends[SERVER].w.fd < 0 || o->redial)));
	exchange_clear(h);
	head_fini(&h->q);
	h->request = MSG_HEAD;
	h->bare = false;
}

static void request_pass(struct opened *o)
{
	struct h1 *h = o->session;
	struct refusal r;

	switch (exchange_request(&h->x, o, &h->q, !h->bodies[CLIENT].done, &r)) {
	case REQUEST_HELD:
		h->request = MSG_HELD;
		return;
	case REQUEST_REFUSED:
		request_refuse(o, &r);
		return;
	case REQUEST_PASSES:
		break;
	}
	if (h->x.since && (o->ends[SERVER].w.fd < 0 || now_ms() - h->x.since > STALE_MS)) {
		opened_redial(o);
		return;
	}
	request_send(o, &h->q);
	head_fini(&h->q);
}

static void h1_decided(struct opened *o, struct exchange *x)
{
	(void)x;
	request_pass(o);
}

static void h1_redialed(struct opened *o)
{
	struct h1 *h = o->session;
	struct refusal r;

	if (h->request != MSG_HELD || o->state != OPENED_RUNS || o->dead)
		return;
	if (o->broken_status) {
		refusal_server(o, &r);
		request_refuse(o, &r);
		return;
	}
	h->again = false;
	request_send(o, &h->q);
	head_fini(&h->q);
}

static void h1_review(struct opened *o)
{
	struct h1 *h = o->session;
	struct refusal r = { 0 };

	if (!exchange_review(&h->x, &h->q, &r))
		return;
	if (!h->x.passed)
		request_pass(o);
	else if (h->request == MSG_HELD)
		request_refuse(o, &r);
	else
		opened_abort(o);
}

static void request_take(struct opened *o, const uint8_t *p, size_t n)
{
	struct h1 *h = o->session;
	struct head *q = &h->q;
	const char *wrong = h1_request_read(q, p, n);

	if (!wrong)
		wrong = body_of_request(&h->bodies[CLIENT], q);
	if (!wrong)
		wrong = host_put(q);
	if (wrong) {
		client_wrong(o, wrong);
		head_fini(q);
		return;
	}
	h->bare = !strcmp(q->method, "HEAD");
	h->old = q->minor == 0;
	h->close = h->old || head_has(q, "connection", "close");
	upgrade_read(h, q);
	head_hops(q);
	if (!h->bodies[CLIENT].done)
		h->accept[0] = '\0';
	request_pass(o);
}

/* ---- responses ---- */

static void tunnel_begin(struct opened *o, struct head *a)
{
	struct h1 *h = o->session;
	const char *accept = head_find(a, "sec-websocket-accept", NULL);
	const char *to = head_find(a, "upgrade", NULL);
	struct err e = { 0 };

	if (!h->accept[0] || !to || strcasecmp(to, "websocket") ||
	    !head_has(a, "connection", "upgrade") || !accept || strcmp(accept, h->accept) ||
	    !exchange_tunnel(&h->x, &e)) {
		server_wrong(o, "it changes the protocol, which nobody asked for");
		return;
	}
	head_hops(a);
	head_remove(a, "content-length");
	exchange_fields(&h->x, a);
	field_put(a, "Connection", "Upgrade");
	field_put(a, "Upgrade", "websocket");
	h->x.record.status = a->status;
	h1_head_write(a, &o->ends[CLIENT].out);
	h->tunnel = true;
}

static void interim_send(struct opened *o, struct head *a)
{
	struct h1 *h = o->session;

	if (++h->interim > INTERIM_MAX) {
		server_wrong(o, "too many interim responses");
		return;
	}
	head_hops(a);
	head_remove(a, "content-length");
	head_remove(a, "transfer-encoding");
	exchange_fields(&h->x, a);
	if (!h->old)
		h1_head_write(a, &o->ends[CLIENT].out);
}

static void response_send(struct opened *o, struct head *a)
{
	struct h1 *h = o->session;
	struct body *b = &h->bodies[SERVER];
	const char *wrong = body_of_response(b, a, h->bare);
	struct err e = { 0 };
	struct err_line line;

	h->close |= head_has(a, "connection", "close") || a->minor == 0 || b->kind == BODY_CLOSE;
	head_hops(a);
	if (!wrong && !exchange_response(&h->x, a, !b->done, &e)) {
		line = err_line(&e);
		wrong = line.str;
	}
	if (wrong) {
		server_wrong(o, wrong);
		return;
	}
	if (a->status == 204)
		head_remove(a, "content-length");
	h->chunked[SERVER] = !b->done && !h->old && (b->kind != BODY_LENGTH || h->x.down.filter);
	if (h->chunked[SERVER])
		field_put(a, "Transfer-Encoding", "chunked");
	if (h->close)
		field_put(a, "Connection", "close");
	h->x.record.status = a->status;
	if (b->done)
		record_response(&h->x);
	h1_head_write(a, &o->ends[CLIENT].out);
	h->response = b->done ? MSG_DONE : MSG_BODY;
	exchange_done(o);
}

static void response_take(struct opened *o, const uint8_t *p, size_t n)
{
	struct head a = { 0 };
	const char *wrong = h1_response_read(&a, p, n);

	if (wrong)
		server_wrong(o, wrong);
	else if (a.status == 101)
		tunnel_begin(o, &a);
	else if (a.status < 200)
		interim_send(o, &a);
	else
		response_send(o, &a);
	head_fini(&a);
}

/* ---- the protocol ---- */

static size_t head_take(struct opened *o, enum side from, const uint8_t *p, size_t n)
{
	struct h1 *h = o->session;
	const char *wrong;
	size_t len;

	/* An empty line before a request, as some clients send after a body. */
	if (from == CLIENT && n >= 2 && !memcmp(p, "\r\n", 2)) {
		h->scanned[from] = 0;
		return 2;
	}
	len = h1_head_end(p, n, &h->scanned[from], &wrong);
	if (wrong) {
		from == CLIENT ? client_wrong(o, wrong) : server_wrong(o, wrong);
		return n;
	}
	if (!len) {
		if (!o->late.at)
			alarm_set(&o->late, HEAD_MS);
		return 0;
	}
	alarm_clear(&o->late);
	h->scanned[from] = 0;
	from == CLIENT ? request_take(o, p, len) : response_take(o, p, len);
	return len;
}

static size_t tunnel_take(struct opened *o, enum side from, const uint8_t *p, size_t n)
{
	data_put(o, from, p, n, false);
	return n;
}

static size_t h1_take(struct opened *o, enum side from, const uint8_t *p, size_t n)
{
	struct h1 *h = o->session;

	if (h->tunnel)
		return tunnel_take(o, from, p, n);
	if (from == SERVER && !h->asked) {
		/* It speaks without being asked: it will end the connection. */
		if (h->request == MSG_HELD)
			o->drop = true;
		else
			opened_end(o);
		return n;
	}
	switch (from == CLIENT ? h->request : h->response) {
	case MSG_HEAD:
		return head_take(o, from, p, n);
	case MSG_BODY:
		return body_take(o, from, p, n);
	case MSG_HELD:
	case MSG_DONE:
		break;
	}
	return 0;
}

static bool h1_wants(struct opened *o, enum side from)
{
	struct h1 *h = o->session;
	struct pump *pump = pump_of(h, from);

	if (pump->busy || pump->rest.len || pump->end)
		return false;
	/* What comes too early waits; that the client has gone is seen. */
	if (from == CLIENT && !h->tunnel && (h->request == MSG_DONE || h->request == MSG_HELD))
		return o->ends[CLIENT].in.len < HEAD_MAX;
	return !end_full(&o->ends[!from]);
}

static void h1_pull(struct opened *o)
{
	struct h1 *h = o->session;

	for (int from = CLIENT; from <= SERVER; from++) {
		struct pump *pump = pump_of(h, (enum side)from);
		struct err e = { 0 };
		int r;

		if ((pump->busy || pump->rest.len || pump->end) && !end_full(&o->ends[!from])) {
			r = pump_run(pump, &h->piece, PIECE, &e);
			piece_send(o, (enum side)from, r, &e);
		}
		if (o->dead || o->state != OPENED_RUNS)
			return;
		if (h->half[from] && !end_waiting(&o->ends[!from]))
			end_shut(&o->ends[!from]);
	}
	if (h->half[CLIENT] && h->half[SERVER])
		opened_end(o);
}

static void tunnel_ended(struct opened *o, enum side from)
{
	struct h1 *h = o->session;
	struct pump *pump = pump_of(h, from);
	struct err e = { 0 };

	h->half[from] = true;
	if (!o->ends[from].clean || o->gone)
		opened_abort(o);
	else if (pump->filter)
		piece_send(o, from, pump_put(pump, NULL, 0, true, &h->piece, PIECE, &e), &e);
}

static void server_ended(struct opened *o)
{
	struct h1 *h = o->session;

	if (!h->asked && h->request == MSG_HELD) {
		o->drop = true; /* there is another one when it is needed */
	} else if (!h->asked) {
		opened_end(o);
	} else if (h->response == MSG_HEAD) {
		/* It may have ended an idle connection just when it was used again: clients try
		 * once more when they see the end. */
		if (h->again && !o->ends[SERVER].in.len)
			opened_abort(o);
		else
			server_wrong(o, "the connection ended");
	} else if (h->response == MSG_BODY && h->bodies[SERVER].kind == BODY_CLOSE &&
		   o->ends[SERVER].clean) {
		h->bodies[SERVER].done = true;
		data_put(o, SERVER, NULL, 0, true);
	} else if (h->response == MSG_BODY) {
		opened_abort(o);
	}
}

static void h1_ended(struct opened *o, enum side from)
{
	struct h1 *h = o->session;

	if (h->tunnel) {
		tunnel_ended(o, from);
	} else if (from == SERVER) {
		server_ended(o);
	} else if (h->request == MSG_HEAD && !o->ends[CLIENT].in.len) {
		opened_end(o);
	} else if ((h->request != MSG_DONE &&
		    !(h->request == MSG_HELD && h->bodies[CLIENT].done)) ||
		   o->gone) {
		opened_abort(o);
	} else {
		h->close = true;
	}
}

const struct protocol h1_protocol = { .begin = h1_begin,
				      .take = h1_take,
				      .wants = h1_wants,
				      .ended = h1_ended,
				      .pull = h1_pull,
				      .decided = h1_decided,
				      .review = h1_review,
				      .redialed = h1_redialed,
				      .free = h1_free };
