/* HTTP/2 on both sides of an opened connection: what h2.c, h2head.c and h2body.c share. */
#ifndef VIV_GATE_H2_H
#define VIV_GATE_H2_H

#include <nghttp2/nghttp2.h>

#include "gate/open.h"

struct h2;

/* A session of nghttp2, with the side that it speaks to. */
struct h2_peer {
	struct h2 *h2;
	enum side side;
	nghttp2_session *session; /* NULL: there is no server */
	unsigned continuations; /* of the head that is being read */
	unsigned cheap; /* frames that a flood would be of */
	int64_t cheap_since;
};

/* The body that comes from one side. */
struct h2_flow {
	struct buf data; /* not sent yet, from at on */
	size_t at;
	size_t raw; /* received and not given back to the sender's window */
	size_t lent; /* of that, what was given back to the window of the connection */
	bool ended; /* no more comes */
	bool deferred; /* nghttp2 waits for data */
	struct head trailers;
};

struct h2_stream {
	struct list link;
	struct h2 *h2;
	int32_t id[2];
	bool closed[2]; /* on that side, or never there */
	struct exchange x;
	struct head head; /* that is being read */
	const char *wrong; /* what is wrong with it */
	bool trailing[2]; /* what comes now from that side are trailers */
	unsigned interim;
	bool local; /* the response is the gate's */
	bool complete; /* the client has the whole response */
	uint64_t unwanted; /* bytes of the request after that */
	bool answered; /* the client has the head of a response */
	/* The request has not been sent yet: the operator is asked, or there is no server. */
	enum { WAITS_NOT, WAITS_ANSWER, WAITS_SERVER } waits;
	struct head request; /* while it waits */
	bool whole; /* it has no body */
	struct h2_flow flows[2]; /* by the side that sends it */
};

struct h2 {
	struct opened *o;
	struct h2_peer peers[2];
	struct list streams;
	unsigned count;
	bool going; /* no new streams of the client */
	bool full; /* the server takes no new ones */
};

/* ---- h2head.c ---- */

int h2_on_begin_headers(nghttp2_session *s, const nghttp2_frame *f, void *arg);
int h2_on_header(nghttp2_session *s, const nghttp2_frame *f, const uint8_t *name, size_t nname,
		 const uint8_t *value, size_t nvalue, uint8_t flags, void *arg);
/* A head is complete. */
void h2_headers_done(struct h2_peer *p, struct h2_stream *st, bool ended);
/* The gate answers. */
void h2_refuse(struct h2_stream *st, const struct refusal *r);
/* Decides about a request that has been read. */
void h2_request_pass(struct h2_stream *st);
/* Sends one that may be sent. */
void h2_request_submit(struct h2_stream *st);

/* ---- h2body.c ---- */

int h2_on_data(nghttp2_session *s, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
	       void *arg);
/* No more comes from that side. */
void h2_flow_end(struct h2_stream *st, enum side from);
/* Where what is sent to a side comes from. */
nghttp2_data_provider h2_provider(struct h2_stream *st);
int h2_trailers_submit(struct h2_stream *st, enum side to, struct head *h);
/* A filter of the request was made after some of its body had come. */
void h2_flow_refilter(struct h2_stream *st);
/* Nobody will read what has come from that side. */
void h2_flow_drop(struct h2_stream *st, enum side from);
void h2_flow_fini(struct h2_flow *f);

/* ---- h2.c ---- */

/* Ends a stream on one side, if it is there. */
void h2_reset(struct h2_stream *st, enum side side, uint32_t code);
/* No new streams; those that are there go on. */
void h2_go_away(struct h2 *h);

#endif
