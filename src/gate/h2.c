/* HTTP/2 on both sides of an opened connection; see open.h. nghttp2 reads and writes frames and
 * keeps the rules of the protocol; here each stream of the client gets one of the server.
 *
 * A peer is bounded by: windows (for bodies), HEAD_MAX (heads), the number of streams, of frames of
 * one head, of streams that it resets, and no more is read from it while it does not read. There is
 * no push, no CONNECT (so no WebSockets in HTTP/2: clients then use HTTP/1), and no other name than
 * that of the connection. */
#include "gate/h2.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

#define STREAMS 128 /* at once, of the client */
#define CONTINUATIONS_MAX 16
#define CHEAP_MAX 500 /* frames in CHEAP_MS */
#define CHEAP_MS 10000
#define QUEUE_MAX 1000 /* frames for a server that does not read */
#define STALE_MS 30000 /* a connection that was not used for so long may be gone */
#define WINDOW_ALL (64u << 20) /* of all connections, about */
#define WINDOW_MAX (8u << 20)
#define WINDOW_MIN (128u << 10)

static unsigned sessions;

/* ---- streams ---- */

static void stream_free(struct h2_stream *st)
{
	exchange_fini(&st->x);
	head_fini(&st->head);
	head_fini(&st->request);
	h2_flow_fini(&st->flows[CLIENT]);
	h2_flow_fini(&st->flows[SERVER]);
	list_remove(&st->link);
	st->h2->count--;
	free(st);
}

void h2_reset(struct h2_stream *st, enum side side, uint32_t code)
{
	nghttp2_session *s = st->h2->peers[side].session;

	if (!st->closed[side])
		(void)nghttp2_submit_rst_stream(s, NGHTTP2_FLAG_NONE, st->id[side], code);
}

void h2_go_away(struct h2 *h)
{
	nghttp2_session *s = h->peers[CLIENT].session;

	if (h->going)
		return;
	h->going = true;
	(void)nghttp2_submit_goaway(s, NGHTTP2_FLAG_NONE,
				    nghttp2_session_get_last_proc_stream_id(s), NGHTTP2_NO_ERROR,
				    NULL, 0);
}

static int on_stream_close(nghttp2_session *s, int32_t id, uint32_t code, void *arg)
{
	struct h2_peer *p = arg;
	struct h2_stream *st = nghttp2_session_get_stream_user_data(s, id);

	if (!st)
		return 0;
	st->closed[p->side] = true;
	nghttp2_session_set_stream_user_data(s, id, NULL);
	if (!st->closed[!p->side]) {
		if (p->side == CLIENT)
			h2_reset(st, SERVER, code ? code : NGHTTP2_CANCEL);
		else if (!st->local && (code != NGHTTP2_NO_ERROR || !st->flows[SERVER].ended))
			h2_reset(st, CLIENT, code ? code : NGHTTP2_INTERNAL_ERROR);
		/* What this side would have been sent will not be read. */
		h2_flow_drop(st, !p->side);
		return 0;
	}
	h2_flow_drop(st, CLIENT);
	h2_flow_drop(st, SERVER);
	stream_free(st);
	return 0;
}

/* ---- frames ---- */

/* Frames that cost their sender nothing: streams that are opened and reset again, pings, settings.
 * None of them is sent often by somebody who means well. */
