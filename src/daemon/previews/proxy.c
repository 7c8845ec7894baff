/* A browser's connection to a preview: one request after the other, each with a stream of its own
 * into the cell.
 *
 * Heads are read whole and written anew (gate/http.h); bodies are streams, whose framing is made
 * anew as well, so that nobody sees another message than we do. A WebSocket becomes a tunnel. What
 * one side does not take stops the reading of the other. The cell and the browser's pages are
 * hostile: heads are bounded, and so is how long they take; what follows the head of a response may
 * take any time, and ends with the preview. */
#include "daemon/previews/proxy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "daemon/cells/cells.h"
#include "gate/http.h"

#define CONNS_MAX 1024
#define CONNS_EACH 256 /* of one preview */
#define HIGH 262144u /* bytes that wait for one side before the other is no longer read */
#define IN_MAX (HEAD_MAX + 65536u) /* of a browser that says more than is asked for */
#define READ_SIZE 65536u
#define IDLE_MS 60000
#define HEAD_MS 10000
#define ANSWER_MS 300000
#define LAST_MS 2000
#define INTERIM_MAX 16

enum conn_state {
	CONN_HEAD, /* of a request is awaited */
	CONN_DIAL,
	CONN_FORWARD,
	CONN_TUNNEL,
	CONN_LAST, /* all is said; what the browser still says is dropped */
};

struct side { /* the stream into the cell, of one request */
	uv_pipe_t pipe; /* first */
	struct conn *c;
	bool ended;
};

struct conn {
	uv_tcp_t client; /* first */
	uv_timer_t timer;
	struct list link;
	struct daemon *d;
	unsigned refs; /* handles that are not closed yet */
	bool closing, ended; /* ended: the browser says no more */
	enum conn_state state;
	struct buf in; /* of the browser's, not used yet */
	size_t scanned;
	/* the request */
	struct head req;
	struct target target;
	struct preview preview;
	struct body body;
	bool keep, bare, null_origin, expects, upgrades;
	struct dial *dial;
	struct side *cell;
	/* the response */
	struct buf from;
	size_t from_scanned;
	bool answered, chunks;
	unsigned interims;
	struct body answer;
};

static struct list conns = LIST_INIT(conns);
static unsigned nconns;
static char room[READ_SIZE]; /* what is read is used at once */

static void flow(struct conn *c);
static void step(struct conn *c);

/* ---- ends ---- */

static void conn_put(struct conn *c)
{
	if (--c->refs)
		return;
	buf_free(&c->in);
	buf_free(&c->from);
	head_fini(&c->req);
	target_fini(&c->target);
	body_fini(&c->body);
	body_fini(&c->answer);
	free(c);
}

static void handle_closed(uv_handle_t *h)
{
	conn_put(h->data);
}

static void side_closed(uv_handle_t *h)
{
	struct side *s = (struct side *)h;

	conn_put(s->c);
	free(s);
}

static void cell_close(struct conn *c)
{
	if (c->dial)
		dial_cancel(c->dial);
	c->dial = NULL;
	if (c->cell)
		uv_close((uv_handle_t *)&c->cell->pipe, side_closed);
	c->cell = NULL;
}

static void conn_close(struct conn *c)
{
	if (c->closing)
		return;
	c->closing = true;
	cell_close(c);
	list_remove(&c->link);
	nconns--;
	uv_close((uv_handle_t *)&c->client, handle_closed);
	uv_close((uv_handle_t *)&c->timer, handle_closed);
}

void conns_close(const char *id, int64_t past)
{
	struct conn *c, *tmp;

	list_for_each_safe(c, tmp, &conns, link)
		if (!id || (c->preview.id[0] &&
			    (!strcmp(c->preview.id, id) || c->preview.expires <= past)))
			conn_close(c);
}

unsigned conns_count(void)
{
	return nconns;
}

/* ---- writing ---- */

struct out {
	uv_write_t w; /* first */
	struct conn *c;
	struct side *cell; /* NULL: to the browser */
	char bytes[];
};

static void written(uv_write_t *w, int status)
{
	struct out *o = (struct out *)w;
	struct conn *c = o->c;
	/* A cell that does not want the rest of a request may still answer it; one of a request
	 * before does not matter. */
	bool bearable = o->cell && (o->cell != c->cell || c->state == CONN_FORWARD);

	free(o);
	if (c->closing)
		return;
	if (status < 0 && !bearable)
		conn_close(c);
	else
		flow(c);
}

