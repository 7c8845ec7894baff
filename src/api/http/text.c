/* See text.h. */
#include "api/http/text.h"

#include <string.h>
#include <strings.h>

#include "base/hex.h"

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
