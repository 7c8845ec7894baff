/* An answer that is a stream of events: lines of JSON, or server-sent events where the client asks
 * for text/event-stream. Nothing is kept for a reader but a number; what it gets next is asked for
 * when there is room for it. A line without content, or a comment, shows every 15 seconds that the
 * stream lives. */
#ifndef VIV_API_EVENTSTREAM_H
#define VIV_API_EVENTSTREAM_H

#include <uv.h>

#include "base/base.h"

struct request;
struct event_stream;

struct event_stream_ops {
	/* The event after x->seq, as a line without its end, the caller's; sets x->seq. NULL: there
	 * is none now. */
	char *(*next)(struct event_stream *x);
	bool (*goes_on)(const struct event_stream *x); /* may there be one later? */
	void (*end)(struct event_stream *x); /* nobody reads any more; x is freed by free() later */
};

/* The first member of an allocated object. */
struct event_stream {
	const struct event_stream_ops *ops;
	struct request *r;
	int64_t seq; /* the last that was given */
	bool sse, ping;
	bool held; /* its reader is a cell, and too fast */
	char *rest; /* what did not fit; NULL: nothing */
	size_t rest_at, nrest;
	uv_timer_t timer;
};

/* The number to begin after: since, or where it is UINT64_MAX what a browser says when it comes
 * back (Last-Event-ID), or otherwise. */
int64_t event_stream_since(struct request *r, uint64_t since, int64_t otherwise);
/* Answers r with it. Takes x, whose ops and seq are set. */
void event_stream_start(struct event_stream *x, struct request *r);
/* There may be something new. */
void event_stream_wake(struct event_stream *x);

#endif
