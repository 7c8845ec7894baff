/* See fetch.h. */
#include "daemon/previews/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "daemon/cells/cells.h"
#include "daemon/previews/previews.h"
#include "gate/http.h"

#define INTERIM_MAX 16

struct fetch {
	uv_pipe_t pipe; /* first */
	uv_timer_t timer;
	uv_write_t write;
	struct daemon *d;
	unsigned refs;
	bool open, closing, bare, headed;
	struct buf out, in, body;
	size_t scanned;
	unsigned interims;
	struct dial *dial;
	struct head head;
	struct body framing;
	fetch_fn *fn;
	void *arg;
};

/* ---- the end ---- */

static void closed(uv_handle_t *h)
{
	struct fetch *x = h->data;

	if (--x->refs)
		return;
	buf_free(&x->out);
	buf_free(&x->in);
	buf_free(&x->body);
	head_fini(&x->head);
	body_fini(&x->framing);
	free(x);
}

void fetch_cancel(struct fetch *x)
{
	if (x->closing)
		return;
	x->closing = true;
	if (x->dial)
		dial_cancel(x->dial);
	if (x->open)
		uv_close((uv_handle_t *)&x->pipe, closed);
	uv_close((uv_handle_t *)&x->timer, closed);
}

static void failed(struct fetch *x, enum err_kind kind, const char *text)
{
	struct err e = { 0 };

	if (x->closing)
		return;
	err_set(&e, kind, "%s", text);
	fetch_cancel(x);
	x->fn(x->arg, NULL, &e);
}

/* What is not UTF-8 is ISO 8859-1, as in HTTP of old. */
static json_t *value_json(const char *v)
{
	json_t *text = json_string(v);
	struct buf b = { 0 };

	for (; !text && *v; v++) {
		const unsigned char c = (unsigned char)*v;
		const char two[2] = { (char)(0xc0 | c >> 6), (char)(0x80 | (c & 0x3f)) };

		buf_add(&b, c < 0x80 ? v : two, c < 0x80 ? 1 : 2);
	}
	if (!text)
		text = json_stringn((const char *)b.p, b.len);
	buf_free(&b);
	return text;
}

static json_t *headers_json(const struct head *h)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < h->n; i++)
		json_array_append_new(list, json_pack("[s,o]", h->fields[i].name,
						      value_json(h->fields[i].value)));
	return list;
}

static void done(struct fetch *x)
{
	struct fetch_response r = { .status = x->head.status,
				    .body = x->body.p,
				    .size = x->body.len };

	if (x->closing)
		return;
	fetch_cancel(x);
	r.headers = headers_json(&x->head);
	x->fn(x->arg, &r, NULL);
	json_decref(r.headers);
}

/* ---- the response ---- */

/* NULL, or what is wrong. */
static const char *head_take(struct fetch *x)
{
	const char *wrong;
	size_t n;

	while (!x->headed) {
		n = h1_head_end(x->in.p, x->in.len, &x->scanned, &wrong);
		if (wrong || !n)
			return wrong;
		head_fini(&x->head);
		wrong = h1_response_read(&x->head, x->in.p, n);
		if (!wrong)
			wrong = body_of_response(&x->framing, &x->head, x->bare);
		if (wrong)
			return wrong;
		if (x->head.status == 101 || ++x->interims > INTERIM_MAX)
			return "a wrong status";
		x->headed = x->head.status >= 200;
		memmove(x->in.p, x->in.p + n, x->in.len -= n);
		x->scanned = 0;
	}
	return NULL;
}

static void body_take(struct fetch *x, const uint8_t *p, size_t n)
{
	const uint8_t *data;
	size_t used, m;

	while (n && !x->framing.done && !x->framing.wrong) {
		used = body_step(&x->framing, p, n, &data, &m);
		if (m > FETCH_BODY_MAX - x->body.len) {
			failed(x, ERR_TOO_LARGE, "the response has more than 16 MiB");
			return;
		}
		buf_add(&x->body, data, m);
		p += used;
		n -= used;
		if (!used)
			break;
	}
	if (x->framing.wrong)
		failed(x, ERR_FAILED, "the program in the cell does not answer in HTTP");
	else if (x->framing.done)
		done(x);
}

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *b)
{
	static char room[65536];

	(void)h;
	(void)size;
	*b = uv_buf_init(room, sizeof(room));
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct fetch *x = (struct fetch *)s;

	if (x->closing || !n)
		return;
	if (n < 0) {
		if (x->headed && x->framing.kind == BODY_CLOSE)
			done(x);
		else
			failed(x, ERR_FAILED,
			       "the program in the cell closed the connection too early");
		return;
	}
	if (x->headed) {
		body_take(x, (const uint8_t *)b->base, (size_t)n);
		return;
	}
	buf_add(&x->in, b->base, (size_t)n);
	if (head_take(x)) {
		failed(x, ERR_FAILED, "the program in the cell does not answer in HTTP");
	} else if (x->headed) {
		if (x->framing.done)
			done(x);
		else
			body_take(x, x->in.p, x->in.len);
	}
}