static void put(struct conn *c, struct side *cell, const void *p, size_t n)
{
	struct out *o;
	uv_buf_t b;

	if (!n || c->closing)
		return;
	o = xalloc(sizeof(*o) + n);
	o->c = c;
	o->cell = cell;
	memcpy(o->bytes, p, n);
	b = uv_buf_init(o->bytes, (unsigned)n);
	if (uv_write(&o->w, cell ? (uv_stream_t *)&cell->pipe : (uv_stream_t *)&c->client, &b, 1,
		     written)) {
		free(o);
		if (!cell)
			conn_close(c);
	}
}

static void put_text(struct conn *c, const char *text)
{
	put(c, NULL, text, strlen(text));
}

/* Part of a body, in the framing that the other side was told of. */
static void put_body(struct conn *c, struct side *cell, bool chunks, const uint8_t *p, size_t n)
{
	struct buf b = { 0 };

	if (!chunks) {
		put(c, cell, p, n);
		return;
	}
	chunk_write(&b, p, n);
	put(c, cell, b.p, b.len);
	buf_free(&b);
}

static void timer_set(struct conn *c, uint64_t ms);

static void shut(uv_shutdown_t *s, int status)
{
	(void)status;
	free(s);
}

static void half_close(uv_stream_t *to)
{
	uv_shutdown_t *s = xalloc(sizeof(*s));

	if (uv_shutdown(s, to, shut))
		free(s);
}

/* Everything is said. Who still writes when the connection is closed may never see it. */
static void last(struct conn *c)
{
	cell_close(c);
	if (c->closing)
		return;
	c->state = CONN_LAST;
	c->in.len = 0;
	half_close((uv_stream_t *)&c->client);
	timer_set(c, LAST_MS);
	if (c->ended)
		conn_close(c);
	else
		flow(c);
}

/* ---- pages of our own ---- */

static void escape(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '<' || *text == '>' || *text == '&' || *text == '"') {
			char code[8];

			snprintf(code, sizeof(code), "&#%d;", *text);
			buf_add_text(b, code);
		} else {
			buf_add(b, text, 1);
		}
	}
}

static void page(struct conn *c, unsigned status, const char *reason, const char *text)
{
	struct buf body = { 0 }, head = { 0 };
	char line[256];

	buf_add_text(&body, "<!doctype html><meta charset=utf-8><title>");
	buf_add_text(&body, reason);
	buf_add_text(&body, "</title><h1>");
	buf_add_text(&body, reason);
	buf_add_text(&body, "</h1><p>");
	escape(&body, text);
	buf_add_text(&body, "\n");
	snprintf(line, sizeof(line), "HTTP/1.1 %u %s\r\nContent-Length: %zu\r\n", status, reason,
		 body.len);
	buf_add_text(&head, line);
	buf_add_text(&head, "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n"
			    "Content-Security-Policy: default-src 'none'; sandbox\r\n"
			    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
			    "Connection: close\r\n\r\n");
	if (!c->bare)
		buf_add(&head, body.p, body.len);
	put(c, NULL, head.p, head.len);
	buf_free(&head);
	buf_free(&body);
	last(c);
}

static void bad_gateway(struct conn *c, const char *text)
{
	page(c, 502, "Bad Gateway", text);
}

/* To the same place without the token, which is a cookie from then on. */
static void redirect(struct conn *c)
{
	struct buf b = { 0 };
	char cookie[256];

	buf_add_text(&b, "HTTP/1.1 303 See Other\r\nLocation: http://");
	buf_add_text(&b, c->target.host);
	buf_add_text(&b, c->target.rest);
	if (c->target.form == TARGET_HOST) {
		snprintf(cookie, sizeof(cookie),
			 "\r\nSet-Cookie: " PREVIEW_COOKIE
			 "=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict",
			 c->target.token,
			 (long long)((c->preview.expires - time_now()) / NSEC_PER_SEC + 1));
		buf_add_text(&b, cookie);
	}
	buf_add_text(&b, "\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
			 "Content-Length: 0\r\nConnection: close\r\n\r\n");
	put(c, NULL, b.p, b.len);
	buf_free(&b);
	last(c);
}

/* ---- the response ---- */

static void request_reset(struct conn *c)
{
	cell_close(c);
	head_fini(&c->req);
	target_fini(&c->target);
	body_fini(&c->body);
	body_fini(&c->answer);
	c->preview = (struct preview){ 0 };
	c->from.len = c->from_scanned = c->scanned = 0;
	c->answered = c->chunks = c->bare = c->upgrades = c->expects = false;
	c->interims = 0;
	c->state = CONN_HEAD;
	timer_set(c, c->in.len ? HEAD_MS : IDLE_MS);
}

