/* Which preview a request is for, and what is changed in heads on their way. No sockets here.
 *
 *   http://127.0.0.1:PORT/p/TOKEN/PATH     the path form
 *   http://ID--CELLPORT.localhost:PORT/PATH   the host form, an origin of its own. The token comes
 * as ?viv_token=TOKEN once, and is a cookie from then on
 *
 * Pages of the path form have the same host as those of other previews, so they get no cookies, and
 * a sandbox in which they have no origin. */
#ifndef VIV_DAEMON_PREVIEWS_TARGET_H
#define VIV_DAEMON_PREVIEWS_TARGET_H

#include "base/base.h"

struct head; /* gate/http.h */

#define PREVIEW_ID_LEN 16
#define PREVIEW_TOKEN_LEN 80 /* the id, and 64 digits of its signature */
#define PREVIEW_COOKIE "viv_preview"
#define PREVIEW_QUERY "viv_token"

enum target_form { TARGET_PATH, TARGET_HOST };

struct target {
	enum target_form form;
	char id[PREVIEW_ID_LEN + 1]; /* of the host form; "" otherwise */
	uint16_t port; /* likewise */
	char token[PREVIEW_TOKEN_LEN + 1]; /* "": none */
	bool in_query; /* that is where the token was: to be sent to the same address without it */
	char *host; /* as it was sent */
	char *rest; /* the target without the token, for the cell */
};

/* NULL, or what is wrong with the request. */
const char *must_check target_read(struct target *t, const struct head *h);
void target_fini(struct target *t);

/* Makes the head of a request one for the cell. upgrade: NULL, or what it asks to change to. */
void head_to_cell(struct head *h, const struct target *t, uint16_t port, const char *upgrade);
/* Makes the head of a response one for the browser; its framing is the caller's. origin: the page
 * that asked has none. */
void head_to_browser(struct head *h, const struct target *t, uint16_t port, bool origin_is_null);

#endif
