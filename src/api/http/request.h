/* A request, from its head to its answer, as the routes see it.
 *
 * A handler is called when the whole body is there, and answers with one of reply_*, at once or
 * later: one that cannot answer yet calls request_wait() and keeps the request, which stays until
 * it is answered. A request that waits costs a connection and nothing else. Bodies are bounded, and
 * JSON in them is checked by a table of fields. */
#ifndef VIV_API_HTTP_REQUEST_H
#define VIV_API_HTTP_REQUEST_H

#include <jansson.h>
#include <microhttpd.h>

#include "base/buf.h"
#include "base/list.h"
#include "daemon/state/daemon.h"
#include "daemon/state/fields.h"
#include "daemon/state/tokens.h"

#define MAX_BODY (1u << 20)
#define MAX_LARGE_BODY (16u << 20) /* with ROUTE_LARGE */
#define MAX_PARTS 8

struct caller;
struct grants;
struct request;
struct server;

/* Who may use a route. A token of a narrower scope gets 403; one for another cell, 404, as if that
 * cell were not there. */
enum need {
	/* any token; one for a cell only if the route has a {cell} or knows to show it alone */
	NEED_READ = 1,
	NEED_CELL, /* not a read-only one */
	NEED_ADMIN,
	NEED_NOTHING,
};

struct route {
	const char *method, *path; /* "/v1/cells/{cell}" */
	enum need need;
	void (*handle)(struct request *r);
	unsigned flags; /* ROUTE_ */
};
#define ROUTE_BODY 1 /* takes JSON */
/* takes a body of any size, bit by bit: the handler is called when the head is there, and sets
 * r->upload or answers */
#define ROUTE_UPLOAD 4
#define ROUTE_NARROW 2 /* shows a token for one cell what is that cell's */
#define ROUTE_FREES 8 /* removes something, which works on a full disk as well */
#define ROUTE_LARGE 32 /* takes a large body */
#define ROUTE_WAKES 64 /* uses the cell of the path: one that sleeps is woken before */
#define ROUTE_FAMILY 128 /* a cell may use it for its descendants (caller.h) */
#define ROUTE_SELF 256 /* and for itself */
#define ROUTE_CELLS 16 /* is about all cells, as {cell} in the path is about one */

extern const struct route routes[];
extern const unsigned nroutes;

/* What gives the body of an answer bit by bit. */
struct stream {
	/* Up to size bytes; 0: none now (request_wake() when there are some); -1: that was all;
	 * STREAM_BROKEN: the client is to see that it was not. */
	ssize_t (*read)(struct request *r, char *buf, size_t size);
	/* The request is over, whether all was read or not. */
	void (*end)(struct request *r);
};

#define STREAM_BROKEN (-2)

/* What takes the body of a request bit by bit. Once the request is answered, the rest is thrown
 * away. */
struct upload {
	/* How many of these bytes were taken; less than size: the request waits (request_wake()
	 * when there is room). */
	size_t (*take)(struct request *r, const char *data, size_t size);
	/* The body is there: the answer is due, at once or later. */
	void (*end)(struct request *r);
	/* The request is over, whether it was answered or not. */
	void (*over)(struct request *r);
};

struct request {
	struct server *server;
	struct daemon *d;
	struct MHD_Connection *conn;
	const struct route *route;
	const char *param[2]; /* what stands for {...} in the path, decoded */
	char *path; /* param points into it */
	struct buf body;
	bool too_big;
	bool can_upgrade; /* a GET of HTTP/1.1 */
	struct rights rights;
	struct list link; /* among those that wait */
	bool waiting;
	struct MHD_Response *response;
	unsigned status;
	const struct stream *stream;
	const struct upload *upload; /* NULL: none, or it is over */
	bool uploaded; /* its end was told */
	bool begun; /* of one with an upload: the handler was called */
	struct request_waker *waker; /* it waits for its cell to wake; NULL: not */
	bool settling; /* it waits for what keepers say about their cells */
	void *arg; /* of the handler or the stream */
	uv_poll_t *hangup; /* tells when the other side went away */
	bool gone;
	struct op *op; /* what is being done for it; NULL: nothing */
	bool cors; /* answers depend on the origin of pages (cors.h) ... */
	const char *origin; /* ... and this is one that may use the API; NULL: not */
	/* Of a request by a cell (caller.h); NULL: it is not. rights.cell is that cell. */
	struct caller *caller;
	int64_t caller_run; /* when it was started */
	bool taken, makes, throttled; /* of its rate, and of that of new cells; it waits for that */
	bool granted; /* its rules allow cells */
	size_t answer; /* bytes of the answer that count for its group */
	struct grants *grants; /* these rules; NULL: not known yet */
	char meant[40]; /* the id of the cell of the path */
	char *key; /* Idempotency-Key under which the answer is kept; NULL: none */
};

