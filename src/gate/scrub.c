/* See secret.h: finding texts in bytes, however they are written, and putting others in their
 * place.
 *
 * A server that gets a value may send it back: in a header, in a text of JSON, in a URL, in a page.
 * So every value is looked for as it is and with any of its bytes escaped as URLs (%2F), JSON and
 * C (\/, \u002f, \x2f) and HTML (&#47;, &#x2f;, &amp;) do, in hexadecimal, and in base64 wherever
 * in the encoded bytes it stands. This is against echoes, by accident or by an attacker who can
 * make one. It is not against a server that helps to steal what it has been given: that one can
 * write it backwards.
 *
 * Most bytes are passed over by a look at two of them in a bitmap. */
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "base/base64.h"
#include "gate/secret.h"

#define ESC_URL 1u
#define ESC_SLASH 2u
#define ESC_HTML 4u
#define ESC_ALL 7u

#define ENTITY_MAX 10 /* bytes of one that is read */

struct patterns {
	struct buf list; /* of struct pattern */
	bool first[256]; /* bytes with which one may begin */
	uint64_t pairs[65536 / 64]; /* the same with two */
};

struct patterns *patterns_new(void)
{
	struct patterns *ps = xalloc(sizeof(*ps));

	memset(ps, 0, sizeof(*ps));
	return ps;
}

void patterns_free(struct patterns *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < BUF_COUNT(&ps->list, struct pattern); i++) {
		struct pattern *pt = BUF_ITEM(&ps->list, struct pattern, i);

		explicit_bzero(pt->p, pt->n);
		explicit_bzero(pt->with, strlen(pt->with));
		free(pt->p);
		free(pt->with);
	}
	buf_free(&ps->list);
	free(ps);
}

static bool byte_escapes(uint8_t c)
{
	return c == '%' || c == '\\' || c == '&';
}

/* Can a text that begins with these two bytes begin with this one, written in some way? */
static bool pair_begins(uint8_t one, uint8_t two, uint8_t byte)
{
	static const char digits[] = "0123456789abcdef";

	switch (one) {
	case '%':
		return (two | 0x20) == digits[byte >> 4] || two == digits[byte >> 4];
	case '\\':
		return two == 'u' || two == 'x' || two == byte;
	case '&':
		return two == '#' || (strchr("&<>\"' ", byte) && two >= 'a' && two <= 'q');
	case '+': /* a space in a URL */
		return byte == ' ';
	default:
		return false;
	}
}

void patterns_add(struct patterns *ps, const void *p, size_t n, const char *with, bool plain)
{
	struct pattern *pt = buf_more(&ps->list, sizeof(*pt));
	const uint8_t *b = p;

	pt->p = xalloc(n);
	memcpy(pt->p, p, n);
	pt->n = n;
	pt->with = xstrndup(with, strlen(with));
	pt->plain = plain;
	for (unsigned pair = 0; pair < 65536; pair++) {
		uint8_t one = (uint8_t)(pair >> 8), two = (uint8_t)pair;
		/* As it is, with the second byte in any form; or the first in another form. */
		bool begins = one == b[0] && (n < 2 || two == b[1] ||
					      (!plain && (byte_escapes(two) || two == '+')));

		if (!begins && (plain || !pair_begins(one, two, b[0])))
			continue;
		ps->first[one] = true;
		ps->pairs[pair / 64] |= (uint64_t)1 << (pair & 63);
	}
}

/* ---- one byte, however it is written ---- */

/* Exactly so many digits: how many bytes, 0: there are too few yet, -1: not that. */
static int hex_read(const uint8_t *p, size_t n, unsigned digits, unsigned *ret)
{
	*ret = 0;
	for (unsigned i = 0; i < digits; i++) {
		int d = i < n ? hex_digit((char)p[i]) : 0;

		if (i == n)
			return 0;
		if (d < 0)
			return -1;
		*ret = *ret << 4 | (unsigned)d;
	}
	return (int)digits;
}

