/* Heads and bodies of HTTP/1; see http.h. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gate/http.h"

/* ---- heads ---- */

size_t h1_head_end(const uint8_t *p, size_t n, size_t *scanned, const char **wrong)
{
	*wrong = NULL;
	for (size_t i = *scanned; i < n && i < HEAD_MAX; i++) {
		if (p[i] != '\n') {
			if (p[i] == '\0' || (i && p[i - 1] == '\r')) {
				*wrong = "a CR or NUL in the head";
				return 0;
			}
			continue;
		}
		if (!i || p[i - 1] != '\r') {
			*wrong = "a line that ends without CR";
			return 0;
		}
		if (i >= 3 && p[i - 2] == '\n')
			return i + 1;
	}
	*scanned = MIN(n, (size_t)HEAD_MAX);
	if (n >= HEAD_MAX)
		*wrong = "the head is too long";
	return 0;
}

const char *h1_fields_read(struct head *h, const uint8_t *p, size_t n)
{
	const uint8_t *end = p + n;

	while (p < end) {
		const uint8_t *line = memchr(p, '\n', (size_t)(end - p)), *colon;
		const char *wrong;
		size_t len;

		if (!line || line == p || line[-1] != '\r')
			return "a line that ends without CR";
		len = (size_t)(line - p) - 1;
		if (len && (*p == ' ' || *p == '\t'))
			return "a folded line";
		colon = memchr(p, ':', len);
		if (!colon)
			return "a line without a colon";
		wrong = head_add(h, p, (size_t)(colon - p), colon + 1,
				 len - (size_t)(colon - p) - 1);
		if (wrong)
			return wrong;
		p = line + 1;
	}
	return NULL;
}

/* The version at the end of a request line or at the beginning of a status line. */
static const char *version_read(struct head *h, const char *p)
{
	if (memcmp(p, "HTTP/1.", 7) || (p[7] != '0' && p[7] != '1'))
		return "not HTTP/1.0 or HTTP/1.1";
	h->minor = (unsigned)(p[7] - '0');
	return NULL;
}

/* "http://HOST/PATH?QUERY" */
static const char *absolute_read(struct head *h, const char *p, size_t n)
{
	size_t scheme = n > 7 && !strncasecmp(p, "http://", 7)	  ? 7
			: n > 8 && !strncasecmp(p, "https://", 8) ? 8
								  : 0;
	size_t host;

	if (!scheme)
		return "neither a path nor a URL";
	text_set(&h->scheme, scheme == 7 ? "http" : "https", scheme - 3);
	p += scheme, n -= scheme;
	for (host = 0; host < n && !strchr("/?", p[host]); host++)
		;
	text_set(&h->authority, p, host);
	if (host < n && p[host] == '/') {
		text_set(&h->target, p + host, n - host);
	} else {
		struct buf b = { 0 };

		buf_add(&b, "/", 1);
		buf_add(&b, p + host, n - host);
		text_set(&h->target, b.p, b.len);
		buf_free(&b);
	}
	return NULL;
}

const char *h1_request_read(struct head *h, const uint8_t *p, size_t n)
{
	const char *s = (const char *)p, *end = memchr(s, '\r', n), *one, *two, *wrong;
	size_t line = (size_t)(end - s);

	one = memchr(s, ' ', line);
	if (!one || line < 12 || end - 9 <= one || end[-9] != ' ')
		return "not a request";
	two = end - 9;
	wrong = version_read(h, two + 1);
	if (wrong)
		return wrong;
	if (!is_token(s, (size_t)(one - s)) || (size_t)(one - s) > METHOD_MAX)
		return "a wrong method";
	one++;
	if (one >= two || memchr(one, ' ', (size_t)(two - one)) ||
	    !is_value(one, (size_t)(two - one)))
		return "a wrong path";
	text_set(&h->method, s, (size_t)(one - 1 - s));
	if (*one == '/' || (two - one == 1 && *one == '*'))
		text_set(&h->target, one, (size_t)(two - one));
	else if (strcmp(h->method, "CONNECT") &&
		 (wrong = absolute_read(h, one, (size_t)(two - one))))
		return wrong;
	return h1_fields_read(h, p + line + 2, n - line - 4);
}

const char *h1_response_read(struct head *h, const uint8_t *p, size_t n)
{
	const char *s = (const char *)p, *end = memchr(s, '\r', n), *wrong;
	size_t line = (size_t)(end - s);

	if (line < 12 || s[8] != ' ' || (line > 12 && s[12] != ' '))
		return "not a response";
	wrong = version_read(h, s);
	if (wrong)
		return wrong;
	for (unsigned i = 9; i < 12; i++) {
		if (s[i] < '0' || s[i] > '9')
			return "a wrong status";
		h->status = h->status * 10 + (unsigned)(s[i] - '0');
	}
	if (h->status < 100 || h->status > 599)
		return "a wrong status";
	if (line > 13 && !is_value(s + 13, line - 13))
		return "a wrong reason";
	text_set(&h->reason, line > 13 ? s + 13 : "", line > 13 ? line - 13 : 0);
	return h1_fields_read(h, p + line + 2, n - line - 4);
}

void h1_fields_write(const struct head *h, struct buf *to)
{
	for (unsigned i = 0; i < h->n; i++) {
		buf_add_text(to, h->fields[i].name);
		buf_add(to, ": ", 2);
		buf_add_text(to, h->fields[i].value);
		buf_add(to, "\r\n", 2);
	}
}

