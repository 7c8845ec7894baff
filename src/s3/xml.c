/* A reader of S3's answers: one pass over the text, tag by tag, no tree and no recursion.
 * Attributes, comments, declarations and unknown elements are stepped over. An element counts by
 * its name and by whether it lies in <Contents> or <CommonPrefixes>; names that do not fit or
 * cannot be keys are left out. Of entities, the five of XML and numbers are known. */
#include "s3/xml.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct span {
	const char *s;
	size_t len;
};

struct reader {
	const char *at, *end;
};

struct tag {
	struct span name;
	struct span text; /* between it and the next tag */
	bool closes, is_empty;
};

static bool span_is(struct span a, const char *b)
{
	return a.len == strlen(b) && memcmp(a.s, b, a.len) == 0;
}

/* The next tag, and the text behind it. False: the end. */
static bool tag_next(struct reader *r, struct tag *out)
{
	for (;;) {
		const char *open = memchr(r->at, '<', (size_t)(r->end - r->at)), *close, *s, *next;

		if (!open)
			return false;
		close = memchr(open, '>', (size_t)(r->end - open));
		if (!close)
			return false;
		s = open + 1;
		r->at = close + 1;
		if (*s == '?' || *s == '!')
			continue;
		out->closes = *s == '/';
		if (out->closes)
			s++;
		out->is_empty = close > s && close[-1] == '/';
		out->name.s = s;
		while (s < close && *s != ' ' && *s != '\t' && *s != '\n' && *s != '\r' &&
		       *s != '/')
			s++;
		out->name.len = (size_t)(s - out->name.s);
		next = memchr(r->at, '<', (size_t)(r->end - r->at));
		out->text = (struct span){ r->at, (size_t)((next ? next : r->end) - r->at) };
		return true;
	}
}

static size_t utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

static int digit(char c, int base)
{
	int d = c >= '0' && c <= '9'   ? c - '0'
		: c >= 'a' && c <= 'f' ? c - 'a' + 10
		: c >= 'A' && c <= 'F' ? c - 'A' + 10
				       : 99;

	return d < base ? d : -1;
}

/* The character of "&...;" at s, which is left bytes long; 0: none. *ret_len: of the entity. */
static uint32_t entity(const char *s, size_t left, size_t *ret_len)
{
	static const struct {
		const char *name;
		char c;
	} known[] = { { "&amp;", '&' },
		      { "&lt;", '<' },
		      { "&gt;", '>' },
		      { "&quot;", '"' },
		      { "&apos;", '\'' } };
	uint32_t c = 0;
	size_t i = 2;
	int base = 10;

	for (unsigned k = 0; k < ARRAY_LEN(known); k++) {
		size_t n = strlen(known[k].name);

		if (left >= n && memcmp(s, known[k].name, n) == 0) {
			*ret_len = n;
			return (unsigned char)known[k].c;
		}
	}
	if (left < 4 || s[1] != '#')
		return 0;
	if (s[2] == 'x') {
		base = 16;
		i = 3;
	}
	for (; i < left && i < 12 && digit(s[i], base) >= 0; i++)
		c = c * (uint32_t)base + (uint32_t)digit(s[i], base);
	if (i >= left || s[i] != ';' || c > 0x10ffff)
		return 0;
	*ret_len = i + 1;
	return c;
}

/* Entities, then (if the server said so) percent signs. The length, or SIZE_MAX: too long or
 * broken. */
static size_t text_decode(struct span t, bool url, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < t.len;) {
		char c = t.s[i];
		size_t used = 1;

		if (n + 4 >= size)
			return SIZE_MAX;
		if (c == '&') {
			uint32_t e = entity(t.s + i, t.len - i, &used);

			if (!e)
				return SIZE_MAX;
			n += utf8_put(out + n, e);
		} else if (url && c == '%') {
			int a = i + 2 < t.len ? digit(t.s[i + 1], 16) : -1;
			int b = i + 2 < t.len ? digit(t.s[i + 2], 16) : -1;

			if (a < 0 || b < 0)
				return SIZE_MAX;
			out[n++] = (char)(a * 16 + b);
			used = 3;
		} else {
			out[n++] = url && c == '+' ? ' ' : c;
		}
		i += used;
	}
	out[n] = '\0';
	return n;
}

