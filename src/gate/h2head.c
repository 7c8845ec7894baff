/* Heads of HTTP/2. nghttp2 has checked their form (lower-case names, pseudo headers, nothing that
 * belongs to one connection); what they mean is checked as that of HTTP/1 is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/h2.h"
#include "gate/record.h"

#define INTERIM_MAX 32
#define STREAMS_MAX 512u /* with those that are being ended */

/* ---- reading ---- */

static struct h2_stream *stream_new(struct h2_peer *p, int32_t id)
{
	struct h2_stream *st;

	if (p->h2->count >= STREAMS_MAX)
		return NULL;
	st = xalloc(sizeof(*st));
	st->h2 = p->h2;
	st->id[CLIENT] = id;
	st->closed[SERVER] = true;
	p->h2->count++;
	list_append(&p->h2->streams, &st->link);
	nghttp2_session_set_stream_user_data(p->session, id, st);
	return st;
}

int h2_on_begin_headers(nghttp2_session *s, const nghttp2_frame *f, void *arg)
{
	struct h2_peer *p = arg;
	struct h2_stream *st;

	p->continuations = 0;
	if (f->hd.type != NGHTTP2_HEADERS)
		return 0;
	if (p->side == CLIENT && f->headers.cat == NGHTTP2_HCAT_REQUEST)
		st = stream_new(p, f->hd.stream_id);
	else
		st = nghttp2_session_get_stream_user_data(s, f->hd.stream_id);
	if (!st)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	head_fini(&st->head);
	st->wrong = NULL;
	return 0;
}

int h2_on_header(nghttp2_session *s, const nghttp2_frame *f, const uint8_t *name, size_t nname,
		 const uint8_t *value, size_t nvalue, uint8_t flags, void *arg)
{
	struct h2_stream *st = nghttp2_session_get_stream_user_data(s, f->hd.stream_id);
	struct head *h = st ? &st->head : NULL;
	char **to;

	(void)flags;
	(void)arg;
	if (!st || st->wrong)
		return 0;
	if (!nname || name[0] != ':') {
		st->wrong = head_add(h, name, nname, value, nvalue);
		return 0;
	}
	h->size += nvalue;
	if (h->size > HEAD_MAX || !is_value((const char *)value, nvalue)) {
		st->wrong = "a wrong head";
		return 0;
	}
	to = nname == 7 && !memcmp(name, ":method", 7)	      ? &h->method
	     : nname == 7 && !memcmp(name, ":scheme", 7)      ? &h->scheme
	     : nname == 5 && !memcmp(name, ":path", 5)	      ? &h->target
	     : nname == 10 && !memcmp(name, ":authority", 10) ? &h->authority
							      : NULL;
	if (to)
		text_set(to, value, nvalue);
	else if (nname == 7 && !memcmp(name, ":status", 7) && nvalue == 3)
		h->status = (unsigned)(value[0] - '0') * 100 + (unsigned)(value[1] - '0') * 10 +
			    (unsigned)(value[2] - '0');
	else
		st->wrong = "an unknown pseudo header";
	return 0;
}

/* ---- writing ---- */

struct fields {
	nghttp2_nv nv[HEAD_FIELDS_MAX + 4];
	size_t n;
};

/* secret: tables that compress heads must not have it, where its length could be guessed at and
 * where it would stay. */
static void field_put(struct fields *to, const char *name, char *value, bool secret)
{
	nghttp2_nv *nv = &to->nv[to->n++];

	secret |= !strcmp(name, "authorization") || !strcmp(name, "cookie");
	*nv = (nghttp2_nv){ .name = (uint8_t *)(uintptr_t)name,
			    .namelen = strlen(name),
			    .value = (uint8_t *)value,
			    .valuelen = strlen(value),
			    .flags = secret ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE };
}

static void fields_put(struct fields *to, struct head *h)
{
	for (unsigned i = 0; i < h->n; i++) {
		for (char *s = h->fields[i].name; *s; s++)
			*s |= *s >= 'A' && *s <= 'Z' ? 32 : 0;
		field_put(to, h->fields[i].name, h->fields[i].value, h->fields[i].secret);
	}
}

int h2_trailers_submit(struct h2_stream *st, enum side to, struct head *h)
{
	struct fields fields = { .n = 0 };

	fields_put(&fields, h);
	return nghttp2_submit_trailer(st->h2->peers[to].session, st->id[to], fields.nv, fields.n);
}

/* ---- responses ---- */

static void response_submit(struct h2_stream *st, struct head *h, bool ended)
{
	nghttp2_session *s = st->h2->peers[CLIENT].session;
	nghttp2_data_provider body = h2_provider(st);
	struct fields fields = { .n = 0 };
	char status[8];
	int r;

	if (st->closed[CLIENT])
		return;
	snprintf(status, sizeof(status), "%03u", h->status % 1000);
	field_put(&fields, ":status", status, false);
	fields_put(&fields, h);
	if (h->status < 200) {
		r = nghttp2_submit_headers(s, NGHTTP2_FLAG_NONE, st->id[CLIENT], NULL, fields.nv,
					   fields.n, NULL);
	} else {
		st->answered = true;
		r = nghttp2_submit_response(s, st->id[CLIENT], fields.nv, fields.n,
					    ended ? NULL : &body);
	}
	if (r < 0)
		h2_reset(st, CLIENT, NGHTTP2_INTERNAL_ERROR);
}