static int slash_read(const uint8_t *p, size_t n, unsigned *ret)
{
	int used;

	if (n < 2)
		return 0;
	if (p[1] == 'u' || p[1] == 'x') {
		used = hex_read(p + 2, n - 2, p[1] == 'u' ? 4 : 2, ret);
		return used > 0 ? used + 2 : used;
	}
	*ret = strchr("abfnrtv0", p[1]) && p[1] ? '\n' : p[1];
	return 2;
}

static int entity_read(const uint8_t *p, size_t n, unsigned *ret)
{
	static const struct {
		const char *name;
		char c;
	} named[] = { { "amp", '&' },  { "lt", '<' },	 { "gt", '>' },
		      { "quot", '"' }, { "apos", '\'' }, { "nbsp", ' ' } };
	const uint8_t *end = memchr(p, ';', MIN(n, (size_t)ENTITY_MAX));
	size_t len = end ? (size_t)(end - p) : 0;
	char text[ENTITY_MAX + 1] = "", *stop = NULL;

	if (!end)
		return n < ENTITY_MAX ? 0 : -1;
	memcpy(text, p + 1, len - 1);
	for (unsigned i = 0; i < ARRAY_LEN(named); i++)
		if (!strcmp(text, named[i].name)) {
			*ret = (unsigned)named[i].c;
			return (int)len + 1;
		}
	if (text[0] != '#')
		return -1;
	if (text[1] == 'x' || text[1] == 'X')
		*ret = (unsigned)strtoul(text + 2, &stop, 16);
	else
		*ret = (unsigned)strtoul(text + 1, &stop, 10);
	return *stop || stop == text + 1 ? -1 : (int)len + 1;
}

/* The byte that p begins with: how many bytes it is written with; 0: more are needed to know. */
static size_t unit_read(const uint8_t *p, size_t n, unsigned escapes, unsigned *ret)
{
	int used = -1;

	if (*p == '%' && escapes & ESC_URL) {
		used = hex_read(p + 1, n - 1, 2, ret);
		used = used > 0 ? used + 1 : used;
	} else if (*p == '\\' && escapes & ESC_SLASH) {
		used = slash_read(p, n, ret);
	} else if (*p == '&' && escapes & ESC_HTML) {
		used = entity_read(p, n, ret);
	}
	if (used >= 0)
		return (size_t)used;
	*ret = *p;
	return 1;
}

/* ---- searching ---- */

enum found { FOUND_NOT, FOUND_MAYBE, FOUND };

static enum found pattern_at(const struct pattern *pt, unsigned escapes, const uint8_t *p, size_t n,
			     size_t *ret_len)
{
	size_t at = 0;

	for (size_t i = 0; i < pt->n; i++) {
		unsigned byte;
		size_t used;

		if (at == n)
			return FOUND_MAYBE;
		used = unit_read(p + at, n - at, escapes, &byte);
		if (!used)
			return FOUND_MAYBE;
		if (byte != pt->p[i] && !(byte == '+' && pt->p[i] == ' ' && escapes & ESC_URL))
			return FOUND_NOT;
		at += used;
	}
	*ret_len = at;
	return FOUND;
}

/* With the escapes that can be meant. A pattern that has such a character itself can be written
 * with it as it is. */
static enum found pattern_any(const struct pattern *pt, const uint8_t *p, size_t n, size_t *ret_len)
{
	static const unsigned each[] = { 0, ESC_URL, ESC_SLASH, ESC_HTML };
	enum found best = FOUND_NOT;
	bool special = false;

	if (pt->plain)
		return pattern_at(pt, 0, p, n, ret_len);
	for (size_t i = 0; i < pt->n; i++)
		special |= byte_escapes(pt->p[i]);
	if (!special)
		return pattern_at(pt, ESC_ALL, p, n, ret_len);
	for (unsigned i = 0; i < ARRAY_LEN(each) && best != FOUND; i++)
		best = MAX(best, pattern_at(pt, each[i], p, n, ret_len));
	return best;
}

