/* See chunk.h. */
#include "api/http/chunk.h"

#include <stdio.h>
#include <string.h>

#include "api/http/text.h"

/* For the head and what is around the bytes. */
#define FRAME 240

size_t chunk_room(size_t size)
{
	return size > FRAME + 16 ? (size - FRAME) / 4 * 3 : 0;
}

#define EACH(byte) ((uint64_t)(byte)*0x0101010101010101)
#define ANY_ZERO(x) (((x)-EACH(1)) & ~(x)&EACH(0x80))

/* Eight bytes that stand for themselves in a text of JSON: none below a space, no quote, no
 * backslash, no DEL. */
static bool all_plain(uint64_t x)
{
	return !((((x)-EACH(' ')) & ~x & EACH(0x80)) | ANY_ZERO(x ^ EACH('"')) |
		 ANY_ZERO(x ^ EACH('\\')) | ANY_ZERO(x ^ EACH(0x7f)));
}

/* Writes s as the inside of a text of JSON; false: it would be more than max bytes. Up to eight
 * more may be written to. */
static bool text_put(char **to, size_t max, const char *s, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	char *p = *to, *end = p + max;

	for (size_t i = 0; i < n; i++) {
		unsigned char c;
		uint64_t eight;

		while (n - i >= sizeof(eight)) {
			memcpy(&eight, s + i, sizeof(eight));
			if (p > end || !all_plain(eight))
				break;
			memcpy(p, &eight, sizeof(eight));
			p += sizeof(eight);
			i += sizeof(eight);
		}
		if (i == n || p > end)
			break;
		c = (unsigned char)s[i];
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
	return p <= end;
}

size_t chunk_line(char *out, size_t size, const char *head, const char *data, size_t n, bool last,
		  size_t *ret_kept)
{
	size_t kept = last ? 0 : text_utf8_tail(data, n);
	/* Not when base64 is shorter. */
	size_t max = MIN(size - FRAME, MAX(BASE64_SIZE(n), (size_t)256));
	char *p = out;

	*ret_kept = 0;
	if (n <= max && text_is_utf8(data, n - kept)) {
		p += snprintf(p, FRAME / 2, "%s,\"text\":\"", head);
		if (text_put(&p, max, data, n - kept)) {
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