uint64_t etag_hash(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325UL;

	for (size_t i = 0; i < len; i++)
		if (s[i] != '"')
			h = (h ^ (unsigned char)s[i]) * 0x100000001b3UL;
	return h ? h : 1;
}

static uint64_t number(struct span t)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t.len && t.s[i] >= '0' && t.s[i] <= '9'; i++) {
		if (n > UINT64_MAX / 16)
			return 0;
		n = n * 10 + (uint64_t)(t.s[i] - '0');
	}
	return n;
}

/* 2024-01-31T12:34:56.000Z; 0: something else. */
static int64_t iso_time(struct span t)
{
	struct tm tm = { 0 };
	char s[20];

	if (t.len < 19)
		return 0;
	memcpy(s, t.s, 19);
	s[19] = '\0';
	if (sscanf(s, "%4d-%2d-%2dT%2d:%2d:%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
		   &tm.tm_min, &tm.tm_sec) != 6 ||
	    tm.tm_year < 1970 || tm.tm_mon < 1 || tm.tm_mon > 12)
		return 0;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	return timegm(&tm);
}

/* A field of the entry that is being read. */
static void entry_field(struct listing_entry *e, const struct tag *t, bool url, bool *ret_ok)
{
	size_t n;

	if (span_is(t->name, "Key") || span_is(t->name, "Prefix")) {
		n = text_decode(t->text, url, e->key, sizeof(e->key));
		if (n == SIZE_MAX || memchr(e->key, '\0', n)) {
			*ret_ok = false;
			return;
		}
		e->key_len = n;
	} else if (span_is(t->name, "Size")) {
		e->size = number(t->text);
	} else if (span_is(t->name, "LastModified")) {
		e->mtime = iso_time(t->text);
	} else if (span_is(t->name, "ETag")) {
		char tag[256];

		n = text_decode(t->text, false, tag, sizeof(tag));
		e->etag = n == SIZE_MAX ? 1 : etag_hash(tag, n);
	}
}

bool listing_parse(struct listing *l, const char *text, size_t len)
{
	static const char encoded[] = "<EncodingType>url</EncodingType>";
	struct reader r = { text, text + len };
	bool url = memmem(text, len, encoded, sizeof(encoded) - 1) != NULL;
	bool in_entry = false, entry_ok = false, seen = false, ended = false;
	struct listing_entry e;
	struct tag t;

	l->truncated = false;
	l->token[0] = l->marker[0] = '\0';
	while (tag_next(&r, &t)) {
		bool is_file = span_is(t.name, "Contents");
		bool is_dir = span_is(t.name, "CommonPrefixes");

		if (span_is(t.name, "ListBucketResult")) {
			seen = true;
			ended |= t.closes || t.is_empty;
		}
		if (is_file || is_dir) {
			if (!t.closes) {
				memset(&e, 0, sizeof(e));
				e.is_dir = is_dir;
				entry_ok = in_entry = true;
			} else if (in_entry) {
				in_entry = false;
				if (entry_ok && e.key_len && seen && !l->entry(l, &e))
					return true;
			}
		} else if (in_entry) {
			if (!t.closes)
				entry_field(&e, &t, url, &entry_ok);
		} else if (!t.closes && span_is(t.name, "IsTruncated")) {
			l->truncated = span_is(t.text, "true");
		} else if (!t.closes && span_is(t.name, "NextContinuationToken")) {
			if (text_decode(t.text, false, l->token, sizeof(l->token)) == SIZE_MAX)
				return false;
		} else if (!t.closes && span_is(t.name, "NextMarker")) {
			if (text_decode(t.text, url, l->marker, sizeof(l->marker)) == SIZE_MAX)
				return false;
		}
	}
	return seen && ended;
}

bool xml_value(const char *text, size_t len, const char *name, char *out, size_t size)
{
	struct reader r = { text, text + len };
	struct tag t;

	while (tag_next(&r, &t))
		if (!t.closes && !t.is_empty && span_is(t.name, name))
			return text_decode(t.text, false, out, size) != SIZE_MAX;
	return false;
}
