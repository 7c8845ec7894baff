/* See chunk.h. */
#include "api/chunk.h"

#include <stdio.h>
#include <string.h>

#include "api/text.h"

/* For the head and what is around the bytes. */
#define FRAME 160

size_t chunk_room(size_t size)
{
	return size > FRAME + 16 ? (size - FRAME) / 4 * 3 : 0;
}

/* Writes s as the inside of a text of JSON; false: it does not fit. */
static bool text_put(char **to, const char *end, const char *s, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	char *p = *to;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (end - p < 6)
			return false;
		if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f) {
			*p++ = (char)c;
		} else if (c == '\n') {
			*p++ = '\\';
			*p++ = 'n';
		} else if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = (char)c;
		} else {
			memcpy(p, "\\u00", 4);
			p[4] = hex[c >> 4];
			p[5] = hex[c & 15];
			p += 6;
		}
	}
	*to = p;
	return true;
}

/* How many bytes more than n its text takes. */
static size_t text_extra(const char *s, size_t n)
{
	size_t extra = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		extra += (size_t)(c == '\n' || c == '"' || c == '\\') +
			 5u * (c < ' ' && c != '\n') + 5u * (c == 0x7f);
	}
	return extra;
}

size_t chunk_line(char *out, size_t size, const char *head, const char *data, size_t n, bool last,
		  size_t *ret_kept)
{
	size_t kept = last ? 0 : text_utf8_tail(data, n);
	char *p = out, *end = out + size - 8;

	*ret_kept = 0;
	/* Not when base64 is shorter. */
	if (n + text_extra(data, n) <= MIN(size - FRAME, MAX(BASE64_SIZE(n), (size_t)256)) &&
	    text_is_utf8(data, n - kept)) {
		p += snprintf(p, FRAME / 2, "%s,\"text\":\"", head);
		if (text_put(&p, end, data, n - kept)) {
			memcpy(p, "\"}\n", 3);
			*ret_kept = kept;
			return (size_t)(p + 3 - out);
		}
		p = out;
	}
	p += snprintf(p, FRAME / 2, "%s,\"base64\":\"", head);
	base64_encode(p, data, n);
	p += BASE64_SIZE(n);
	memcpy(p, "\"}\n", 3);
	return (size_t)(p + 3 - out);
}
