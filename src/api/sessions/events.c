/* GET .../sessions/{session}/events: what happened in a session, in order, after an event's number
 * (eventstream.h), or over a WebSocket (socket.c). With follow it goes on with what comes. */
#include <stdlib.h>
#include <string.h>

#include "api/eventstream.h"
#include "api/routes.h"
#include "api/sessions/private.h"

struct reader {
	struct event_stream stream;
	struct session_watch watch;
	struct session *s; /* NULL: it was removed */
	uint64_t limit; /* so many more are given */
	bool follow;
};

static struct reader *reader_of(const struct event_stream *x)
{
	return container_of(x, struct reader, stream);
}

static char *reader_next(struct event_stream *x)
{
	struct reader *o = reader_of(x);
	char *line = o->s && o->limit ? session_event_next(o->s, &x->seq) : NULL;

	o->limit -= line != NULL;
	return line;
}

static bool reader_goes_on(const struct event_stream *x)
{
	const struct reader *o = reader_of(x);

	return o->follow && o->s && o->limit;
}

static void reader_end(struct event_stream *x)
{
	struct reader *o = reader_of(x);

	if (o->s)
		session_watch_remove(&o->watch);
}

static void reader_news(struct session_watch *w, bool gone)
{
	struct reader *o = container_of(w, struct reader, watch);

	if (gone)
		o->s = NULL;
	event_stream_wake(&o->stream);
}

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
	static const struct event_stream_ops ops = { .next = reader_next,
						     .goes_on = reader_goes_on,
						     .end = reader_end };
	struct session *s = request_session(r);
	uint64_t since = UINT64_MAX, limit = UINT64_MAX;
	struct reader *x;
	int64_t seq;
	bool follow;

	if (!s || !request_query_only(r, names) ||
	    !request_query_number(r, "since", INT64_MAX, &since) ||
	    !request_query_number(r, "limit", INT64_MAX, &limit) || !follow_read(r, &follow))
		return;
	seq = event_stream_since(r, since, 0);
	if (request_header(r, "Upgrade")) {
		session_events_socket(r, s, seq);
		return;
	}
	x = xalloc(sizeof(*x));
	x->s = s;
	x->limit = limit;
	x->follow = follow;
	x->stream.ops = &ops;
	x->stream.seq = seq;
	session_watch_add(s, &x->watch, reader_news);
	event_stream_start(&x->stream, r);
}