/* ---- the parts of a request ---- */

/* A value of the query, decoded (free() it); NULL: not given. A broken one was answered: *bad. */
char *request_query(struct request *r, const char *name, bool *bad);
/* The same for a value of any bytes but NUL. */
char *request_query_bytes(struct request *r, const char *name, bool *bad);
/* False: the query has something else than these names (NULL-terminated), and that was answered. */
bool request_query_only(struct request *r, const char *const *names);
/* A whole number; absent: *ret stays. False: answered. */
bool request_query_number(struct request *r, const char *name, uint64_t max, uint64_t *ret);
const char *request_header(struct request *r, const char *name);

/* The body as an object that is not checked yet, otherwise the same as request_json. */
json_t *request_object(struct request *r);
/* The body as a checked object (json_decref it), an empty one when there is no body; NULL:
 * answered. */
json_t *request_json(struct request *r, const struct field *fields, unsigned n);

/* Whether it came over the Unix socket from a process of vivd's own user, with no token that
 * narrows its rights. */
bool request_is_owner(const struct request *r);

/* ---- answers ---- */

/* Takes body. */
void reply_json(struct request *r, unsigned status, json_t *body);
void reply_err(struct request *r, const struct err *e);
void reply_error(struct request *r, enum err_kind kind, const char *fmt, ...) printf_like(3, 4);
void reply_text(struct request *r, unsigned status, const char *type, const void *text,
		size_t size);
void reply_stream(struct request *r, const char *type, const struct stream *s, void *arg);
/* With a status, and a length that is known; UINT64_MAX: not. */
void reply_stream_sized(struct request *r, unsigned status, const char *type, uint64_t size,
			const struct stream *s, void *arg);
void reply_header(struct request *r, const char *name, const char *value);
void reply_nothing(struct request *r); /* 204 */
/* 101; m is one for an upgrade, and taken. */
void reply_upgrade(struct request *r, struct MHD_Response *m);
/* The upgraded connection is not used any more; its request ends. */
void request_upgrade_over(struct request *r, struct MHD_UpgradeResponseHandle *urh);

/* The handler returns without an answer; it comes by reply_* later. */
void request_wait(struct request *r);

/* Something that is done for a request that waits. It is the first member of what its handler
 * allocates, and may outlive the request. */
struct op {
	struct request *r; /* NULL: gone */
	/* The request went, and frees the op by this; NULL: it goes on without. */
	void (*gone)(struct op *op);
};
void op_begin(struct request *r, struct op *op);
/* The request, to be answered now; NULL: nobody waits for the answer. The op is the caller's to
 * free. */
struct request *op_end(struct op *op);
/* A stream has more. */
void request_wake(struct request *r);

/* When it waits next, it is woken after a moment, to try again (server.c). */
void request_retry(struct request *r);
/* It does not wait for a cell any more (server.c). */
void request_wake_cancel(struct request *r);
/* For the server: gives the answer that is there to MHD. */
enum MHD_Result request_send(struct request *r);
struct request *request_new(struct server *s, struct daemon *d, struct MHD_Connection *c);
void request_free(struct request *r);

/* The methods that a path takes: "GET, PUT". False: there is no such path. */
#define METHODS_SIZE 128
bool request_methods(struct request *r, const char *url, char methods[METHODS_SIZE]);
/* Finds the route, or answers 404 or 405. */
bool request_route(struct request *r, const char *method, const char *url);

#endif
