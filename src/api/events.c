/* GET /v1/events: what happened, in order, from an event on (eventstream.h). Without 'since' it
 * begins with what comes next; with follow=0 it ends with the newest. When what a reader asks for
 * is not kept any more, the first line says so: {"type":"gap","from":..,"to":..}. */
#include "api/eventstream.h"
#include "api/routes.h"
#include "daemon/state/events.h"

struct reader {
	struct event_stream stream;
	struct event_watch watch;
	bool follow;
};

static struct reader *reader_of(const struct event_stream *x)
{
	return container_of(x, struct reader, stream);
}

static char *reader_next(struct event_stream *x)
{
	return x->r->rights.family ? event_next_family(x->r->d, &x->seq, x->r->rights.cell)
				   : event_next(x->r->d, &x->seq, x->r->rights.cell);
}

static bool reader_goes_on(const struct event_stream *x)
{
	return reader_of(x)->follow;
}

static void reader_end(struct event_stream *x)
{
	event_watch_remove(&reader_of(x)->watch);
}

static void reader_news(struct event_watch *w)
{
	event_stream_wake(&container_of(w, struct reader, watch)->stream);
}

void events_get(struct request *r)
{
	static const char *const names[] = { "since", "follow", NULL };
	static const struct event_stream_ops ops = { .next = reader_next,
						     .goes_on = reader_goes_on,
						     .end = reader_end };
	uint64_t since = UINT64_MAX, follow = 1;
	struct reader *x;

	if (!request_query_only(r, names) || !request_query_number(r, "since", INT64_MAX, &since) ||
	    !request_query_number(r, "follow", 1, &follow))
		return;
	x = xalloc(sizeof(*x));
	x->follow = follow;
	x->stream.ops = &ops;
	x->stream.seq = event_stream_since(r, since, events_last(r->d));
	event_watch_add(r->d, &x->watch, reader_news);
	event_stream_start(&x->stream, r);
}