static int cheap_count(struct h2_peer *p)
{
	int64_t now = now_ms();

	if (now - p->cheap_since > CHEAP_MS) {
		p->cheap_since = now;
		p->cheap = 0;
	}
	return ++p->cheap > CHEAP_MAX ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

static int on_begin_frame(nghttp2_session *s, const nghttp2_frame_hd *hd, void *arg)
{
	struct h2_peer *p = arg;

	(void)s;
	if (hd->type == NGHTTP2_CONTINUATION && ++p->continuations > CONTINUATIONS_MAX)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	/* Servers reset streams of requests that they answer early. */
	if ((hd->type == NGHTTP2_RST_STREAM && p->side == CLIENT) || hd->type == NGHTTP2_PING ||
	    hd->type == NGHTTP2_SETTINGS)
		return cheap_count(p);
	return 0;
}

static int on_frame(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct h2_peer *p = arg;
	struct h2_stream *st = nghttp2_session_get_stream_user_data(s, f->hd.stream_id);
	bool ended = f->hd.flags & NGHTTP2_FLAG_END_STREAM;

	switch (f->hd.type) {
	case NGHTTP2_HEADERS:
		if (st)
			h2_headers_done(p, st, ended);
		break;
	case NGHTTP2_DATA:
		if (st && ended && !(p->side == SERVER && st->local))
			h2_flow_end(st, p->side);
		break;
	case NGHTTP2_GOAWAY:
		if (p->side == SERVER) {
			p->h2->full = true;
			h2_go_away(p->h2);
		}
		break;
	}
	return 0;
}

static int on_frame_sent(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct h2_peer *p = arg;
	struct h2_stream *st;

	if (p->side != CLIENT || !(f->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
	    (f->hd.type != NGHTTP2_DATA && f->hd.type != NGHTTP2_HEADERS))
		return 0;
	st = nghttp2_session_get_stream_user_data(s, f->hd.stream_id);
	if (st)
		st->complete = true;
	return 0;
}

static int on_frame_not_sent(nghttp2_session *s, const nghttp2_frame *f, int why, void *arg)
{
	struct h2_peer *p = arg;
	struct h2_stream *st, *next;

	(void)why;
	if (p->side != SERVER || f->hd.type != NGHTTP2_HEADERS)
		return 0;
	/* A request that the server takes no more: the client may try again elsewhere. */
	list_for_each_safe(st, next, &p->h2->streams, link) {
		if (st->closed[SERVER] || st->id[SERVER] != f->hd.stream_id)
			continue;
		h2_reset(st, CLIENT, NGHTTP2_REFUSED_STREAM);
		/* If it was opened, on_stream_close() comes. */
		if (nghttp2_session_find_stream(s, f->hd.stream_id))
			continue;
		st->closed[SERVER] = true;
		if (st->closed[CLIENT])
			stream_free(st);
	}
	return 0;
}

/* ---- the sessions ---- */

static void callbacks_set(nghttp2_session_callbacks *c)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, h2_on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(c, h2_on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, h2_on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_close);
	nghttp2_session_callbacks_set_on_begin_frame_callback(c, on_begin_frame);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
	nghttp2_session_callbacks_set_on_frame_send_callback(c, on_frame_sent);
	nghttp2_session_callbacks_set_on_frame_not_send_callback(c, on_frame_not_sent);
}

/* Many connections have small windows, so that all together stay small. */
static unsigned window_of(void)
{
	return MAX(MIN(WINDOW_ALL / (sessions + 1), WINDOW_MAX), WINDOW_MIN);
}

static bool session_begin(struct h2_peer *p, nghttp2_session_callbacks *c, nghttp2_option *option)
{
	unsigned window = window_of();
	nghttp2_settings_entry settings_sent[] = {
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, MIN(window / 2, 1u << 20) },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEAD_MAX },
		{ p->side == CLIENT ? NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS
				    : NGHTTP2_SETTINGS_ENABLE_PUSH,
		  p->side == CLIENT ? STREAMS : 0 },
	};

	if ((p->side == CLIENT ? nghttp2_session_server_new2(&p->session, c, p, option)
			       : nghttp2_session_client_new2(&p->session, c, p, option)) < 0)
		return false;
	return nghttp2_submit_settings(p->session, NGHTTP2_FLAG_NONE, settings_sent,
				       ARRAY_LEN(settings_sent)) == 0 &&
	       nghttp2_session_set_local_window_size(p->session, NGHTTP2_FLAG_NONE, 0,
						     (int32_t)window) == 0;
}

static void peer_begin(struct h2 *h, enum side side)
{
	nghttp2_session_callbacks *c;
	nghttp2_option *option;

	if (nghttp2_session_callbacks_new(&c) < 0 || nghttp2_option_new(&option) < 0)
		log_die("out of memory");
	callbacks_set(c);
	nghttp2_option_set_no_auto_window_update(option, 1);
	nghttp2_option_set_peer_max_concurrent_streams(option, STREAMS);
	h->peers[side] = (struct h2_peer){ .h2 = h, .side = side };
	if ((side == CLIENT || !h->o->broken_status) && !session_begin(&h->peers[side], c, option))
		log_die("out of memory");
	nghttp2_session_callbacks_del(c);
	nghttp2_option_del(option);
}

static void h2_begin(struct opened *o)
{
	struct h2 *h = xalloc(sizeof(*h));

	h->o = o;
	list_init(&h->streams);
	o->session = h;
	peer_begin(h, CLIENT);
	peer_begin(h, SERVER);
	sessions++;
}

static void h2_free(struct opened *o)
{
	struct h2 *h = o->session;

	sessions--;
	/* Streams are not closed by this: nothing is called back. */
	nghttp2_session_del(h->peers[CLIENT].session);
	nghttp2_session_del(h->peers[SERVER].session);
	while (!list_is_empty(&h->streams))
		stream_free(list_first(&h->streams, struct h2_stream, link));
	free(h);
}

/* ---- requests that have waited ---- */

static void server_session_end(struct h2 *h)
{
	nghttp2_session_del(h->peers[SERVER].session);
	h->peers[SERVER].session = NULL;
}

/* Not from within nghttp2: the session may have to be another one. */
static void waiting_send(struct h2 *h)
{
	struct h2_stream *st, *next;
	bool used = false;
	int64_t since = INT64_MAX;

	list_for_each(st, &h->streams, link) {
		used |= !st->closed[SERVER];
		if (st->waits == WAITS_SERVER)
			since = MIN(since, st->x.since);
	}
	if (since == INT64_MAX || h->o->redial)
		return;
	if (!h->peers[SERVER].session || (!used && (h->full || now_ms() - since > STALE_MS))) {
		server_session_end(h);
		opened_redial(h->o);
		return;
	}
	/* Those that are under way end first. */
	if (h->full)
		return;
	list_for_each_safe(st, next, &h->streams, link)
		if (st->waits == WAITS_SERVER)
			h2_request_submit(st);
}

