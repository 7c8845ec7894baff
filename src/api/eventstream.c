/* See eventstream.h. */
#include "api/eventstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/caller.h"
#include "api/http/request.h"

/* So that proxies and clients see that the stream lives. */
#define PING_MS 15000

/* The next text for the reader; NULL: none. */
static char *text_next(struct event_stream *x)
{
	char *line = x->ops->next(x), *text = NULL;
	int n;

	if (!line && x->ping) {
		x->ping = false;
		return strdup(x->sse ? ": ping\n\n" : "\n");
	}
	if (!line)
		return NULL;
	n = x->sse ? asprintf(&text, "id: %lld\ndata: %s\n\n", (long long)x->seq, line)
		   : asprintf(&text, "%s\n", line);
	free(line);
	return n < 0 ? NULL : text;
}

static ssize_t stream_read(struct request *r, char *buf, size_t size)
{
	struct event_stream *x = r->arg;
	size_t n = 0;

	x->held = false;
	while (n < size) {
		size_t some;

		if (!x->rest) {
			x->held = !caller_looks(r);
			if (x->held)
				break;
			x->rest = text_next(x);
			x->rest_at = 0;
			x->nrest = x->rest ? strlen(x->rest) : 0;
		}
		if (!x->rest)
			break;
		some = MIN(size - n, x->nrest - x->rest_at);
		memcpy(buf + n, x->rest + x->rest_at, some);
		n += some;
		x->rest_at += some;
		if (x->rest_at == x->nrest) {
			free(x->rest);
			x->rest = NULL;
		}
	}
	return n || x->held || x->ops->goes_on(x) ? (ssize_t)n : -1;
}

static void on_ping(uv_timer_t *t)
{
	struct event_stream *x = t->data;

	x->ping = true;
	request_wake(x->r);
}

static void on_closed(uv_handle_t *h)
{
	free(h->data);
}

static void stream_end(struct request *r)
{
	struct event_stream *x = r->arg;

	x->ops->end(x);
	free(x->rest);
	uv_close((uv_handle_t *)&x->timer, on_closed);
}

int64_t event_stream_since(struct request *r, uint64_t since, int64_t otherwise)
{
	const char *last = request_header(r, "Last-Event-ID");

	if (since == UINT64_MAX && (!last || !*last))
		return otherwise;
	if (since == UINT64_MAX)
		since = strtoull(last, NULL, 10);
	return (int64_t)MIN(since, (uint64_t)INT64_MAX);
}

void event_stream_start(struct event_stream *x, struct request *r)
{
	static const struct stream stream = { .read = stream_read, .end = stream_end };
	const char *accept = request_header(r, "Accept");

	x->r = r;
	x->sse = accept && strstr(accept, "text/event-stream");
	uv_timer_init(&r->d->loop, &x->timer);
	x->timer.data = x;
	uv_timer_start(&x->timer, on_ping, PING_MS, PING_MS);
	reply_stream(r, x->sse ? "text/event-stream" : "application/x-ndjson", &stream, x);
}

void event_stream_wake(struct event_stream *x)
{
	request_wake(x->r);
}
