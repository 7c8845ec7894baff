/* See cors.h. */
#include "api/http/cors.h"

#include <string.h>
#include <strings.h>

#include "api/http/text.h"

#define ORIGIN_MAX 255
#define ALLOWED_HEADERS "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Range"
#define SHOWN_HEADERS "Content-Range, Accept-Ranges, Allow, Idempotency-Replayed"
#define MAX_AGE "600" /* seconds that a browser need not ask again */

/* ---- origins ---- */

static bool is_in(const char *set, const char *s, size_t n)
{
	return n && strspn(s, set) >= n;
}

/* ":PORT", which a browser leaves out if it is the scheme's own. */
static bool port_is_valid(const char *port, const char *scheme, size_t len)
{
	uint64_t n = 0;

	if (!*port)
		return true;
	if (*port != ':' || port[1] == '0' || !text_number(port + 1, 65535, &n))
		return false;
	return !(n == 80 && len == 4 && !strncmp(scheme, "http", 4)) &&
	       !(n == 443 && len == 5 && !strncmp(scheme, "https", 5));
}

/* SCHEME://HOST[:PORT] in the one way in which browsers write it. */
static bool origin_is_valid(const char *s)
{
	static const char lower[] = "abcdefghijklmnopqrstuvwxyz0123456789-.+_";
	const char *host = strstr(s, "://"), *end;
	size_t scheme = host ? (size_t)(host - s) : 0;

	if (!host || strlen(s) > ORIGIN_MAX || *s < 'a' || *s > 'z' || !is_in(lower, s, scheme))
		return false;
	host += 3;
	if (*host == '[') {
		end = strchr(host, ']');
		if (!end || !is_in("0123456789abcdef:.", host + 1, (size_t)(end - host - 1)))
			return false;
		end++;
	} else {
		end = host + strcspn(host, ":");
		if (!is_in(lower, host, (size_t)(end - host)))
			return false;
	}
	return port_is_valid(end, s, scheme);
}

int cors_add(struct cors *c, const char *origin, struct err *e)
{
	if (!strcmp(origin, "*") || !strcmp(origin, "null"))
		return err_set(e, ERR_USAGE,
			       "--cors-origin '%s' would allow unknown pages" REMEDY
			       "name each origin, such as https://app.example.org",
			       origin);
	if (!origin_is_valid(origin))
		return err_set(e, ERR_USAGE,
			       "--cors-origin '%.200s' is not an origin as browsers send it" REMEDY
			       "write scheme, host in lower case and port, without a path and "
			       "without the scheme's default port: https://app.example.org:8443",
			       origin);
	if (c->n == CORS_MAX)
		return err_set(e, ERR_USAGE, "--cors-origin: at most %d origins", CORS_MAX);
	c->origins[c->n++] = origin;
	return 0;
}

/* ---- requests ---- */

struct origins_sent {
	const char *value;
	unsigned n;
};

static enum MHD_Result origin_take(void *arg, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct origins_sent *sent = arg;

	(void)kind;
	if (strcasecmp(name, "Origin"))
		return MHD_YES;
	sent->value = value;
	sent->n++;
	return MHD_YES;
}

void cors_begin(struct request *r, const struct cors *c)
{
	struct origins_sent sent = { 0 };

	if (!c || !c->n)
		return;
	r->cors = true;
	MHD_get_connection_values(r->conn, MHD_HEADER_KIND, origin_take, &sent);
	for (unsigned i = 0; i < c->n && sent.n == 1 && sent.value; i++)
		if (!strcmp(sent.value, c->origins[i]))
			r->origin = c->origins[i];
}

static bool ends_in_localhost(const char *s)
{
	static const char name[] = ".localhost";
	size_t n = strcspn(s, ":"), len = sizeof(name) - 1;

	return n >= len && !strncasecmp(s + n - len, name, len);
}

static enum MHD_Result preview_look(void *arg, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	const char *host = value ? strstr(value, "://") : NULL;
	bool *found = arg;

	(void)kind;
	if (value && !strcasecmp(name, "Host"))
		*found |= ends_in_localhost(value);
	if (value && !strcasecmp(name, "Origin"))
		*found |= !strcmp(value, "null") || (host && ends_in_localhost(host + 3));
	return MHD_YES;
}

bool cors_is_preview(struct request *r)
{
	bool found = false;

	if (!r->origin) /* else the operator has named it */
		MHD_get_connection_values(r->conn, MHD_HEADER_KIND, preview_look, &found);
	return found;
}

bool cors_preflight(struct request *r, const char *method, const char *url)
{
	char methods[METHODS_SIZE];

	/* Who it is comes with the request itself: a browser asks without a token. */
	if (!r->origin || strcmp(method, "OPTIONS") ||
	    !request_header(r, "Access-Control-Request-Method") ||
	    !request_methods(r, url, methods))
		return false;
	reply_nothing(r);
	reply_header(r, "Access-Control-Allow-Methods", methods);
	reply_header(r, "Access-Control-Allow-Headers", ALLOWED_HEADERS);
	reply_header(r, "Access-Control-Max-Age", MAX_AGE);
	return true;
}

void cors_reply(struct request *r)
{
	if (!r->cors)
		return;
	/* Caches keep apart what differs, also when the answer says nothing. */
	reply_header(r, "Vary", "Origin");
	if (!r->origin)
		return;
	reply_header(r, "Access-Control-Allow-Origin", r->origin);
	reply_header(r, "Access-Control-Expose-Headers", SHOWN_HEADERS);
}