static void response_done(struct conn *c)
{
	if (c->chunks)
		put_text(c, "0\r\n\r\n");
	if (!c->keep || !c->body.done) {
		last(c);
		return;
	}
	request_reset(c);
	step(c);
}

static void body_from_cell(struct conn *c, const uint8_t *p, size_t n)
{
	const uint8_t *data;
	size_t used, m;

	while (n && !c->closing && !c->answer.done && !c->answer.wrong) {
		used = body_step(&c->answer, p, n, &data, &m);
		put_body(c, NULL, c->chunks, data, m);
		p += used;
		n -= used;
		if (!used)
			break;
	}
	if (c->closing)
		return;
	if (c->answer.wrong)
		conn_close(c); /* the browser sees that it is not whole */
	else if (c->answer.done)
		response_done(c);
}

static void tunnel_begin(struct conn *c, struct head *h)
{
	struct buf b = { 0 };

	head_to_browser(h, &c->target, c->preview.port, false);
	(void)!head_add(h, "Connection", 10, "Upgrade", 7);
	(void)!head_add(h, "Upgrade", 7, "websocket", 9);
	h1_head_write(h, &b);
	put(c, NULL, b.p, b.len);
	buf_free(&b);
	c->state = CONN_TUNNEL;
	timer_set(c, 0);
	put(c, c->cell, c->in.p, c->in.len);
	c->in.len = 0;
}

static void response_begin(struct conn *c, struct head *h)
{
	struct buf b = { 0 };
	bool whole = c->answer.kind == BODY_LENGTH || c->answer.kind == BODY_NONE;

	head_to_browser(h, &c->target, c->preview.port, c->null_origin);
	c->chunks = !whole && c->req.minor;
	c->keep = c->keep && (whole || c->chunks);
	if (c->chunks)
		(void)!head_add(h, "Transfer-Encoding", 17, "chunked", 7);
	(void)!head_add(h, "Connection", 10, c->keep ? "keep-alive" : "close", c->keep ? 10 : 5);
	h1_head_write(h, &b);
	put(c, NULL, b.p, b.len);
	buf_free(&b);
	c->answered = true;
	timer_set(c, 0);
}

/* One head of a response, if it is there. False: it is not, or that was all. */
static bool head_from_cell(struct conn *c)
{
	const char *wrong;
	size_t n = h1_head_end(c->from.p, c->from.len, &c->from_scanned, &wrong);
	struct head h = { 0 };
	bool more = false;

	if (!n && !wrong)
		return false;
	if (!wrong)
		wrong = h1_response_read(&h, c->from.p, n);
	if (!wrong && h.status != 101)
		wrong = body_of_response(&c->answer, &h, c->bare);
	if (!wrong && h.status == 101 && !c->upgrades)
		wrong = "it changes the protocol unasked";
	if (!wrong && h.status < 200 && h.status != 101 && ++c->interims > INTERIM_MAX)
		wrong = "too many interim responses";
	if (wrong) {
		bad_gateway(c, "The program in the cell does not answer in HTTP.");
		head_fini(&h);
		return false;
	}
	memmove(c->from.p, c->from.p + n, c->from.len -= n);
	c->from_scanned = 0;
	if (h.status == 101)
		tunnel_begin(c, &h);
	else if (h.status >= 200)
		response_begin(c, &h);
	else
		more = true;
	head_fini(&h);
	return more;
}

static void from_cell(struct conn *c, const uint8_t *p, size_t n)
{
	if (c->state == CONN_TUNNEL) {
		put(c, NULL, p, n);
		return;
	}
	if (c->answered) {
		body_from_cell(c, p, n);
		return;
	}
	buf_add(&c->from, p, n);
	while (head_from_cell(c))
		;
	if (c->closing || c->state == CONN_LAST || (!c->answered && c->state != CONN_TUNNEL))
		return;
	if (c->state == CONN_TUNNEL) {
		put(c, NULL, c->from.p, c->from.len);
	} else if (c->answer.done) {
		response_done(c);
	} else {
		struct buf rest = c->from;

		c->from = (struct buf){ 0 };
		body_from_cell(c, rest.p, rest.len);
		buf_free(&rest);
	}
}

static void cell_ended(struct conn *c)
{
	c->cell->ended = true;
	if (c->state == CONN_TUNNEL) {
		half_close((uv_stream_t *)&c->client);
		if (c->ended)
			conn_close(c);
	} else if (!c->answered) {
		bad_gateway(c, "The program in the cell closed the connection without an answer.");
	} else if (c->answer.kind == BODY_CLOSE) {
		response_done(c);
	} else {
		conn_close(c);
	}
}

