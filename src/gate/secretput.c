/* See secret.h: values in requests.
 *
 * A placeholder is looked for in the target and in every header, also within the base64 of Basic
 * authorization. One that is at a place to which its secret is bound, in a request to a host to
 * which it is bound, becomes the value. Every other one is refused: a program that sends it there
 * expects something that will not happen, or tries what is not allowed. (Bodies are not refused: an
 * agent may well tell its model what its environment looks like, and a placeholder tells nothing.)
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "gate/secret.h"

#define HEAD_MAX (1u << 20) /* of a header or target that is looked at */

struct text {
	const char *p;
	size_t n;
};

/* The first placeholder in a text: its secret, and where. */
static const struct secret *placeholder_find(const struct secret_site *site, struct text t,
					     size_t *ret_at)
{
	const struct secret *found = NULL;
	size_t at = t.n;

	for (unsigned i = 0; site->set && i < site->set->n; i++) {
		const struct secret *s = &site->set->list[i];
		const char *p = memmem(t.p, t.n, s->placeholder, strlen(s->placeholder));

		/* At the same place, the longer one. */
		if (p && ((size_t)(p - t.p) < at ||
			  ((size_t)(p - t.p) == at && found &&
			   strlen(s->placeholder) > strlen(found->placeholder)))) {
			at = (size_t)(p - t.p);
			found = s;
		}
	}
	*ret_at = at;
	return found;
}

static int refuse(const struct secret_site *site, const struct secret *s, const char *place,
		  struct err *e)
{
	if (!s->value)
		return err_set(e, ERR_DENIED,
			       "the placeholder of secret %s is in a request to %s, and the "
			       "secret was removed" REMEDY
			       "the operator can set it again with 'viv secret set %s'",
			       s->name, site->host, s->name);
	if (!(site->bound >> (s - site->set->list) & 1))
		return err_set(e, ERR_DENIED,
			       "the placeholder of secret %s is in a request to %s, to which the "
			       "secret is not bound" REMEDY
			       "'viv secret set %s --host %s' binds it",
			       s->name, site->host, s->name, site->host);
	return err_set(
		e, ERR_DENIED,
		"the placeholder of secret %s is in %s of a request to %s, where the secret is "
		"not bound" REMEDY "'viv secret show %s' lists its places",
		s->name, place, site->host, s->name);
}

/* Is the secret bound to this host and, by fits(), to this place there? */
typedef bool place_fits(const struct secret_place *p, const struct text *whole, size_t at,
			const void *arg);

static bool place_allowed(const struct secret_site *site, const struct secret *s, place_fits *fits,
			  const struct text *whole, size_t at, const void *arg)
{
	if (!s->value || !(site->bound >> (s - site->set->list) & 1))
		return false;
	for (unsigned i = 0; i < s->nplaces; i++)
		if (s->places[i].where == SECRET_ANYWHERE || fits(&s->places[i], whole, at, arg))
			return true;
	return false;
}

static void value_add(struct buf *to, const char *value)
{
	buf_add(to, value, strlen(value));
}

/* Replaces every placeholder of a text. As secret_header. */
static int text_put(const struct secret_site *site, struct text t, place_fits *fits,
		    const void *arg, const char *place,
		    void (*add)(struct buf *to, const char *value), struct buf *to, struct err *e)
{
	struct text rest = t;
	const struct secret *s;
	size_t at;

	if (t.n > HEAD_MAX)
		return err_set(e, ERR_DENIED, "%s of a request to %s is too long", place,
			       site->host);
	s = placeholder_find(site, rest, &at);
	if (!s)
		return 0;
	for (; s; s = placeholder_find(site, rest, &at)) {
		if (!place_allowed(site, s, fits, &t, (size_t)(rest.p - t.p) + at, arg))
			return refuse(site, s, place, e);
		buf_add(to, rest.p, at);
		add(to, s->value);
		at += strlen(s->placeholder);
		rest = (struct text){ rest.p + at, rest.n - at };
	}
	buf_add(to, rest.p, rest.n);
	return 1;
}

/* ---- the target ---- */