void h2_refuse(struct h2_stream *st, const struct refusal *r)
{
	struct head h = { 0 };
	struct h2_flow *f = &st->flows[SERVER];

	/* What the server may have sent has no place any more. */
	st->local = true;
	st->x.record.status = r->status;
	record_response(&st->x);
	h2_flow_drop(st, SERVER);
	st->x.down.busy = st->x.down.end = false;
	scrub_free(st->x.down.filter);
	st->x.down.filter = NULL;
	buf_free(&st->x.down.rest);
	refusal_write(r, &h, &f->data);
	f->ended = true;
	response_submit(st, &h, false);
	head_fini(&h);
}

static void server_wrong(struct h2_stream *st, const char *why)
{
	struct refusal r;

	h2_reset(st, SERVER, NGHTTP2_PROTOCOL_ERROR);
	if (st->answered) {
		h2_reset(st, CLIENT, NGHTTP2_INTERNAL_ERROR);
		return;
	}
	refusal_set(&r, 502, "bad_gateway", "the response of %s cannot be used: %s",
		    st->h2->o->name, why);
	h2_refuse(st, &r);
}

static void response_take(struct h2_stream *st, bool ended)
{
	struct head *h = &st->head;
	struct err e = { 0 };

	if (st->wrong || h->status < 100 || h->status > 599 || h->status == 101) {
		server_wrong(st, st->wrong ? st->wrong : "a wrong status");
		return;
	}
	head_hops(h);
	if (h->status < 200) {
		if (++st->interim > INTERIM_MAX || ended) {
			server_wrong(st, "too many interim responses");
			return;
		}
		exchange_fields(&st->x, h);
	} else if (!exchange_response(&st->x, h, !ended, &e)) {
		server_wrong(st, err_line(&e).str);
		return;
	} else {
		st->trailing[SERVER] = true;
		st->flows[SERVER].ended = ended;
		st->x.record.status = h->status;
		if (ended)
			record_response(&st->x);
	}
	response_submit(st, h, ended);
}

/* ---- requests ---- */

void h2_request_submit(struct h2_stream *st)
{
	struct h2_peer *p = &st->h2->peers[SERVER];
	struct head *h = &st->request;
	nghttp2_data_provider body = h2_provider(st);
	struct fields fields = { .n = 0 };
	int32_t id;

	field_put(&fields, ":method", h->method, false);
	field_put(&fields, ":scheme", h->scheme, false);
	field_put(&fields, ":authority", h->authority, false);
	field_put(&fields, ":path", h->target, h->secret);
	fields_put(&fields, h);
	id = nghttp2_submit_request(p->session, NULL, fields.nv, fields.n, st->whole ? NULL : &body,
				    st);
	head_fini(h);
	st->waits = WAITS_NOT;
	if (id < 0) {
		h2_reset(st, CLIENT, NGHTTP2_REFUSED_STREAM);
		h2_go_away(st->h2);
		return;
	}
	st->id[SERVER] = id;
	st->closed[SERVER] = false;
}

void h2_request_pass(struct h2_stream *st)
{
	struct head *h = &st->request;
	struct refusal r;

	switch (exchange_request(&st->x, st->h2->o, h, !st->whole, &r)) {
	case REQUEST_HELD:
		st->waits = WAITS_ANSWER;
		return;
	case REQUEST_REFUSED:
		st->waits = WAITS_NOT;
		head_fini(h);
		h2_flow_drop(st, CLIENT);
		h2_refuse(st, &r);
		return;
	case REQUEST_PASSES:
		break;
	}
	head_remove(h, "host");
	h2_flow_refilter(st);
	/* While the server is dialed again there is no session to send it in. */
	if (st->waits || !st->h2->peers[SERVER].session)
		st->waits = WAITS_SERVER; /* h2_pull() sends it */
	else
		h2_request_submit(st);
}

static void request_take(struct h2_stream *st, bool ended)
{
	struct head *h = &st->head;
	const char *host = head_find(h, "host", NULL);
	bool trailers = head_has(h, "te", "trailers");
	struct refusal r;

	st->trailing[CLIENT] = true;
	st->flows[CLIENT].ended = ended;
	if (st->wrong || !h->method || !h->scheme || strlen(h->method) > METHOD_MAX ||
	    !is_token(h->method, strlen(h->method))) {
		refusal_set(&r, st->wrong ? 431 : 400, "bad_request", "%s",
			    st->wrong ? st->wrong : "not a request");
		h2_refuse(st, &r);
		return;
	}
	if (!h->authority && host)
		text_set(&h->authority, host, strlen(host));
	head_hops(h);
	if (trailers)
		(void)!head_add(h, "te", 2, "trailers", 8);
	st->request = *h;
	*h = (struct head){ 0 };
	st->whole = ended;
	h2_request_pass(st);
}

void h2_headers_done(struct h2_peer *p, struct h2_stream *st, bool ended)
{
	struct h2_flow *f = &st->flows[p->side];

	if (p->side == SERVER && st->local) {
		/* It comes too late. */
	} else if (!st->trailing[p->side]) {
		p->side == CLIENT ? request_take(st, ended) : response_take(st, ended);
	} else if (st->wrong || !ended || st->head.method || st->head.status) {
		h2_reset(st, CLIENT, NGHTTP2_PROTOCOL_ERROR);
		h2_reset(st, SERVER, NGHTTP2_PROTOCOL_ERROR);
	} else {
		trailers_check(&st->head);
		if (p->side == SERVER)
			exchange_fields(&st->x, &st->head);
		head_fini(&f->trailers);
		f->trailers = st->head;
		st->head = (struct head){ 0 };
		h2_flow_end(st, p->side);
	}
	head_fini(&st->head);
}