static void h2_redialed(struct opened *o)
{
	struct h2 *h = o->session;
	struct h2_stream *st, *next;
	struct refusal r;

	if (o->dead || o->state != OPENED_RUNS)
		return;
	h->full = false;
	peer_begin(h, SERVER);
	if (o->broken_status)
		refusal_server(o, &r);
	list_for_each_safe(st, next, &h->streams, link) {
		if (st->waits != WAITS_SERVER)
			continue;
		if (!o->broken_status) {
			h2_request_submit(st);
			continue;
		}
		st->waits = WAITS_NOT;
		head_fini(&st->request);
		h2_flow_drop(st, CLIENT);
		h2_refuse(st, &r);
	}
}

static void h2_decided(struct opened *o, struct exchange *x)
{
	(void)o;
	h2_request_pass(container_of(x, struct h2_stream, x));
}

static void h2_review(struct opened *o)
{
	struct h2 *h = o->session;
	struct h2_stream *st, *next;

	list_for_each_safe(st, next, &h->streams, link) {
		struct refusal r = { 0 };

		if (!exchange_review(&st->x, &st->request, &r))
			continue;
		if (!st->x.passed) {
			h2_request_pass(st);
			continue;
		}
		if (st->waits)
			h2_flow_drop(st, CLIENT);
		st->waits = WAITS_NOT;
		head_fini(&st->request);
		exchange_forget(&st->x);
		h2_reset(st, SERVER, NGHTTP2_CANCEL);
		if (st->answered)
			h2_reset(st, CLIENT, NGHTTP2_CANCEL);
		else
			h2_refuse(st, &r);
	}
}

static void h2_pull(struct opened *o)
{
	struct h2 *h = o->session;

	waiting_send(h);
	for (int side = CLIENT; side <= SERVER; side++) {
		nghttp2_session *s = h->peers[side].session;
		const uint8_t *p;
		ssize_t n = 1;

		while (s && !end_full(&o->ends[side]) && (n = nghttp2_session_mem_send(s, &p)) > 0)
			end_put(&o->ends[side], p, (size_t)n);
		if (n < 0) {
			opened_abort(o);
			return;
		}
	}
	if ((h->going && !h->count) || (!nghttp2_session_want_read(h->peers[CLIENT].session) &&
					!nghttp2_session_want_write(h->peers[CLIENT].session)))
		opened_end(o);
}

static size_t h2_take(struct opened *o, enum side from, const uint8_t *p, size_t n)
{
	struct h2 *h = o->session;
	ssize_t used = nghttp2_session_mem_recv(h->peers[from].session, p, n);

	if (used >= 0)
		return n;
	/* It breaks the rules, or a bound. */
	if (from == CLIENT)
		(void)nghttp2_session_terminate_session(h->peers[CLIENT].session,
							NGHTTP2_ENHANCE_YOUR_CALM);
	h2_pull(o);
	if (from == SERVER)
		opened_abort(o);
	else
		opened_end(o);
	return n;
}

static bool h2_wants(struct opened *o, enum side from)
{
	struct h2 *h = o->session;
	nghttp2_session *other = h->peers[!from].session;

	return h->peers[from].session && !end_full(&o->ends[from]) &&
	       (!other || nghttp2_session_get_outbound_queue_size(other) < QUEUE_MAX);
}

static void h2_ended(struct opened *o, enum side from)
{
	struct h2 *h = o->session;
	struct h2_stream *st, *next;
	struct refusal r;

	if (from == CLIENT) {
		list_is_empty(&h->streams) ? opened_end(o) : opened_abort(o);
		return;
	}
	refusal_set(&r, 502, "bad_gateway", "%s: the connection ended", o->name);
	server_session_end(h);
	list_for_each_safe(st, next, &h->streams, link) {
		if (st->closed[SERVER])
			continue;
		st->closed[SERVER] = true;
		if (st->closed[CLIENT])
			stream_free(st);
		else if (!st->answered)
			h2_refuse(st, &r);
		else if (!st->flows[SERVER].ended)
			h2_reset(st, CLIENT, NGHTTP2_INTERNAL_ERROR);
	}
	o->broken_status = 502;
	strcpy(o->broken, "the connection ended");
	o->drop = true;
	h2_go_away(h);
}

const struct protocol h2_protocol = { .begin = h2_begin,
				      .take = h2_take,
				      .wants = h2_wants,
				      .ended = h2_ended,
				      .pull = h2_pull,
				      .decided = h2_decided,
				      .review = h2_review,
				      .redialed = h2_redialed,
				      .free = h2_free };
