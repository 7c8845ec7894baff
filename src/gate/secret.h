/* Secrets of a cell: the values that its programs never see.
 *
 * A program in the cell has a placeholder. The gate puts the value into requests to the hosts that
 * the secret is bound to, in the places that it is bound to (secretput.c), and takes it out of what
 * comes back (scrub.c). Only connections that the gate opens can be treated so: a host that any
 * secret is bound to is never merely passed.
 *
 * How an opened connection uses this: it has a struct secret_site for its host. secret_target() and
 * secret_header() are called for the target and each header of a request; a result of -1 is a
 * request that must not be sent, and is answered with 403 and the error.
 *
 * If secret_site_guards(): Accept-Encoding becomes SECRET_ACCEPT_ENCODING; Range is dropped, as two
 * halves of a value are not found; so is Sec-WebSocket-Extensions. Of the response, each header,
 * trailer and the reason go through scrub_text(), and the body through scrub_new(), scrub_step()
 * and scrub_free(); Content-Encoding and Content-Length are dropped. After an upgrade, what the
 * server sends goes through a scrub with SCRUB_MASK.
 *
 * If secret_site_in_body(): the request's body goes through secret_body_new() likewise, and its
 * Content-Length is dropped.
 *
 * No function here blocks or reads a clock. Values are never part of an error. */
#ifndef VIV_GATE_SECRET_H
#define VIV_GATE_SECRET_H

#include "base/buf.h"
#include "base/err.h"

#define SECRETS_MAX 64 /* of a cell */
#define SECRETS_FORMER 64 /* values of a cell that were replaced */
#define SECRET_NAME_MAX 128
#define SECRET_VALUE_MIN 8 /* a shorter one is found in texts where it was never put */
#define SECRET_VALUE_MAX 4096
#define SECRET_HOSTS_MAX 16
#define SECRET_PLACES_MAX 8

enum secret_where {
	SECRET_HEADER, /* in the header of this name */
	SECRET_BEARER, /* "Authorization: Bearer X" or "token X" */
	SECRET_BASIC, /* user or password of "Authorization: Basic"; name: this user only; "": any
		       */
	SECRET_QUERY, /* in the parameter of this name */
	SECRET_ANYWHERE, /* in every header and in the URL */
	SECRET_BODY,
};

struct secret_place {
	enum secret_where where;
	char name[SECRET_NAME_MAX];
};

struct secret_host {
	char name[254]; /* in lower case; "*.example.org": what is below it */
	uint16_t port; /* 0: 443, and TLS only */
};

struct secret {
	char name[SECRET_NAME_MAX];
	char *placeholder;
	char *value; /* NULL: the cell has lost it, and its placeholder is refused */
	struct secret_host hosts[SECRET_HOSTS_MAX];
	unsigned nhosts;
	struct secret_place places[SECRET_PLACES_MAX];
	unsigned nplaces;
};

/* ---- the set (secret.c) ---- */

struct patterns;

/* All secrets of a cell at one time; counted, never changed. */
struct secrets {
	unsigned refs;
	struct secret list[SECRETS_MAX];
	unsigned n;
	struct { /* values that they had before: servers may still know them */
		char *placeholder, *value;
	} former[SECRETS_FORMER];
	unsigned nformer; /* how many there were; the oldest gives way */
	struct patterns *values; /* what scrubbing looks for; made when first needed */
};

struct secrets *must_check secrets_new(void); /* empty; returns ref */
struct secrets *secrets_get(struct secrets *s);
void secrets_put(struct secrets *s); /* s may be NULL; what it held is overwritten */
/* Adds one, written as a JSON object (before the set is used):
 *	{"name": "X", "placeholder": "...", "value": "...", "hosts": ["HOST[:PORT]"...],
 *	 "places": ["header NAME", "bearer", "basic [USER]", "query NAME", "anywhere", "body"]}
 * or "lost": true instead of the value. */
int must_check secrets_add(struct secrets *s, const char *json, size_t n, struct err *e);

/* Notes what the values were until now, so that they are scrubbed as well. Both may be NULL. */
void secrets_succeed(struct secrets *s, const struct secrets *before);

/* ---- words (secretread.c) ---- */