/* The longest that begins at p. One that may still become longer is waited for. */
static enum found patterns_at(const struct patterns *ps, const uint8_t *p, size_t n, bool end,
			      size_t *ret_len, const struct pattern **ret)
{
	enum found best = FOUND_NOT;

	*ret_len = 0;
	for (size_t i = 0; i < BUF_COUNT(&ps->list, struct pattern); i++) {
		const struct pattern *pt = BUF_ITEM(&ps->list, struct pattern, i);
		size_t len = 0;
		enum found f;

		if (pt->p[0] != *p && (pt->plain || (n > 1 && !pair_begins(p[0], p[1], pt->p[0]))))
			continue;
		f = pattern_any(pt, p, n, &len);
		if (f == FOUND_MAYBE && !end)
			return FOUND_MAYBE;
		if (f == FOUND && len > *ret_len) {
			best = FOUND;
			*ret_len = len;
			*ret = pt;
		}
	}
	return best;
}

/* The next place at which one may begin; n: none. */
static size_t candidate(const struct patterns *ps, const uint8_t *p, size_t at, size_t n)
{
	for (; at + 1 < n; at++) {
		unsigned pair = (unsigned)p[at] << 8 | p[at + 1];

		if (ps->pairs[pair / 64] >> (pair & 63) & 1)
			return at;
	}
	return at < n && !ps->first[p[at]] ? n : at;
}

size_t patterns_run(const struct patterns *ps, const uint8_t *p, size_t n, bool end, bool mask,
		    struct buf *to, bool *changed)
{
	size_t done = 0, at = candidate(ps, p, 0, n);

	while (at < n) {
		const struct pattern *pt = NULL;
		size_t len;
		enum found f = patterns_at(ps, p + at, n - at, end, &len, &pt);

		if (f == FOUND_MAYBE)
			break;
		if (f == FOUND) {
			buf_add(to, p + done, at - done);
			if (mask)
				memset(buf_more(to, len), '*', len);
			else
				buf_add(to, pt->with, strlen(pt->with));
			if (changed)
				*changed = true;
			done = at + len;
		}
		at = candidate(ps, p, f == FOUND ? done : at + 1, n);
	}
	buf_add(to, p + done, at - done);
	return at;
}

/* ---- what is looked for ---- */

/* The characters of base64 that depend on the value alone when `before` bytes precede it. again:
 * and of these, in the base64 of a text that has them. */
static void base64_add(struct patterns *ps, const char *value, unsigned before, bool again,
		       const char *with)
{
	size_t n = strlen(value), all = before + n;
	size_t from = before ? before + 1 : 0, to = all / 3 * 4 + all % 3;
	uint8_t *bytes = xalloc(all);
	char *text = xalloc(BASE64_SIZE(all) + 1);
	bool other = false;

	memset(bytes, 0, before);
	memcpy(bytes + before, value, n);
	base64_encode(text, bytes, all);
	text[to] = '\0';
	patterns_add(ps, text + from, to - from, with, false);
	for (unsigned i = 0; again && i < 3; i++)
		base64_add(ps, text + from, i, false, with);
	for (size_t i = from; i < to; i++) {
		other |= text[i] == '+' || text[i] == '/';
		text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
	}
	if (other)
		patterns_add(ps, text + from, to - from, with, false);
	explicit_bzero(bytes, all);
	explicit_bzero(text, BASE64_SIZE(all));
	free(bytes);
	free(text);
}

/* May a request have it in base64? Then an echo of the request in base64 has it twice encoded. */
static bool secret_is_encoded(const struct secret *s)
{
	for (unsigned i = 0; i < s->nplaces; i++)
		if (s->places[i].where == SECRET_BASIC || s->places[i].where == SECRET_ANYWHERE)
			return true;
	return false;
}

static void hex_add(struct patterns *ps, const char *value, const char *digits, const char *with)
{
	struct buf text = { 0 };

	for (; *value; value++) {
		buf_add(&text, &digits[(uint8_t)*value >> 4], 1);
		buf_add(&text, &digits[*value & 15], 1);
	}
	patterns_add(ps, text.p, text.len, with, true);
	explicit_bzero(text.p, text.len);
	buf_free(&text);
}

static void value_add(struct patterns *ps, const char *value, bool again, const char *with)
{
	patterns_add(ps, value, strlen(value), with, false);
	for (unsigned before = 0; before < 3; before++)
		base64_add(ps, value, before, again, with);
	hex_add(ps, value, "0123456789abcdef", with);
	hex_add(ps, value, "0123456789ABCDEF", with);
}

