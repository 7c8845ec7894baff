/* One request of HTTP to a program in a cell, for programs: the response is kept whole, up to a
 * bound. */
#ifndef VIV_DAEMON_PREVIEWS_FETCH_H
#define VIV_DAEMON_PREVIEWS_FETCH_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

#define FETCH_BODY_MAX (16u << 20)

struct cell;
struct fetch;

struct fetch_request {
	uint16_t port;
	const char *method, *path;
	const json_t *headers; /* an object of texts; NULL: none */
	const void *body;
	size_t size;
	uint64_t timeout_ms;
};

struct fetch_response {
	unsigned status;
	json_t *headers; /* pairs of texts; borrowed */
	const uint8_t *body;
	size_t size;
};

/* Called once; response NULL: there is none, for the reason e. */
typedef void fetch_fn(void *arg, const struct fetch_response *response, const struct err *e);
/* Borrows the request. NULL: it cannot be made, and fn is not called. */
struct fetch *fetch_start(struct cell *c, const struct fetch_request *q, fetch_fn *fn, void *arg,
			  struct err *e);
/* fn is not called any more. */
void fetch_cancel(struct fetch *x);

#endif
