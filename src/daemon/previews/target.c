/* See target.h. */
#include "daemon/previews/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gate/http.h"

#define SUFFIX ".localhost"
/* Without allow-same-origin: scripts run, but in an origin that nothing else has. */
#define SANDBOX                                                                        \
	"sandbox allow-scripts allow-forms allow-modals allow-popups allow-downloads " \
	"allow-pointer-lock allow-presentation"

static bool is_hex(const char *s, size_t n)
{
	return strspn(s, "0123456789abcdef") >= n;
}

static bool port_is(const char *s)
{
	size_t n = strlen(s);

	return n >= 1 && n <= 5 && strspn(s, "0123456789") == n;
}

/* ---- the host ---- */

/* ID--PORT.localhost, without a port of our own behind it. */
static bool label_read(struct target *t, const char *name)
{
	const char *dash = name + PREVIEW_ID_LEN;
	unsigned long port;
	char *end;

	if (strlen(name) < PREVIEW_ID_LEN + 3 || !is_hex(name, PREVIEW_ID_LEN) ||
	    strncmp(dash, "--", 2) || dash[2] < '1' || dash[2] > '9')
		return false;
	port = strtoul(dash + 2, &end, 10);
	if (port > UINT16_MAX || end - dash > 7 || strcmp(end, SUFFIX))
		return false;
	memcpy(t->id, name, PREVIEW_ID_LEN);
	t->id[PREVIEW_ID_LEN] = '\0';
	t->port = (uint16_t)port;
	t->form = TARGET_HOST;
	return true;
}

/* Our own names alone: another one that leads here is somebody else's (DNS rebinding). Its port may
 * be another than ours, where a tunnel leads to us. */
static bool host_read(struct target *t, const char *text)
{
	char name[80];
	const char *colon = strchr(text, ':');
	size_t n = colon ? (size_t)(colon - text) : strlen(text);

	if (n >= sizeof(name) || (colon && !port_is(colon + 1)))
		return false;
	for (size_t i = 0; i < n; i++)
		name[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 32) : text[i];
	name[n] = '\0';
	t->form = TARGET_PATH;
	return !strcmp(name, "127.0.0.1") || !strcmp(name, "localhost") || label_read(t, name);
}

/* ---- the token ---- */

static void token_take(struct target *t, const char *text, size_t n)
{
	if (n == PREVIEW_TOKEN_LEN && is_hex(text, n)) {
		memcpy(t->token, text, n);
		t->token[n] = '\0';
	}
}

/* /p/TOKEN/REST */
static bool path_split(struct target *t, const char *target)
{
	size_t n = strncmp(target, "/p/", 3) ? 0 : strcspn(target + 3, "/?");
	const char *rest = target + 3 + n;

	if (!n)
		return false;
	token_take(t, target + 3, n);
	if (*rest != '/') { /* a page's links would lead beside it */
		struct buf b = { 0 };

		t->in_query = true;
		buf_add(&b, target, (size_t)(rest - target));
		buf_add(&b, "/", 1);
		buf_add_text(&b, rest);
		t->rest = (char *)b.p;
		return true;
	}
	t->rest = xstrndup(rest, strlen(rest));
	return true;
}

/* The query without our part of it. */
static void query_split(struct target *t, const char *target)
{
	static const char name[] = PREVIEW_QUERY "=";
	const char *q = strchr(target, '?');
	struct buf b = { 0 };
	bool first = true;

	buf_add(&b, target, q ? (size_t)(q - target) : strlen(target));
	while (q && *q) {
		size_t n = strcspn(++q, "&");

		if (!strncmp(q, name, sizeof(name) - 1) && !t->in_query) {
			token_take(t, q + sizeof(name) - 1, n - (sizeof(name) - 1));
			t->in_query = true;
		} else {
			buf_add(&b, first ? "?" : "&", 1);
			buf_add(&b, q, n);
			first = false;
		}
		q += n;
	}
	buf_add(&b, "", 1);
	t->rest = (char *)b.p;
}

/* The cookie in a header, and the header without it. Returns the rest; "": nothing is left. */
static char *cookie_split(const char *value, struct target *t)
{
	static const char name[] = PREVIEW_COOKIE "=";
	struct buf b = { 0 };

	while (*value) {
		size_t n = strcspn(value, ";");
		const char *p = value + strspn(value, " \t");

		if (p > value + n)
			p = value + n;
		if (!strncmp(p, name, sizeof(name) - 1)) {
			if (t && !t->token[0])
				token_take(t, p + sizeof(name) - 1,
					   (size_t)(value + n - p) - (sizeof(name) - 1));
		} else if (p < value + n) {
			if (b.len)
				buf_add(&b, "; ", 2);
			buf_add(&b, p, (size_t)(value + n - p));
		}
		value += n + (value[n] == ';');
	}
	buf_add(&b, "", 1);
	return (char *)b.p;
}

const char *target_read(struct target *t, const struct head *h)
{
	unsigned hosts;
	const char *host = head_find(h, "host", &hosts);

	*t = (struct target){ 0 };
	if (h->authority || !h->target || h->target[0] != '/' || !strcmp(h->method, "TRACE"))
		return "not a request for a preview";
	if (hosts != 1 || !host_read(t, host))
		return "previews are not served under this name";
	t->host = xstrndup(host, strlen(host));
	if (t->form == TARGET_PATH) {
		if (path_split(t, h->target))
			return NULL;
		target_fini(t);
		return "there is nothing at this address";
	}
	query_split(t, h->target);
	for (unsigned i = 0; i < h->n && !t->in_query; i++)
		if (!strcasecmp(h->fields[i].name, "cookie"))
			free(cookie_split(h->fields[i].value, t));
	return NULL;
}