struct patterns *patterns_of_values(const struct secrets *s)
{
	struct patterns *ps = patterns_new();

	for (unsigned i = 0; i < s->n; i++)
		if (s->list[i].value)
			value_add(ps, s->list[i].value, secret_is_encoded(&s->list[i]),
				  s->list[i].placeholder);
	for (unsigned i = 0; i < MIN(s->nformer, SECRETS_FORMER); i++)
		value_add(ps, s->former[i].value, true, s->former[i].placeholder);
	return ps;
}

void text_add_url(struct buf *to, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *text; text++) {
		uint8_t c = (uint8_t)*text;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr("-._~", c)) {
			buf_add(to, &c, 1);
		} else {
			buf_add(to, "%", 1);
			buf_add(to, &digits[c >> 4], 1);
			buf_add(to, &digits[c & 15], 1);
		}
	}
}

void text_add_json(struct buf *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buf_add(to, "\\", 1);
		buf_add(to, text, 1);
	}
}

static bool type_is(const char *type, const char *part)
{
	return type && strcasestr(type, part) != NULL;
}

struct patterns *patterns_of_body(const struct secret_site *site, const char *content_type)
{
	struct patterns *ps = patterns_new();

	for (unsigned i = 0; site->set && i < site->set->n; i++) {
		const struct secret *s = &site->set->list[i];
		struct buf with = { 0 };
		bool in_body = false;

		for (unsigned j = 0; j < s->nplaces; j++)
			in_body |= s->places[j].where == SECRET_BODY;
		if (!in_body || !s->value || !(site->bound >> i & 1))
			continue;
		if (type_is(content_type, "x-www-form-urlencoded"))
			text_add_url(&with, s->value);
		else if (type_is(content_type, "json"))
			text_add_json(&with, s->value);
		else
			buf_add(&with, s->value, strlen(s->value));
		buf_add(&with, "", 1);
		patterns_add(ps, s->placeholder, strlen(s->placeholder), (char *)with.p, true);
		explicit_bzero(with.p, with.len);
		buf_free(&with);
	}
	return ps;
}

static const struct patterns *values_of(struct secrets *set)
{
	if (!set->values)
		set->values = patterns_of_values(set);
	return set->values;
}

bool scrub_text(const struct secret_site *site, const char *text, size_t n, struct buf *to)
{
	bool changed = false;

	if (!secret_site_guards(site))
		return false;
	patterns_run(values_of(site->set), (const uint8_t *)text, n, true, false, to, &changed);
	return changed;
}

/* The first placeholder in a text. */
static const struct secret *placeholder_in(const struct secrets *set, const char *text, size_t n,
					   const char **ret_at)
{
	const struct secret *found = NULL;

	for (unsigned i = 0; i < set->n; i++) {
		const struct secret *s = &set->list[i];
		const char *at = memmem(text, n, s->placeholder, strlen(s->placeholder));

		/* At the same place, the longer one. */
		if (at &&
		    (!found || at < *ret_at ||
		     (at == *ret_at && strlen(s->placeholder) > strlen(found->placeholder)))) {
			found = s;
			*ret_at = at;
		}
	}
	return found;
}

void secret_conceal(struct secrets *set, const char *text, size_t n, struct buf *to)
{
	struct buf clean = { 0 };
	const struct secret *s;
	const char *at = NULL, *p, *end;

	if (!set) {
		buf_add(to, text, n);
		return;
	}
	patterns_run(values_of(set), (const uint8_t *)text, n, true, false, &clean, NULL);
	p = (const char *)clean.p;
	end = p + clean.len;
	while (p < end && (s = placeholder_in(set, p, (size_t)(end - p), &at))) {
		buf_add(to, p, (size_t)(at - p));
		buf_add_text(to, "{");
		buf_add_text(to, s->name);
		buf_add_text(to, "}");
		p = at + strlen(s->placeholder);
	}
	if (p < end)
		buf_add(to, p, (size_t)(end - p));
	buf_free(&clean);
}
