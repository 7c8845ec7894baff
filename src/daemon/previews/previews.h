/* Previews: a port of a cell for browsers, under an address that only its holder knows.
 *
 * A preview is a row of the database: an id, the cell's id, a port, an end. Its token is the id and
 * a signature of all of these by a key in the state directory (preview.key), so that neither the
 * database nor a token of another preview gives one away. A row that is removed takes its token
 * with it, and so does its cell: another one with the same name has another id.
 *
 * They are served by a listener of their own (listen.c, proxy.c), which is opened with the first
 * one and keeps its port from then on. */
#ifndef VIV_DAEMON_PREVIEWS_PREVIEWS_H
#define VIV_DAEMON_PREVIEWS_PREVIEWS_H

#include <jansson.h>

#include "daemon/previews/target.h"
#include "daemon/state/daemon.h"

struct cell;

struct preview {
	char id[PREVIEW_ID_LEN + 1];
	char cell[33]; /* id */
	uint16_t port;
	int64_t created, expires; /* nanoseconds since 1970 */
};

/* Takes the key and opens the listener if there are previews. port: where; 0: as the last time, or
 * any. */
int must_check previews_open(struct daemon *d, uint16_t port, struct err *e);
void previews_close(struct daemon *d);

int must_check preview_create(struct daemon *d, const struct cell *c, uint16_t port,
			      int64_t expires, struct preview *ret, struct err *f);
/* Those of a cell (NULL: all), or the one with this id (NULL: each). urls: their addresses as
 * well. */
json_t *preview_list(struct daemon *d, const char *cell, const char *id, bool urls);
bool preview_find(struct daemon *d, const char *id, struct preview *ret);
int must_check preview_remove(struct daemon *d, const char *id, struct err *f);

/* The preview that a token is for. False: the token is forged, or no longer valid. */
bool preview_check(struct daemon *d, const char token[PREVIEW_TOKEN_LEN + 1], struct preview *ret);

/* ---- dial.c ---- */

struct dial;
/* fd: a stream to the program that listens in the cell, the callee's; -1: there is none, for the
 * reason e. */
typedef void dial_fn(void *arg, int fd, const struct err *e);
/* NULL: it cannot be asked for, and fn is not called. */
struct dial *dial(struct cell *c, uint16_t port, dial_fn *fn, void *arg, struct err *e);
/* fn is not called any more. */
void dial_cancel(struct dial *x);

/* ---- listen.c ---- */

/* 0 or -1. port 0: any. */
int must_check preview_listen(struct daemon *d, uint16_t port, uint16_t *ret_port, struct err *e);
void preview_listen_end(void);
/* Ends the connections of a preview. */
void preview_drop(const char *id);

#endif
