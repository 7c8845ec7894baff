/* GET /v1/events: what happened, in order, from an event on: as lines of JSON, or as server-sent
 * events where the client asks for text/event-stream. Without 'since' it begins with what comes
 * next; with follow=0 it ends with the newest. When what a reader asks for is not kept any more,
 * the first line says so: {"type":"gap","from":..,"to":..}.
 *
 * Nothing is kept for a reader but a number; events are read from the database when there is room
 * for them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "daemon/state/events.h"

/* So that proxies and clients see that the stream lives. */
#define PING_MS 15000

struct reader {
	struct event_watch watch;
	struct request *r;
	int64_t seq; /* the last that was given */
	bool sse, follow, ping;
	char *rest; /* what did not fit; NULL: nothing */
	size_t rest_at;
	uv_timer_t timer;
};

static char *sse_line(const char *json, int64_t seq)
{
	char *text = NULL;

	if (asprintf(&text, "id: %lld\ndata: %s\n\n", (long long)seq, json) < 0)
		return NULL;
	return text;
}

/* The next text for the reader; NULL: none. */
static char *text_next(struct reader *x)
{
	char *line = event_next(x->r->d, &x->seq, x->r->rights.cell), *text;

	if (!line && x->ping) {
		x->ping = false;
		return strdup(x->sse ? ": ping\n\n" : "\n");
	}
	if (!line)
		return NULL;
	if (x->sse) {
		text = sse_line(line, x->seq);
		free(line);
		return text;
	}
	text = realloc(line, strlen(line) + 2);
	return text ? strcat(text, "\n") : NULL;
}

static ssize_t reader_read(struct request *r, char *buf, size_t size)
{
	struct reader *x = r->arg;
	size_t n = 0;

	while (n < size) {
		size_t some;

		if (!x->rest) {
			x->rest = text_next(x);
			x->rest_at = 0;
		}
		if (!x->rest)
			break;
		some = MIN(size - n, strlen(x->rest) - x->rest_at);
		memcpy(buf + n, x->rest + x->rest_at, some);
		n += some;
		x->rest_at += some;
		if (!x->rest[x->rest_at]) {
			free(x->rest);
			x->rest = NULL;
		}
	}
	return n || x->follow ? (ssize_t)n : -1;
}

static void reader_news(struct event_watch *w)
{
	request_wake(container_of(w, struct reader, watch)->r);
}

static void reader_ping(uv_timer_t *t)
{
	struct reader *x = t->data;

	x->ping = true;
	request_wake(x->r);
}

static void reader_closed(uv_handle_t *h)
{
	free(h->data);
}

static void reader_end(struct request *r)
{
	struct reader *x = r->arg;

	event_watch_remove(&x->watch);
	free(x->rest);
	uv_close((uv_handle_t *)&x->timer, reader_closed);
}

static const struct stream reader_stream = { .read = reader_read, .end = reader_end };

/* The number to begin after, and whether to stay. False: answered. */
static bool options_read(struct request *r, int64_t *seq, bool *follow)
{
	static const char *const names[] = { "since", "follow", NULL };
	const char *last = request_header(r, "Last-Event-ID");
	uint64_t since = UINT64_MAX, stay = 1;

	if (!request_query_only(r, names) || !request_query_number(r, "since", INT64_MAX, &since) ||
	    !request_query_number(r, "follow", 1, &stay))
		return false;
	/* What a browser says when it comes back. */
	if (since == UINT64_MAX && last && *last)
		since = strtoull(last, NULL, 10);
	*seq = since == UINT64_MAX ? events_last(r->d) : (int64_t)MIN(since, (uint64_t)INT64_MAX);
	*follow = stay;
	return true;
}

void events_get(struct request *r)
{
	const char *accept = request_header(r, "Accept");
	struct reader *x;
	int64_t seq;
	bool follow;

	if (!options_read(r, &seq, &follow))
		return;
	x = xalloc(sizeof(*x));
	x->r = r;
	x->seq = seq;
	x->follow = follow;
	x->sse = accept && strstr(accept, "text/event-stream");
	uv_timer_init(&r->d->loop, &x->timer);
	x->timer.data = x;
	uv_timer_start(&x->timer, reader_ping, PING_MS, PING_MS);
	event_watch_add(r->d, &x->watch, reader_news);
	reply_stream(r, x->sse ? "text/event-stream" : "application/x-ndjson", &reader_stream, x);
}
