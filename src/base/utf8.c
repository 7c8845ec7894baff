/* See utf8.h. */
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

int utf8_length(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	int len = s[0] < 0x80			? 1
		  : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		  : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		  : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						: 0;

	for (int i = 1; i < len; i++) {
		if ((size_t)i == n)
			return -1;
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		/* Too long a form, a surrogate, above U+10FFFF. */
		if (i == 1 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
			       (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90)))
			return 0;
	}
	return len;
}

size_t text_utf8_head(const char *s, size_t size)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t n = size;

	while (n) {
		uint64_t eight;
		int len;

		/* Most text is ASCII. */
		while (n >= sizeof(eight)) {
			memcpy(&eight, p, sizeof(eight));
			if (eight & 0x8080808080808080)
				break;
			p += sizeof(eight);
			n -= sizeof(eight);
		}
		if (!n)
			break;
		len = *p < 0x80 ? 1 : utf8_length((const char *)p, n);

		if (len <= 0)
			return size - n;
		p += len;
		n -= (size_t)len;
	}
	return size;
}

bool text_is_utf8(const char *s, size_t n)
{
	return text_utf8_head(s, n) == n;
}

size_t text_utf8_tail(const char *s, size_t n)
{
	for (size_t back = 1; back <= 3 && back <= n; back++) {
		unsigned char c = (unsigned char)s[n - back];

		if ((c & 0xc0) == 0x80)
			continue;
		return utf8_length(s + n - back, back) < 0 ? back : 0;
	}
	return 0;
}

unsigned text_printable(const char *text, size_t n)
{
	const unsigned char *s = (const unsigned char *)text;
	int len = n ? utf8_length(text, n) : 0;

	if (len == 1)
		return s[0] >= 0x20 && s[0] != 0x7f;
	/* The second set of controls, U+0080 to U+009F. */
	if (len <= 0 || (s[0] == 0xc2 && s[1] < 0xa0))
		return 0;
	/* U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069. */
	if (s[0] == 0xe2 &&
	    ((s[1] == 0x80 && (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xaa && s[2] <= 0xae))) ||
	     (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)))
		return 0;
	return (unsigned)len;
}

void text_hide_controls(char *s)
{
	size_t left = strlen(s);

	while (left) {
		unsigned n = text_printable(s, left);

		if (!n)
			*s = '?';
		s += n ? n : 1;
		left -= n ? n : 1;
	}
}

void text_clean(const char *text, size_t size, char *line, size_t max)
{
	size_t n = 0, len = strnlen(text, size);

	for (size_t i = 0; i < len && n + 5 < max; i++) {
		unsigned whole = text_printable(text + i, len - i);

		if (!whole)
			n += (size_t)snprintf(line + n, max - n, "\\x%02x", (unsigned char)text[i]);
		for (unsigned k = 0; k < whole; k++)
			line[n++] = text[i + k];
		i += whole ? whole - 1 : 0;
	}
	line[n] = '\0';
}