/* ---- the request ---- */

static void written(uv_write_t *w, int status)
{
	(void)w;
	(void)status; /* it may answer without all of it */
}

static void dialed(void *arg, int fd, const struct err *e)
{
	struct fetch *x = arg;
	uv_buf_t b;

	x->dial = NULL;
	if (fd < 0) {
		struct err copy = *e;

		fetch_cancel(x);
		x->fn(x->arg, NULL, &copy);
		return;
	}
	uv_pipe_init(&x->d->loop, &x->pipe, 0);
	x->pipe.data = x;
	x->open = true;
	x->refs++;
	if (uv_pipe_open(&x->pipe, fd)) {
		close(fd);
		failed(x, ERR_OVERLOADED, "vivd has too much to do");
		return;
	}
	b = uv_buf_init((char *)x->out.p, (unsigned)x->out.len);
	uv_write(&x->write, (uv_stream_t *)&x->pipe, &b, 1, written);
	uv_read_start((uv_stream_t *)&x->pipe, on_alloc, on_read);
}

static void on_time(uv_timer_t *t)
{
	failed(t->data, ERR_FAILED, "the program in the cell does not answer in time");
}

static bool is_ours(const char *name)
{
	static const char *const names[] = { "content-length", "transfer-encoding",
					     "connection",     "upgrade",
					     "expect",	       "te",
					     "trailer",	       "keep-alive" };

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (!strcasecmp(name, names[i]))
			return true;
	return false;
}

static int head_make(struct fetch *x, const struct fetch_request *q, struct err *e)
{
	struct head h = { 0 };
	const char *name, *wrong = NULL;
	const json_t *value;
	char text[32];

	if (!is_token(q->method, strlen(q->method)) || strlen(q->method) > METHOD_MAX ||
	    !strcmp(q->method, "CONNECT"))
		return err_set(e, ERR_INVALID, "'method' is no method of HTTP that can be fetched");
	if (q->path[0] != '/' || strlen(q->path) > TARGET_MAX || strpbrk(q->path, " #") ||
	    !is_value(q->path, strlen(q->path)) || strchr(q->path, '\t'))
		return err_set(e, ERR_INVALID, "'path' begins with '/' and has no spaces");
	text_set(&h.method, q->method, strlen(q->method));
	text_set(&h.target, q->path, strlen(q->path));
	json_object_foreach((json_t *)(uintptr_t)q->headers, name, value) {
		const char *v = json_string_value(value);

		if (!wrong)
			wrong = is_ours(name) ? "is set by vivd"
					      : head_add(&h, name, strlen(name), v, strlen(v));
		if (wrong)
			err_set(e, ERR_INVALID, "'headers': '%.64s': %s", name, wrong);
	}
	snprintf(text, sizeof(text), "localhost:%u", q->port);
	if (!wrong && !head_find(&h, "host", NULL))
		wrong = head_add(&h, "Host", 4, text, strlen(text));
	snprintf(text, sizeof(text), "%zu", q->size);
	if (!wrong && (q->size || !strcmp(q->method, "POST") || !strcmp(q->method, "PUT")))
		wrong = head_add(&h, "Content-Length", 14, text, strlen(text));
	if (!wrong)
		wrong = head_add(&h, "Connection", 10, "close", 5);
	if (!wrong)
		h1_head_write(&h, &x->out);
	else if (!e->kind)
		err_set(e, ERR_INVALID, "'headers': %s", wrong);
	head_fini(&h);
	return wrong ? -1 : 0;
}

struct fetch *fetch_start(struct cell *c, const struct fetch_request *q, fetch_fn *fn, void *arg,
			  struct err *e)
{
	struct fetch *x = xalloc(sizeof(*x));

	x->d = c->d;
	x->fn = fn;
	x->arg = arg;
	x->bare = !strcmp(q->method, "HEAD");
	if (head_make(x, q, e) == 0) {
		buf_add(&x->out, q->body, q->size);
		x->dial = dial(c, q->port, dialed, x, e);
	}
	if (!x->dial) {
		buf_free(&x->out);
		free(x);
		return NULL;
	}
	uv_timer_init(&x->d->loop, &x->timer);
	x->timer.data = x;
	x->refs = 1;
	uv_timer_start(&x->timer, on_time, q->timeout_ms, 0);
	return x;
}
