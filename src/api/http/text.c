/* See text.h. */
#include "api/http/text.h"

#include <string.h>
#include <strings.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_decode(char *s)
{
	char *to = s;

	for (; *s; s++) {
		int high, low;

		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		high = hex_digit(s[1]);
		low = high < 0 ? -1 : hex_digit(s[2]);
		if (low < 0 || (!high && !low))
			return false;
		*to++ = (char)(high << 4 | low);
		s += 2;
	}
	*to = '\0';
	return true;
}

bool text_unescape(char *s)
{
	return text_decode(s) && text_is_utf8(s, strlen(s));
}

int text_split_path(char *path, char **parts, int max)
{
	int n = 0;

	while (*path == '/') {
		*path++ = '\0';
		if (!*path)
			break;
		if (n == max)
			return -1;
		parts[n++] = path;
		path += strcspn(path, "/");
	}
	return *path ? -1 : n;
}

bool text_number(const char *s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		if (*s < '0' || *s > '9' || v > (max - MIN(max, digit)) / 10)
			return false;
		v = v * 10 + digit;
	}
	*ret = v;
	return v <= max;
}

char *text_list_find(const char *list, const char *word)
{
	size_t want = strlen(word);
	bool begins = want && word[want - 1] == '.';

	while (*list) {
		size_t n;

		list += strspn(list, ", \t");
		n = strcspn(list, ",");
		while (n && (list[n - 1] == ' ' || list[n - 1] == '\t'))
			n--;
		if ((begins ? n > want : n == want) && !strncasecmp(list, word, want))
			return strndup(list, n);
		list += strcspn(list, ",");
	}
	return NULL;
}

const char *text_bearer(const char *header)
{
	if (strncasecmp(header, "Bearer ", 7))
		return NULL;
	return header + 7 + strspn(header + 7, " ");
}

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(char *to, const void *data, size_t n)
{
	/* Two characters for each twelve bits. */
	static char pairs[4096][2];
	const uint8_t *p = data;

	if (!pairs[0][0])
		for (unsigned i = 0; i < ARRAY_LEN(pairs); i++) {
			pairs[i][0] = alphabet[i >> 6];
			pairs[i][1] = alphabet[i & 63];
		}
	for (; n >= 3; n -= 3, p += 3, to += 4) {
		memcpy(to, pairs[p[0] << 4 | p[1] >> 4], 2);
		memcpy(to + 2, pairs[(p[1] & 15) << 8 | p[2]], 2);
	}
	if (!n)
		return;
	*to++ = alphabet[p[0] >> 2];
	*to++ = alphabet[(p[0] & 3) << 4 | (n > 1 ? p[1] >> 4 : 0)];
	*to++ = n > 1 ? alphabet[(p[1] & 15) << 2] : '=';
	*to = '=';
}

ssize_t base64_decode(void *to, const char *text, size_t n)
{
	uint8_t *p = to;
	size_t pad = 0;

	if (n % 4)
		return -1;
	while (pad < 2 && pad < n && text[n - 1 - pad] == '=')
		pad++;
	for (size_t i = 0; i < n; i += 4) {
		uint32_t v = 0;

		for (size_t j = i; j < i + 4; j++) {
			const char *at = j < n - pad && text[j] ? strchr(alphabet, text[j]) : NULL;

			if (j < n - pad && !at)
				return -1;
			v = v << 6 | (at ? (uint32_t)(at - alphabet) : 0);
		}
		*p++ = (uint8_t)(v >> 16);
		*p++ = (uint8_t)(v >> 8);
		*p++ = (uint8_t)v;
	}
	return (ssize_t)(n / 4 * 3 - (n ? pad : 0));
}
