/* Reading JSON; see json.h. Texts are decoded in place, in a copy of the document. */
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 64

struct parser {
	struct json_doc *d;
	char *p, *end;
	struct json *open[DEPTH]; /* lists and objects that are not closed */
	struct json *last[DEPTH]; /* their last members */
	unsigned depth;
	bool nul; /* NULs in texts are replaced, not refused */
};

static struct json *value_new(struct json_doc *d)
{
	struct json *v = xalloc(sizeof(*v));

	buf_add(&d->blocks, &v, sizeof(void *));
	return v;
}

static void space_skip(struct parser *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

static bool hex4(const char *p, const char *end, uint32_t *ret)
{
	*ret = 0;
	if (end - p < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] | 0x20) : p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		*ret = *ret << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return true;
}

static char *utf8_put(char *to, uint32_t c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 63));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 63));
		*to++ = (char)(0x80 | (c >> 6 & 63));
		*to++ = (char)(0x80 | (c & 63));
	}
	return to;
}

/* Behind "\u": a character, of two halves if need be. */
static bool unicode_parse(struct parser *s, char **to)
{
	uint32_t c, low;

	if (!hex4(s->p, s->end, &c) || (!c && !s->nul))
		return false;
	if (!c)
		c = 0xfffd;
	s->p += 4;
	if (c >= 0xd800 && c < 0xdc00 && s->end - s->p >= 6 && s->p[0] == '\\' && s->p[1] == 'u' &&
	    hex4(s->p + 2, s->end, &low) && low >= 0xdc00 && low < 0xe000) {
		c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
		s->p += 6;
	} else if (c >= 0xd800 && c < 0xe000) {
		c = 0xfffd;
	}
	*to = utf8_put(*to, c);
	return true;
}

/* At the opening quote: the text, decoded where it lies and ended by a NUL. NULL: a mistake. */
static char *text_parse(struct parser *s)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	char *start = ++s->p, *to = start;

	while (s->p < s->end && *s->p != '"') {
		const char *known;

		if ((unsigned char)*s->p < ' ')
			return NULL;
		if (*s->p != '\\') {
			*to++ = *s->p++;
			continue;
		}
		if (++s->p >= s->end)
			return NULL;
		if (*s->p == 'u') {
			s->p++;
			if (!unicode_parse(s, &to))
				return NULL;
			continue;
		}
		known = *s->p ? strchr(from, *s->p) : NULL;
		if (!known)
			return NULL;
		*to++ = into[known - from];
		s->p++;
	}
	if (s->p >= s->end)
		return NULL;
	s->p++;
	*to = '\0';
	return start;
}

/* A number or a word: copied, as there is no place for its end. */
static bool word_parse(struct parser *s, struct json *v)
{
	char *start = s->p;
	size_t n;

	while (s->p < s->end && *s->p && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", *s->p))
		s->p++;
	n = (size_t)(s->p - start);
	if (!n || n > 64)
		return false;
	v->text = xstrndup(start, n);
	buf_add(&s->d->blocks, &v->text, sizeof(v->text));
	if (!strcmp(v->text, "null"))
		v->type = JSON_NULL;
	else if (!strcmp(v->text, "true") || !strcmp(v->text, "false"))
		v->type = JSON_BOOL;
	else if (*start == '-' || (*start >= '0' && *start <= '9'))
		v->type = JSON_NUMBER;
	else
		return false;
	return true;
}

static bool value_parse(struct parser *s, struct json *v)
{
	space_skip(s);
	if (s->p >= s->end)
		return false;
	switch (*s->p) {
	case '"':
		v->type = JSON_TEXT;
		v->text = text_parse(s);
		return v->text != NULL;
	case '{':
	case '[':
		if (s->depth == DEPTH)
			return false;
		v->type = *s->p++ == '{' ? JSON_OBJECT : JSON_LIST;
		s->open[s->depth] = v;
		s->last[s->depth++] = NULL;
		return true;
	default:
		return word_parse(s, v);
	}
}

/* The next member of the innermost list or object, or its end. */
static bool member_parse(struct parser *s)
{
	struct json *parent = s->open[s->depth - 1], **last = &s->last[s->depth - 1], *v;
	bool object = parent->type == JSON_OBJECT;

	space_skip(s);
	if (s->p < s->end && *s->p == (object ? '}' : ']')) {
		s->p++;
		s->depth--;
		return true;
	}
	if (*last) {
		if (s->p >= s->end || *s->p++ != ',')
			return false;
		space_skip(s);
	}
	v = value_new(s->d);
	if (object) {
		if (s->p >= s->end || *s->p != '"')
			return false;
		v->key = text_parse(s);
		space_skip(s);
		if (!v->key || s->p >= s->end || *s->p++ != ':')
			return false;
	}
	if (*last)
		(*last)->next = v;
	else
		parent->first = v;
	*last = v;
	return value_parse(s, v);
}

static int document_parse(struct json_doc *d, const char *text, size_t len, size_t max, bool nul,
			  struct err *e)
{
	struct parser s = { .d = d, .nul = nul };
	bool good;

	*d = (struct json_doc){ 0 };
	if (len > max)
		return err_set(e, ERR_FAILED, "a JSON document of %zu bytes; %zu are possible", len,
			       max);
	d->bytes = xalloc(len + 1);
	memcpy(d->bytes, text, len);
	s.p = d->bytes;
	s.end = d->bytes + len;
	d->root = value_new(d);
	good = value_parse(&s, d->root);
	while (good && s.depth)
		good = member_parse(&s);
	space_skip(&s);
	if (good && s.p == s.end)
		return 0;
	err_set(e, ERR_FAILED, "broken JSON at byte %zu", (size_t)(s.p - d->bytes));
	json_free(d);
	return -1;
}

int json_parse(struct json_doc *d, const char *text, size_t len, struct err *e)
{
	return document_parse(d, text, len, JSON_MAX, false, e);
}

int json_parse_any(struct json_doc *d, const char *text, size_t len, size_t max, struct err *e)
{
	return document_parse(d, text, len, max, true, e);
}

void json_free(struct json_doc *d)
{
	for (size_t i = 0; i < BUF_COUNT(&d->blocks, void *); i++)
		free(*BUF_ITEM(&d->blocks, void *, i));
	buf_free(&d->blocks);
	free(d->bytes);
	*d = (struct json_doc){ 0 };
}

const struct json *json_get(const struct json *v, const char *key, enum json_type type)
{
	if (!v || v->type != JSON_OBJECT)
		return NULL;
	for (v = v->first; v; v = v->next)
		if (!strcmp(v->key, key))
			return v->type == type ? v : NULL;
	return NULL;
}

const char *json_get_text(const struct json *v, const char *key)
{
	v = json_get(v, key, JSON_TEXT);
	return v ? v->text : NULL;
}

void json_get_err(const struct json *v, int http, struct err *ret)
{
	const char *code = json_get_text(v, "code"), *message = json_get_text(v, "message"),
		   *cause = json_get_text(v, "cause"), *remedy = json_get_text(v, "remedy");

	err_note(ret, err_kind_of(code ? code : "", http), "%s", message ? message : "");
	err_cause(ret, cause ? cause : "");
	err_remedy(ret, remedy ? remedy : "");
}

bool json_get_u64(const struct json *v, const char *key, uint64_t *ret)
{
	char *end;

	v = json_get(v, key, JSON_NUMBER);
	if (!v || v->text[0] == '-')
		return false;
	*ret = strtoull(v->text, &end, 10);
	return !*end;
}
