/* HTTP: libmicrohttpd inside vivd's loop. MHD has an epoll descriptor of its own, which the loop
 * watches, and a time-out, which a timer of the loop keeps; no thread is used. There is one server
 * for the Unix socket and one for TCP.
 *
 * Against clients that are slow or many: connections are counted; a head has 10 s to be complete
 * and a body 30 s, by the clock and not from byte to byte; an idle connection is closed after a
 * minute. */
#ifndef VIV_API_HTTP_SERVER_H
#define VIV_API_HTTP_SERVER_H

#include "daemon/state/daemon.h"

struct server;

struct listen_options {
	int fd; /* a listening socket; taken */
	bool cells; /* connections are those of cells (server_add); there is no fd */
	bool trusted; /* who can connect may do everything: the Unix socket */
	const char *cert, *key; /* PEM; NULL: no TLS */
	const struct cors *cors; /* NULL: no page may use it; stays */
};

struct server *server_new(struct daemon *d, const struct listen_options *o, struct err *e);
/* Ends what waits (503) and all streams; then takes no more. Connections get a moment to be
 * told. */
void server_end(struct server *s);
void server_free(struct server *s);
/* A connection of a cell's (caller.h). Takes fd. */
struct cell;
void server_add(struct server *s, const struct cell *c, int fd);
/* d->settled: requests that wait for keepers look again. */
void server_settled(struct server *s);

#endif