/* ---- the request ---- */

static void body_to_cell(struct conn *c)
{
	const uint8_t *data;
	size_t at = 0, m, used;

	while (at < c->in.len && !c->body.done && !c->body.wrong) {
		used = body_step(&c->body, c->in.p + at, c->in.len - at, &data, &m);
		put_body(c, c->cell, c->body.kind == BODY_CHUNKED, data, m);
		at += used;
		if (!used)
			break;
	}
	if (c->in.len)
		memmove(c->in.p, c->in.p + at, c->in.len -= at);
	if (c->body.wrong) {
		conn_close(c);
		return;
	}
	if (at && c->body.done && c->body.kind == BODY_CHUNKED)
		put(c, c->cell, "0\r\n\r\n", 5);
}

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *b)
{
	(void)h;
	(void)size;
	*b = uv_buf_init(room, sizeof(room));
}

static void on_cell(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct side *side = (struct side *)s;
	struct conn *c = side->c;

	if (c->closing || c->cell != side || !n)
		return;
	if (n < 0) {
		uv_read_stop(s);
		cell_ended(c);
	} else {
		from_cell(c, (const uint8_t *)b->base, (size_t)n);
	}
	if (!c->closing)
		flow(c);
}

static void dialed(void *arg, int fd, const struct err *e)
{
	struct conn *c = arg;
	struct side *s;
	struct buf b = { 0 };

	c->dial = NULL;
	if (fd < 0) {
		if (e->kind == ERR_NOT_FOUND)
			bad_gateway(c, "No program in the cell listens at this port. Start one, "
				       "and load this page again.");
		else
			page(c, 503, "Service Unavailable", err_line(e).str);
		return;
	}
	s = xalloc(sizeof(*s));
	s->c = c;
	uv_pipe_init(&c->d->loop, &s->pipe, 0);
	c->refs++;
	c->cell = s;
	if (uv_pipe_open(&s->pipe, fd)) {
		close(fd);
		page(c, 503, "Service Unavailable", "vivd has too much to do.");
		return;
	}
	c->state = CONN_FORWARD;
	timer_set(c, ANSWER_MS);
	h1_head_write(&c->req, &b);
	put(c, s, b.p, b.len);
	buf_free(&b);
	if (c->expects && c->req.minor && !c->body.done)
		put_text(c, "HTTP/1.1 100 Continue\r\n\r\n");
	body_to_cell(c);
	if (!c->closing)
		flow(c);
}

/* The preview that was asked for, if it may be seen. False: answered. */
static bool preview_take(struct conn *c)
{
	const struct target *t = &c->target;
	struct preview p;
	struct conn *o;
	unsigned n = 0;

	if (!t->token[0] || !preview_check(c->d, t->token, &p) ||
	    (t->form == TARGET_HOST && (strcmp(p.id, t->id) || p.port != t->port))) {
		page(c, 403, "Forbidden",
		     t->token[0] ? "This preview has ended, or its address is wrong."
				 : "Open the whole address of the preview, with its token.");
		return false;
	}
	list_for_each(o, &conns, link)
		n += !strcmp(o->preview.id, p.id);
	if (n >= CONNS_EACH) {
		page(c, 503, "Service Unavailable", "This preview has too many connections.");
		return false;
	}
	c->preview = p;
	return true;
}

/* What it says about the connection, before that is taken away. */
static void hops_note(struct conn *c)
{
	const struct head *h = &c->req;
	const char *upgrade = head_find(h, "upgrade", NULL), *origin = head_find(h, "origin", NULL);

	c->keep = h->minor && !head_has(h, "connection", "close");
	c->bare = !strcmp(h->method, "HEAD");
	c->null_origin = origin && !strcmp(origin, "null");
	c->expects = head_has(h, "expect", "100-continue");
	c->upgrades = h->minor && upgrade && !strcasecmp(upgrade, "websocket") &&
		      head_has(h, "connection", "upgrade") && !strcmp(h->method, "GET");
}

