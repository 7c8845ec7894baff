/* Bodies of HTTP/2: what one side sends is kept until nghttp2 asks for it for the other side, and
 * only then given back to the sender's window. So what is kept is bounded by the windows, and a
 * slow reader stops the sender. */
#include <stdlib.h>
#include <string.h>

#include "gate/h2.h"
#include "gate/record.h"

#define FLOW_LIMIT 65536u /* what a filter makes at once */
#define KEEP_MAX 16384u
#define UNWANTED_MAX (1u << 20)
#define LENT_MAX (16u << 20) /* of all bodies that wait with their requests */

static size_t lent_all;

static struct pump *pump_of(struct h2_stream *st, enum side from)
{
	return from == CLIENT ? &st->x.up : &st->x.down;
}

static bool pump_is_idle(const struct pump *p)
{
	return !p->busy && !p->rest.len && !p->end;
}

void h2_flow_fini(struct h2_flow *f)
{
	lent_all -= f->lent;
	f->lent = 0;
	buf_free(&f->data);
	head_fini(&f->trailers);
}

/* The sender may send as much again. */
static void give_back(struct h2_stream *st, enum side from, size_t n)
{
	nghttp2_session *s = st->h2->peers[from].session;
	size_t lent = MIN(n, st->flows[from].lent);

	st->flows[from].raw -= n;
	st->flows[from].lent -= lent;
	lent_all -= lent;
	n -= lent;
	if (s && lent && !st->closed[from])
		(void)nghttp2_session_consume_stream(s, st->id[from], lent);
	/* The connection's part counts when the stream is gone, too. */
	if (!s || !n)
		return;
	if (st->closed[from])
		(void)nghttp2_session_consume_connection(s, n);
	else
		(void)nghttp2_session_consume(s, st->id[from], n);
}

void h2_flow_drop(struct h2_stream *st, enum side from)
{
	struct h2_flow *f = &st->flows[from];

	give_back(st, from, f->raw);
	buf_free(&f->data);
	f->at = 0;
}

/* Other streams can go on while this one waits: the window of the connection is theirs. */
static void lend(struct h2_stream *st, nghttp2_session *s, size_t n)
{
	if (!st->waits || n > LENT_MAX - lent_all)
		return;
	lent_all += n;
	st->flows[CLIENT].lent += n;
	(void)nghttp2_session_consume_connection(s, n);
}

void h2_flow_refilter(struct h2_stream *st)
{
	struct h2_flow *f = &st->flows[CLIENT];

	if (!st->x.up.filter)
		return;
	buf_add(&st->x.up.rest, f->data.p, f->data.len);
	st->x.up.end = f->ended;
	f->data.len = f->at = 0;
}

static void resume(struct h2_stream *st, enum side from)
{
	struct h2_flow *f = &st->flows[from];
	struct h2_peer *to = &st->h2->peers[!from];

	if (f->deferred && !st->closed[!from]) {
		f->deferred = false;
		(void)nghttp2_session_resume_data(to->session, st->id[!from]);
	}
}

int h2_on_data(nghttp2_session *s, uint8_t flags, int32_t id, const uint8_t *p, size_t n, void *arg)
{
	struct h2_peer *from = arg;
	struct h2_stream *st = nghttp2_session_get_stream_user_data(s, id);
	struct err e = { 0 };

	(void)flags;
	/* Nobody wants it any more. If the answer is complete before the request is, the client
	 * need not send the rest; but some take an end of the stream for a failure, so that it
	 * comes only if there is much of it. */
	if (!st || (st->closed[!from->side] && !(from->side == CLIENT && st->waits)) ||
	    (from->side == SERVER && st->local)) {
		(void)nghttp2_session_consume(s, id, n);
		if (st && st->complete && from->side == CLIENT &&
		    (st->unwanted += n) > UNWANTED_MAX)
			h2_reset(st, CLIENT, NGHTTP2_NO_ERROR);
		return 0;
	}
	*(from->side == CLIENT ? &st->x.record.out : &st->x.record.in) += n;
	st->flows[from->side].raw += n;
	/* What was sent makes room, also if never all of it is. */
	if (st->flows[from->side].at > st->flows[from->side].data.len / 2) {
		end_drop(&st->flows[from->side].data, st->flows[from->side].at);
		st->flows[from->side].at = 0;
	}
	if (pump_put(pump_of(st, from->side), p, n, false, &st->flows[from->side].data, FLOW_LIMIT,
		     &e) < 0) {
		h2_reset(st, CLIENT, NGHTTP2_INTERNAL_ERROR);
		h2_reset(st, SERVER, NGHTTP2_CANCEL);
		return 0;
	}
	if (from->side == CLIENT)
		lend(st, s, n);
	resume(st, from->side);
	return 0;
}

void h2_flow_end(struct h2_stream *st, enum side from)
{
	struct pump *pump = pump_of(st, from);

	if (st->flows[from].ended)
		return;
	st->flows[from].ended = true;
	if (from == SERVER)
		record_response(&st->x);
	if (pump->filter)
		pump->end = true;
	resume(st, from);
}

/* With padding and the frame's head a copy is needed anyway. */
static ssize_t flow_read(nghttp2_session *s, int32_t id, uint8_t *p, size_t n, uint32_t *flags,
			 nghttp2_data_source *source, void *arg)
{
	struct h2_peer *to = arg;
	struct h2_stream *st = source->ptr;
	enum side from = !to->side;
	struct h2_flow *f = &st->flows[from];
	struct pump *pump = pump_of(st, from);
	struct err e = { 0 };

	(void)s;
	(void)id;
	if (f->at == f->data.len) {
		f->at = f->data.len = 0;
		if (pump->filter && pump_run(pump, &f->data, FLOW_LIMIT, &e) < 0)
			return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	n = MIN(n, f->data.len - f->at);
	if (n)
		memcpy(p, f->data.p + f->at, n);
	f->at += n;
	/* What a filter makes has another length: its input is given back when all is used. */
	if (!pump->filter)
		give_back(st, from, MIN(n, f->raw));
	else if (f->at == f->data.len && pump_is_idle(pump))
		give_back(st, from, f->raw);
	if (f->at < f->data.len)
		return (ssize_t)n;
	if (f->data.cap > KEEP_MAX && !n)
		buf_free(&f->data), f->at = 0;
	if (f->ended && pump_is_idle(pump)) {
		*flags |= NGHTTP2_DATA_FLAG_EOF;
		if (f->trailers.n) {
			*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
			if (h2_trailers_submit(st, to->side, &f->trailers) < 0)
				return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
		}
		return (ssize_t)n;
	}
	if (!n)
		f->deferred = true;
	return n ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
}

nghttp2_data_provider h2_provider(struct h2_stream *st)
{
	return (nghttp2_data_provider){ .source.ptr = st, .read_callback = flow_read };
}
