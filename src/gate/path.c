/* The path of a request, as servers could read it; see http.h. */
#include <string.h>

#include "base/hex.h"
#include "gate/http.h"

#define DECODE_MAX 4 /* times */

/* In place. 1: something changed, 0: nothing, -1: it cannot be decoded. */
static int decode(char *s)
{
	char *to = s;
	int changed = 0;

	for (; *s; s++) {
		int high, low;

		if (*s != '%') {
			*to++ = *s;
			continue;
		}
		high = hex_digit(s[1]);
		low = high < 0 ? -1 : hex_digit(s[2]);
		if (low < 0)
			return -1;
		*to = (char)(high << 4 | low);
		if ((unsigned char)*to < ' ' || *to == 0x7f)
			return -1;
		to++, s += 2, changed = 1;
	}
	*to = '\0';
	return changed;
}

/* Without parameters, empty and dot segments; a final slash stays. */
static void resolve(char *path)
{
	char *to = path;
	const char *s = path;

	while (*s) {
		size_t n, plain;
		bool last;

		s += strspn(s, "/");
		n = strcspn(s, "/");
		plain = MIN(n, strcspn(s, ";"));
		last = !s[n];
		if (plain == 0 || (plain == 1 && s[0] == '.')) {
			/* nothing */
		} else if (plain == 2 && s[0] == '.' && s[1] == '.') {
			while (to > path && *--to != '/')
				;
		} else {
			*to++ = '/';
			memmove(to, s, plain);
			to += plain;
			if (last)
				break;
		}
		s += n;
		if (last) {
			*to++ = '/';
			break;
		}
	}
	if (to == path)
		*to++ = '/';
	*to = '\0';
}

bool path_read(const char *target, unsigned reading, char *to)
{
	size_t n = strcspn(target, "?");
	int changed = 1;

	if (n > TARGET_MAX)
		return false;
	memcpy(to, target, n);
	to[n] = '\0';
	if (reading == 0 || to[0] != '/')
		return true;
	for (unsigned i = 0; i < (reading == 1 ? 1 : DECODE_MAX) && changed > 0; i++)
		changed = decode(to);
	if (changed < 0 || reading == 1)
		return changed >= 0;
	if (changed)
		return false;
	for (char *s = to; *s; s++)
		if (*s == '\\')
			*s = '/';
	resolve(to);
	return true;
}

const char *target_wrong(const char *target, const char *method)
{
	if (strlen(target) > TARGET_MAX)
		return "the path is too long";
	if (!strcmp(target, "*"))
		return strcmp(method, "OPTIONS") ? "'*' instead of a path" : NULL;
	if (target[0] != '/')
		return "the path does not begin with '/'";
	for (const char *s = target; *s; s++)
		if (*s <= ' ' || *s >= 0x7f || *s == '#')
			return "a character that paths cannot have";
	return NULL;
}
