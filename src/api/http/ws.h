/* WebSockets (RFC 6455), the server's side: the handshake, framing by wslay, pings, closing
 * (docs/decisions/0024-websockets.md).
 *
 * A route answers with ws_accept(); when the connection is one, open() is called. Nothing is kept
 * for a client that does not read: room() is called when all that was given before is on its way,
 * and output of processes goes from its pipe to the socket without a copy. Nor is much kept of what
 * it sends: with ws_hold() no more is read until its user has dealt with what came.
 *
 * A client that answers no ping is gone after PINGS of them, unless it is one that does not read at
 * the moment, or is not read from. */
#ifndef VIV_API_HTTP_WS_H
#define VIV_API_HTTP_WS_H

#include "api/http/request.h"

#define WS_MESSAGE_MAX (1u << 20)

/* Codes of RFC 6455; ours are 4000 + a status of HTTP. */
#define WS_DONE 1000
#define WS_GOING 1001
#define WS_PROTOCOL 1002
#define WS_TOO_BIG 1009
#define WS_STATUS(status) (4000 + (status))

struct ws;

struct ws_user {
	const char *protocol; /* the subprotocol's name */
	const char *query; /* a parameter that the route takes, besides ping; NULL: none */
	void (*open)(void *arg, struct ws *w);
	/* A whole message; p has a NUL behind it. */
	void (*message)(void *arg, bool text, const char *p, size_t n);
	/* Gives more to send; false: there is none, ws_kick() will tell. */
	bool (*room)(void *arg);
	void (*gone)(void *arg); /* no more calls with w after it */
};

/* Checks the handshake of a GET and answers: 101 or 4xx. Takes arg, which free() frees if it comes
 * to no WebSocket. */
void ws_accept(struct request *r, const struct ws_user *u, void *arg);
/* The token in the subprotocols ("bearer.TOKEN": browsers can send no Authorization), to be freed;
 * NULL: none. */
char *ws_token(struct request *r);

void ws_text(struct ws *w, const char *text, size_t n);
/* A binary message: a byte that names the channel, then n bytes, at most WS_BYTES_MAX. */
#define WS_BYTES_MAX 16384
void ws_bytes(struct ws *w, char channel, const char *p, size_t n);
/* What is in the pipe, as a binary message: a byte that names the channel, then the bytes. Only
 * from within room(). 1: something; 0: there is nothing at the moment; -1: nor will there be. */
int ws_forward(struct ws *w, char channel, int fd);
/* What there is to send has changed. */
void ws_kick(struct ws *w);
/* Whether to read no more for now. */
void ws_hold(struct ws *w, bool hold);
/* After what was given, a close frame. Nothing that comes from then on is looked at. */
void ws_close(struct ws *w, unsigned code, const char *reason);

/* Ends all of a server, with a word to the clients. */
void ws_end_all(struct server *s);

#endif