void h1_head_write(const struct head *h, struct buf *to)
{
	char line[32];

	if (h->method) {
		buf_add_text(to, h->method);
		buf_add(to, " ", 1);
		buf_add_text(to, h->target);
		buf_add_text(to, " HTTP/1.1\r\n");
	} else {
		snprintf(line, sizeof(line), "HTTP/1.1 %u ", h->status);
		buf_add_text(to, line);
		buf_add_text(to, h->reason ? h->reason : "");
		buf_add(to, "\r\n", 2);
	}
	h1_fields_write(h, to);
	buf_add(to, "\r\n", 2);
}

/* ---- bodies ---- */

/* Sets kind and left from the fields, and removes them. */
static const char *length_take(struct body *b, struct head *h)
{
	unsigned lengths, codings;
	const char *length = head_find(h, "content-length", &lengths);
	const char *coding = head_find(h, "transfer-encoding", &codings);

	if (lengths > 1 || codings > 1 || (lengths && codings))
		return "more than one length of the body";
	if (coding) {
		if (strcasecmp(coding, "chunked") || h->minor == 0)
			return "a transfer encoding that is not 'chunked'";
		b->kind = BODY_CHUNKED;
	}
	if (length) {
		size_t n = strlen(length);

		if (n == 0 || n > 18 || strspn(length, "0123456789") != n)
			return "a wrong length of the body";
		for (; *length; length++)
			b->left = b->left * 10 + (unsigned)(*length - '0');
		b->kind = BODY_LENGTH;
	}
	head_remove(h, "transfer-encoding");
	return NULL;
}

const char *body_of_request(struct body *b, struct head *h)
{
	const char *wrong;

	*b = (struct body){ .kind = BODY_NONE, .strict = true };
	wrong = length_take(b, h);
	b->done = b->kind == BODY_NONE || (b->kind == BODY_LENGTH && !b->left);
	return wrong;
}

const char *body_of_response(struct body *b, struct head *h, bool bare)
{
	const char *wrong;

	*b = (struct body){ .kind = BODY_CLOSE };
	wrong = length_take(b, h);
	if (bare || h->status == 204 || h->status == 304 || h->status < 200)
		b->kind = BODY_NONE;
	b->done = b->kind == BODY_NONE || (b->kind == BODY_LENGTH && !b->left);
	return wrong;
}

enum { CHUNK_SIZE, CHUNK_MORE, CHUNK_SIZE_LF, CHUNK_DATA, CHUNK_CR, CHUNK_LF, CHUNK_TRAILERS };

#define EXTENSION_MAX 1024

static const char *size_digit(struct body *b, uint8_t c)
{
	if (c == '\r') {
		b->state = CHUNK_SIZE_LF;
		return b->digits ? NULL : "a chunk without a size";
	}
	if (c == ';' && b->digits && !b->strict) {
		b->state = CHUNK_MORE;
		return NULL;
	}
	if (++b->digits > 15 || !c || !strchr("0123456789abcdefABCDEF", c))
		return "a wrong size of a chunk";
	b->left = b->left * 16 + (uint64_t)(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
	return NULL;
}

static const char *trailer_byte(struct body *b, uint8_t c)
{
	size_t n;

	buf_add(&b->trailers, &c, 1);
	n = b->trailers.len;
	if (n > TRAILERS_MAX)
		return "the trailers are too long";
	if (c == '\n' && (n < 2 || b->trailers.p[n - 2] != '\r'))
		return "a line that ends without CR";
	/* The last line is empty. */
	if (c == '\n' && (n == 2 || b->trailers.p[n - 3] == '\n')) {
		b->trailers.len -= 2;
		b->done = true;
	}
	return NULL;
}

static const char *chunk_byte(struct body *b, uint8_t c)
{
	switch (b->state) {
	case CHUNK_SIZE:
		return size_digit(b, c);
	case CHUNK_MORE:
		if (c == '\r')
			b->state = CHUNK_SIZE_LF;
		else if (c == '\n' || ++b->digits > EXTENSION_MAX)
			return "a wrong extension of a chunk";
		return NULL;
	case CHUNK_SIZE_LF:
		b->state = b->left ? CHUNK_DATA : CHUNK_TRAILERS;
		b->digits = 0;
		break;
	case CHUNK_CR:
		b->state = CHUNK_LF;
		return c == '\r' ? NULL : "a chunk that is longer than its size";
	case CHUNK_LF:
		b->state = CHUNK_SIZE;
		break;
	case CHUNK_TRAILERS:
		return trailer_byte(b, c);
	}
	return c == '\n' ? NULL : "a line of a chunk that ends without CR LF";
}

size_t body_step(struct body *b, const uint8_t *p, size_t n, const uint8_t **ret, size_t *ret_n)
{
	size_t at = 0;

	*ret_n = 0;
	*ret = p;
	if (b->kind == BODY_CLOSE) {
		*ret_n = n;
		return n;
	}
	while (at < n && !b->done && !b->wrong) {
		if (b->kind == BODY_LENGTH || b->state == CHUNK_DATA) {
			*ret = p + at;
			*ret_n = MIN((uint64_t)(n - at), b->left);
			b->left -= *ret_n;
			if (!b->left && b->kind == BODY_LENGTH)
				b->done = true;
			else if (!b->left)
				b->state = CHUNK_CR;
			return at + *ret_n;
		}
		b->wrong = chunk_byte(b, p[at++]);
	}
	return at;
}

void body_fini(struct body *b)
{
	buf_free(&b->trailers);
}

void chunk_write(struct buf *to, const uint8_t *p, size_t n)
{
	char size[24];

	if (!n)
		return;
	snprintf(size, sizeof(size), "%zx\r\n", n);
	buf_add_text(to, size);
	buf_add(to, p, n);
	buf_add(to, "\r\n", 2);
}