/* The parameter in which a place of the target is. */
static bool query_fits(const struct secret_place *p, const struct text *t, size_t at,
		       const void *arg)
{
	const char *query = memchr(t->p, '?', t->n);
	size_t from = at, n = strlen(p->name);

	(void)arg;
	if (p->where != SECRET_QUERY || !query || (size_t)(query - t->p) >= at)
		return false;
	while (from && t->p[from - 1] != '&' && t->p[from - 1] != '?')
		from--;
	return n < at - from && !memcmp(t->p + from, p->name, n) && t->p[from + n] == '=';
}

int secret_target(const struct secret_site *site, const char *target, size_t n, struct buf *to,
		  struct err *e)
{
	return text_put(site, (struct text){ target, n }, query_fits, NULL, "the URL", text_add_url,
			to, e);
}

/* ---- headers ---- */

static bool name_is(struct text name, const char *what)
{
	return name.n == strlen(what) && !strncasecmp(name.p, what, name.n);
}

/* The length of a scheme of authorization and the spaces behind it; 0: another one. */
static size_t scheme_is(const struct text *t, const char *scheme)
{
	size_t n = strlen(scheme);

	if (t->n <= n || strncasecmp(t->p, scheme, n) || t->p[n] != ' ')
		return 0;
	while (n < t->n && t->p[n] == ' ')
		n++;
	return n;
}

static bool header_fits(const struct secret_place *p, const struct text *t, size_t at,
			const void *arg)
{
	const struct text *name = arg;

	if (p->where == SECRET_BEARER && name_is(*name, "authorization"))
		return at && (scheme_is(t, "bearer") == at || scheme_is(t, "token") == at);
	return p->where == SECRET_HEADER && name_is(*name, p->name);
}

/* Of "USER:PASSWORD". */
static bool basic_fits(const struct secret_place *p, const struct text *t, size_t at,
		       const void *arg)
{
	size_t n = strlen(p->name);

	(void)at;
	(void)arg;
	return p->where == SECRET_BASIC &&
	       (!n || (t->n > n && !memcmp(t->p, p->name, n) && t->p[n] == ':'));
}

static int basic_put(const struct secret_site *site, struct text coded, const char *scheme,
		     size_t nscheme, struct buf *to, struct err *e)
{
	struct buf padded = { 0 }, plain = { 0 };
	struct text t = { xalloc(coded.n + 4), 0 };
	ssize_t n;
	int ret = 0;

	/* Some leave the padding out. */
	buf_add(&padded, coded.p, coded.n);
	while (padded.len % 4)
		buf_add(&padded, "=", 1);
	n = base64_decode((char *)(uintptr_t)t.p, (char *)padded.p, padded.len);
	if (n > 0) {
		t.n = (size_t)n;
		ret = text_put(site, t, basic_fits, NULL, "the Basic authorization", value_add,
			       &plain, e);
	}
	if (ret > 0) {
		buf_add(to, scheme, nscheme);
		base64_encode(buf_more(to, BASE64_SIZE(plain.len)), plain.p, plain.len);
		explicit_bzero(plain.p, plain.len);
	}
	free((char *)(uintptr_t)t.p);
	buf_free(&padded);
	buf_free(&plain);
	return ret;
}

int secret_header(const struct secret_site *site, const char *name, size_t nname, const char *value,
		  size_t n, struct buf *to, struct err *e)
{
	struct text header = { name, nname }, t = { value, n };
	size_t scheme = scheme_is(&t, "basic"), at;
	const struct secret *s;

	if (!site->set)
		return 0;
	/* Where a request goes is never a secret. */
	if (name_is(header, "host") || name_is(header, ":authority")) {
		s = placeholder_find(site, t, &at);
		return s ? refuse(site, s, "the host", e) : 0;
	}
	if (scheme && n <= HEAD_MAX && name_is(header, "authorization")) {
		struct text coded = { value + scheme, n - scheme };
		int ret;

		while (coded.n && coded.p[coded.n - 1] == ' ')
			coded.n--;
		ret = basic_put(site, coded, value, scheme, to, e);
		if (ret)
			return ret;
	}
	return text_put(site, t, header_fits, &header, "a header", value_add, to, e);
}