void target_fini(struct target *t)
{
	free(t->host);
	free(t->rest);
	*t = (struct target){ 0 };
}

/* ---- to the cell ---- */

static void field_set(struct head *h, const char *name, const char *value)
{
	head_remove(h, name);
	/* Room is there: what comes from us is a few short ones. */
	(void)!head_add(h, name, strlen(name), value, strlen(value));
}

static void field_drop(struct head *h, unsigned i)
{
	free(h->fields[i].name);
	free(h->fields[i].value);
	memmove(&h->fields[i], &h->fields[i + 1], (--h->n - i) * sizeof(h->fields[0]));
}

static void cookies_clean(struct head *h)
{
	for (unsigned i = 0; i < h->n;) {
		char *rest;

		if (strcasecmp(h->fields[i].name, "cookie")) {
			i++;
			continue;
		}
		rest = cookie_split(h->fields[i].value, NULL);
		free(h->fields[i].value);
		h->fields[i].value = rest;
		if (*rest) {
			i++;
			continue;
		}
		field_drop(h, i);
	}
}

void head_to_cell(struct head *h, const struct target *t, uint16_t port, const char *upgrade)
{
	static const char *const ours[] = { "forwarded",	 "x-forwarded-for",
					    "x-forwarded-proto", "x-forwarded-host",
					    "x-forwarded-port",	 "x-forwarded-prefix",
					    "x-real-ip",	 "expect" };
	char local[32];

	head_hops(h);
	for (unsigned i = 0; i < ARRAY_LEN(ours); i++)
		head_remove(h, ours[i]);
	text_set(&h->target, t->rest, strlen(t->rest));
	if (t->form == TARGET_PATH) {
		/* The page's own address has the token in it. */
		head_remove(h, "cookie");
		head_remove(h, "referer");
		snprintf(local, sizeof(local), "localhost:%u", port);
		field_set(h, "Host", local);
	} else {
		cookies_clean(h);
	}
	field_set(h, "X-Forwarded-For", "127.0.0.1");
	field_set(h, "X-Forwarded-Host", t->host);
	field_set(h, "X-Forwarded-Proto", "http");
	field_set(h, "Connection", upgrade ? "Upgrade" : "close");
	if (upgrade)
		field_set(h, "Upgrade", upgrade);
}

/* ---- to the browser ---- */

/* A cookie of the cell's for its own host alone. NULL: it is not to be set. */
static char *cookie_confine(const char *value)
{
	static const char name[] = PREVIEW_COOKIE;
	size_t own = sizeof(name) - 1;
	const char *p = value + strspn(value, " \t");
	struct buf b = { 0 };

	/* One without a name would be sent as its value, which could be anything. */
	if (!*p || strchr("=;", *p) || (!strncmp(p, name, own) && strchr("= \t;", p[own])))
		return NULL;
	while (*value) {
		size_t n = strcspn(value, ";");

		p = value + strspn(value, " \t");
		if (strncasecmp(p, "domain", 6) || !strchr("= \t;", p[6]) || !b.len) {
			if (b.len)
				buf_add(&b, ";", 1);
			buf_add(&b, value, n);
		}
		value += n + (value[n] == ';');
	}
	buf_add(&b, "", 1);
	return (char *)b.p;
}

static void cookies_confine(struct head *h)
{
	for (unsigned i = 0; i < h->n;) {
		char *value;

		if (strcasecmp(h->fields[i].name, "set-cookie")) {
			i++;
			continue;
		}
		value = cookie_confine(h->fields[i].value);
		if (!value) {
			field_drop(h, i);
			continue;
		}
		free(h->fields[i].value);
		h->fields[i++].value = value;
	}
}

/* A place of the cell's as the browser finds it. */
static void location_map(struct head *h, const struct target *t, uint16_t port)
{
	const char *to = head_find(h, "location", NULL);
	char prefix[PREVIEW_TOKEN_LEN + 8], own[48];
	struct buf b = { 0 };
	size_t n;

	if (!to)
		return;
	n = (size_t)snprintf(own, sizeof(own), "http://localhost:%u/", port) - 1;
	if (!strncmp(to, own, n + 1))
		to += n;
	if (to[0] != '/' || to[1] == '/' || to[1] == '\\')
		return;
	snprintf(prefix, sizeof(prefix), "/p/%s", t->token);
	buf_add_text(&b, prefix);
	buf_add_text(&b, to);
	field_set(h, "Location", (char *)b.p);
	buf_free(&b);
}

void head_to_browser(struct head *h, const struct target *t, uint16_t port, bool origin_is_null)
{
	head_hops(h);
	if (t->form == TARGET_HOST) {
		cookies_confine(h);
		return;
	}
	head_remove(h, "set-cookie");
	head_remove(h, "service-worker-allowed");
	head_remove(h, "clear-site-data");
	location_map(h, t, port);
	/* Any number of policies: each one holds. */
	(void)!head_add(h, "Content-Security-Policy", 23, SANDBOX, sizeof(SANDBOX) - 1);
	field_set(h, "Referrer-Policy", "no-referrer");
	if (origin_is_null)
		field_set(h, "Access-Control-Allow-Origin", "*");
}