int must_check secret_host_parse(const char *text, struct secret_host *ret, struct err *e);
int must_check secret_place_parse(const char *text, struct secret_place *ret, struct err *e);
/* Can it be a value? Printable ASCII of a certain length: it can be a header's. */
int must_check secret_value_check(const char *value, size_t n, struct err *e);

/* ---- hosts (secret.c) ---- */

/* What one host may have of them; embedded. */
struct secret_site {
	struct secrets *set; /* ref; NULL: there are none */
	char host[254];
	uint64_t bound; /* a bit for each secret */
};

/* set may be NULL. host: in lower case, or an address. */
void secret_site_init(struct secret_site *site, struct secrets *set, const char *host,
		      uint16_t port, bool tls);
void secret_site_fini(struct secret_site *site);
/* Must responses be scrubbed? Then the connection cannot be passed unopened either. */
static inline bool secret_site_guards(const struct secret_site *site)
{
	return site->bound != 0;
}
bool secret_site_in_body(const struct secret_site *site);

/* ---- requests (secretput.c) ---- */

/* 0: it stays as it is. 1: to has the text to be sent instead. -1: the request is refused. */
int must_check secret_target(const struct secret_site *site, const char *target, size_t n,
			     struct buf *to, struct err *e);
int must_check secret_header(const struct secret_site *site, const char *name, size_t nname,
			     const char *value, size_t n, struct buf *to, struct err *e);
/* What is asked for instead of what the client accepts. */
#define SECRET_ACCEPT_ENCODING "gzip"

/* ---- what comes back (scrub.c, scrubstream.c) ---- */

/* True: to has the text without values. */
bool scrub_text(const struct secret_site *site, const char *text, size_t n, struct buf *to);

/* Adds a text for people: names of secrets, in braces, instead of their values and placeholders.
 * set may be NULL. */
void secret_conceal(struct secrets *set, const char *text, size_t n, struct buf *to);

#define SCRUB_MASK 1u /* as many bytes as before: '*' instead of the placeholder */
#define SCRUB_OUT 65536 /* what a step gives at most, but for what it held back before */

struct scrub;
/* A filter for one body. encoding: of its Content-Encoding; NULL or "": none. NULL: one that cannot
 * be read (the response must not be passed on). */
struct scrub *scrub_new(const struct secret_site *site, const char *encoding, unsigned flags,
			struct err *e);
/* The same for the body of a request, where placeholders become values. content_type: NULL or "":
 * not known. */
struct scrub *secret_body_new(const struct secret_site *site, const char *content_type);
/* Takes some of n bytes and adds to `to` what is to be sent. Only what could be the begin of a
 * value is held back. end: there are no more bytes behind these. 0: all was taken and there is
 * nothing to add. 1: call it again, with the bytes that were not taken (there may be none). -1: the
 * body is damaged; the connection must be broken off. */
int must_check scrub_step(struct scrub *s, const void *p, size_t n, bool end, size_t *ret_taken,
			  struct buf *to, struct err *e);
void scrub_free(struct scrub *s);

/* ---- patterns (scrub.c) ---- */

/* A text to be found, and what to put there. */
struct pattern {
	uint8_t *p;
	size_t n;
	char *with;
	bool plain; /* as it is, not escaped in any way */
};

struct patterns *must_check patterns_new(void);
void patterns_add(struct patterns *ps, const void *p, size_t n, const char *with, bool plain);
void patterns_free(struct patterns *ps); /* may be NULL */
/* Copies p to `to` with replacements. How many bytes were taken: the rest, unless end, could be the
 * begin of something that is to be found. changed: NULL, or set if anything was replaced. */
size_t patterns_run(const struct patterns *ps, const uint8_t *p, size_t n, bool end, bool mask,
		    struct buf *to, bool *changed);
/* Of all values of a set, in all their forms. */
struct patterns *patterns_of_values(const struct secrets *s);
/* Of the placeholders that may be in a body. */
struct patterns *patterns_of_body(const struct secret_site *site, const char *content_type);

/* Adds text as it stands in a URL, in a text of JSON. */
void text_add_url(struct buf *to, const char *text);
void text_add_json(struct buf *to, const char *text);

#endif
