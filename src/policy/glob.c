/* Globs of paths, programs and variables. Time is bounded by the product of both lengths, memory by
 * the glob's: the glob is run as a machine that is in several states at once. */
#include <string.h>

#include "policy/policy.h"

#define GLOB_MAX 1024

const char *glob_wrong(const char *glob)
{
	if (!*glob)
		return "it is empty";
	if (strlen(glob) >= GLOB_MAX)
		return "it is too long";
	if (strstr(glob, "***"))
		return "'***' means nothing";
	for (const char *s = glob; *s; s++) {
		if (strchr("[]{}\\", *s))
			return "only '*', '**' and '?' are special; '[', '{' and '\\' are not "
			       "supported";
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return "it has a control character";
	}
	return NULL;
}

/* A state is a place in the glob. Adds one, with those that a '*' behind it lets skip. */
static void state_add(const char *glob, size_t n, bool *in, size_t at)
{
	while (at <= n && !in[at]) {
		in[at] = true;
		if (glob[at] != '*')
			return;
		at += glob[at + 1] == '*' ? 2 : 1;
	}
}

bool glob_match(const char *glob, const char *text)
{
	bool now[GLOB_MAX + 1] = { 0 }, next[GLOB_MAX + 1];
	size_t n = strlen(glob);

	if (n >= GLOB_MAX)
		return false;
	state_add(glob, n, now, 0);
	for (; *text; text++) {
		bool any = false;

		memset(next, 0, n + 1);
		for (size_t i = 0; i < n; i++) {
			bool deep = glob[i] == '*' && glob[i + 1] == '*';

			if (!now[i])
				continue;
			if (glob[i] == '*' ? deep || *text != '/'
					   : glob[i] == *text || (glob[i] == '?' && *text != '/')) {
				state_add(glob, n, next, glob[i] == '*' ? i : i + 1);
				any = true;
			}
		}
		if (!any)
			return false;
		memcpy(now, next, n + 1);
	}
	return now[n];
}
