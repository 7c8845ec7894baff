/* Which pages of browsers may use the API: CORS for origins that the operator named.
 *
 * A browser lets a page read answers of another origin only if they say so. vivd says so to pages
 * of the origins of --cors-origin, compared byte by byte, and to no others; rights still come from
 * tokens alone, and cookies and the like are never allowed. Without the option, no answer differs
 * in any way. */
#ifndef VIV_API_HTTP_CORS_H
#define VIV_API_HTTP_CORS_H

#include "api/http/request.h"

#define CORS_MAX 32

struct cors {
	const char *origins[CORS_MAX]; /* as a browser sends them */
	unsigned n;
};

/* One more, which must stay. -1: it is none that a browser could send, or there are too many. */
int must_check cors_add(struct cors *c, const char *origin, struct err *e);
/* The head of r is there: finds out whether it comes from a page that may use the API. */
void cors_begin(struct request *r, const struct cors *c);
/* Was it sent to a name of a preview, or by a page of one (daemon/previews/)? Such a page is a
 * cell's, and the API is nothing for it, whatever token it has. After cors_begin. */
bool cors_is_preview(struct request *r);
/* A question of a browser before a request of such a page. False: it is none. */
bool cors_preflight(struct request *r, const char *method, const char *url);
/* The headers of an answer. */
void cors_reply(struct request *r);

#endif