static void request_begin(struct conn *c)
{
	struct cell *cell;
	const char *wrong;
	struct err e = { 0 };

	wrong = body_of_request(&c->body, &c->req);
	if (wrong) {
		page(c, 400, "Bad Request", wrong);
		return;
	}
	hops_note(c);
	wrong = target_read(&c->target, &c->req);
	if (wrong) {
		page(c, 404, "Not Found", wrong);
		return;
	}
	if (!preview_take(c))
		return;
	if (c->target.in_query) {
		redirect(c);
		return;
	}
	cell = cell_by_id(c->d, c->preview.cell);
	if (!cell) {
		page(c, 404, "Not Found", "The cell was removed.");
		return;
	}
	head_to_cell(&c->req, &c->target, c->preview.port, c->upgrades ? "websocket" : NULL);
	if (c->body.kind == BODY_CHUNKED)
		(void)!head_add(&c->req, "Transfer-Encoding", 17, "chunked", 7);
	c->state = CONN_DIAL;
	timer_set(c, HEAD_MS);
	c->dial = dial(cell, c->preview.port, dialed, c, &e);
	if (!c->dial)
		page(c, 503, "Service Unavailable", err_line(&e).str);
}

/* Goes on with what the browser has said. */
static void step(struct conn *c)
{
	const char *wrong;
	size_t n;

	if (c->state == CONN_FORWARD)
		body_to_cell(c);
	if (c->state != CONN_HEAD || !c->in.len || c->closing)
		return;
	n = h1_head_end(c->in.p, c->in.len, &c->scanned, &wrong);
	if (!n && !wrong)
		return;
	if (!wrong)
		wrong = h1_request_read(&c->req, c->in.p, n);
	if (wrong) {
		page(c, 400, "Bad Request", wrong);
		return;
	}
	memmove(c->in.p, c->in.p + n, c->in.len -= n);
	request_begin(c);
}

static void client_ended(struct conn *c)
{
	c->ended = true;
	if (c->state != CONN_TUNNEL || !c->cell) {
		conn_close(c);
		return;
	}
	half_close((uv_stream_t *)&c->cell->pipe);
	if (c->cell->ended)
		conn_close(c);
}

static void on_client(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct conn *c = (struct conn *)s;

	if (c->closing || !n)
		return;
	if (n < 0) {
		uv_read_stop(s);
		client_ended(c);
	} else if (c->state == CONN_TUNNEL) {
		put(c, c->cell, b->base, (size_t)n);
	} else if (c->state != CONN_LAST) {
		if (c->state == CONN_HEAD && !c->in.len)
			timer_set(c, HEAD_MS);
		buf_add(&c->in, b->base, (size_t)n);
		step(c);
	}
	if (!c->closing)
		flow(c);
}

/* ---- what is read ---- */

static bool is_full(uv_stream_t *s)
{
	return uv_stream_get_write_queue_size(s) >= HIGH;
}

static void flow(struct conn *c)
{
	uv_stream_t *client = (uv_stream_t *)&c->client,
		    *cell = c->cell ? (uv_stream_t *)&c->cell->pipe : NULL;

	if (!c->ended && c->in.len < IN_MAX && c->state != CONN_DIAL && !(cell && is_full(cell)))
		uv_read_start(client, on_alloc, on_client);
	else
		uv_read_stop(client);
	if (!cell || c->cell->ended)
		return;
	if (is_full(client))
		uv_read_stop(cell);
	else
		uv_read_start(cell, on_alloc, on_cell);
}

static void on_time(uv_timer_t *t)
{
	struct conn *c = t->data;

	if (c->state == CONN_HEAD && c->in.len)
		page(c, 408, "Request Timeout", "The request did not come in time.");
	else if (c->state == CONN_DIAL || c->state == CONN_FORWARD)
		page(c, 504, "Gateway Timeout", "The cell does not answer.");
	else
		conn_close(c);
}

static void timer_set(struct conn *c, uint64_t ms)
{
	if (c->closing)
		return;
	if (ms)
		uv_timer_start(&c->timer, on_time, ms, 0);
	else
		uv_timer_stop(&c->timer);
}

void conn_accept(struct daemon *d, uv_stream_t *listener)
{
	struct conn *c = xalloc(sizeof(*c));

	c->d = d;
	list_init(&c->link);
	list_append(&conns, &c->link);
	nconns++;
	uv_tcp_init(&d->loop, &c->client);
	uv_timer_init(&d->loop, &c->timer);
	c->client.data = c->timer.data = c;
	c->refs = 2;
	if (uv_accept(listener, (uv_stream_t *)&c->client) || nconns > CONNS_MAX) {
		conn_close(c);
		return;
	}
	uv_tcp_nodelay(&c->client, 1);
	uv_tcp_keepalive(&c->client, 1, 60);
	timer_set(c, HEAD_MS);
	flow(c);
}
