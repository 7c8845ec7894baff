/* One end of an opened connection: a socket, with or without TLS, what came from it and is not
 * used yet, and what is to be sent on it.
 *
 * Whoever puts bytes into `out` looks at end_full() first, so that both buffers stay small; then a
 * slow reader on one side stops the other. */
#ifndef VIV_GATE_TLS_H
#define VIV_GATE_TLS_H

#include <openssl/ssl.h>

#include "base/buf.h"
#include "base/err.h"
#include "gate/gate.h"

#define END_FULL 131072u
#define RECORD_MAX 16384u /* bytes in a record of TLS */
#define WIRE_SIZE 65536u /* that is read from a socket at once */

struct end {
	struct watch w;
	SSL *ssl; /* NULL: plain */
	struct buf rest; /* TLS: read and not decrypted yet */
	bool cut; /* TLS: nothing more comes after that */
	struct buf in; /* not used yet */
	struct buf out; /* not sent yet, from out_at on */
	size_t out_at;
	bool blocked; /* there was nothing more to read; end_ready() clears it */
	bool stuck; /* there was no room to send more; the same */
	bool eof; /* the other side sends no more */
	bool clean; /* and has said so: this is not a cut */
	bool broken;
	bool wants_write; /* TLS cannot read before it has written */
	bool shut; /* nothing more can be sent */
	uint8_t offer; /* server: 'h' for HTTP/2, '1' for HTTP/1.1, 0: what the client prefers */
};

/* Files with certificates of authorities; opened at the start, read when first needed. bundle: it
 * replaces the host's. After tls_start() the call does nothing. */
int must_check trust_open(const char *path, bool bundle, struct err *e);
void tls_start(void);

/* Begin TLS on an end whose descriptor is set. name: of the server, or its address. */
int must_check end_tls_client(struct end *s, const char *name, bool http2, struct err *e);
int must_check end_tls_server(struct end *s, const char *name, struct err *e);
/* 1: done. 0: not yet. -1: it failed. */
int must_check end_handshake(struct end *s, struct err *e);
/* Was HTTP/2 agreed on? */
bool end_is_http2(const struct end *s);

/* The loop says that something has changed. */
static inline void end_ready(struct end *s)
{
	s->blocked = s->stuck = false;
}
/* Reads up to n bytes, a few records at most: how many. See blocked, eof, broken, whether or not
 * there are some. */
size_t end_read(struct end *s, uint8_t *p, size_t n);
static inline void end_put(struct end *s, const void *p, size_t n)
{
	buf_add(&s->out, p, n);
}
static inline size_t end_waiting(const struct end *s)
{
	return s->out.len - s->out_at;
}
static inline bool end_full(const struct end *s)
{
	return end_waiting(s) >= END_FULL;
}
/* The same, but sends whole records of it at once if that can be, without a copy. */
void end_send(struct end *s, const uint8_t *p, size_t n);
/* Sends what can be sent now. all: also what does not fill a record. */
void end_flush(struct end *s, bool all);
/* Nothing more will be put; call when nothing waits. */
void end_shut(struct end *s);
void end_drop(struct buf *b, size_t n); /* its first n bytes */
void end_fini(struct end *s);

#endif
