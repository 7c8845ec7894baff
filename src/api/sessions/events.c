/* GET .../sessions/{session}/events: what happened in a session, in order, after an event's number,
 * as lines of JSON, or as server-sent events where the client asks for text/event-stream, or over a
 * WebSocket (socket.c). With follow it goes on with what comes.
 *
 * Nothing is kept for a reader but a number; events are read from the database when there is room
 * for them. */
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "api/sessions/private.h"

#define PING_MS 15000

struct reader {
	struct session_watch watch;
	struct request *r;
	struct session *s; /* NULL: it was removed */
	int64_t seq; /* the last that was given */
	uint64_t limit; /* so many more are given */
	bool sse, follow, ping;
	char *rest; /* what did not fit; NULL: nothing */
	size_t rest_at, nrest;
	uv_timer_t timer;
};

/* The next text for the reader; NULL: none. */
static char *text_next(struct reader *x)
{
	char *line = x->s && x->limit ? session_event_next(x->s, &x->seq) : NULL, *text = NULL;
	int n;

	if (!line && x->ping) {
		x->ping = false;
		return strdup(x->sse ? ": ping\n\n" : "\n");
	}
	if (!line)
		return NULL;
	x->limit--;
	n = x->sse ? asprintf(&text, "id: %lld\ndata: %s\n\n", (long long)x->seq, line)
		   : asprintf(&text, "%s\n", line);
	free(line);
	return n < 0 ? NULL : text;
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
	return n || (x->follow && x->s && x->limit) ? (ssize_t)n : -1;
}

static void reader_news(struct session_watch *w, bool gone)
{
	struct reader *x = container_of(w, struct reader, watch);

	if (gone)
		x->s = NULL;
	request_wake(x->r);
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

	if (x->s)
		session_watch_remove(&x->watch);
	free(x->rest);
	uv_close((uv_handle_t *)&x->timer, reader_closed);
}

static const struct stream reader_stream = { .read = reader_read, .end = reader_end };

/* follow=true, as well as follow=1. False: answered. */
static bool follow_read(struct request *r, bool *ret)
{
	bool bad = false;
	char *text = request_query(r, "follow", &bad);

	*ret = text && (!strcmp(text, "true") || !strcmp(text, "1"));
	if (text && !*ret && strcmp(text, "false") && strcmp(text, "0")) {
		reply_error(r, ERR_INVALID, "'follow' is true or false");
		bad = true;
	}
	free(text);
	return !bad;
}

void session_events_get(struct request *r)
{
	static const char *const names[] = { "since", "follow", "limit", "ping", NULL };
	const char *accept = request_header(r, "Accept"),
		   *last = request_header(r, "Last-Event-ID");
	struct session *s = request_session(r);
	uint64_t since = UINT64_MAX, limit = UINT64_MAX;
	struct reader *x;
	bool follow;

	if (!s || !request_query_only(r, names) ||
	    !request_query_number(r, "since", INT64_MAX, &since) ||
	    !request_query_number(r, "limit", INT64_MAX, &limit) || !follow_read(r, &follow))
		return;
	/* What a browser says when it comes back. */
	if (since == UINT64_MAX)
		since = last && *last ? strtoull(last, NULL, 10) : 0;
	since = MIN(since, (uint64_t)INT64_MAX);
	if (request_header(r, "Upgrade")) {
		session_events_socket(r, s, (int64_t)since);
		return;
	}
	x = xalloc(sizeof(*x));
	x->r = r;
	x->s = s;
	x->seq = (int64_t)since;
	x->limit = limit;
	x->follow = follow;
	x->sse = accept && strstr(accept, "text/event-stream");
	uv_timer_init(&r->d->loop, &x->timer);
	x->timer.data = x;
	uv_timer_start(&x->timer, reader_ping, PING_MS, PING_MS);
	session_watch_add(s, &x->watch, reader_news);
	reply_stream(r, x->sse ? "text/event-stream" : "application/x-ndjson", &reader_stream, x);
}
