/* Globs of paths, programs and variables. Time is bounded by the product of both lengths, memory by
 * the glob's: the glob is run as a machine that is in several states at once. */
#include <string.h>

#include "policy/compiled.h"

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

/* Runs it over a text. now: the states before, and then those after it; false: there are none. */
static bool states_run(const char *glob, size_t n, bool *now, const char *text)
{
	bool next[GLOB_MAX + 1];

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
		memcpy(now, next, n + 1);
		if (!any)
			return false;
	}
	return true;
}

/* From the beginning. */
static bool states_after(const char *glob, size_t n, bool *now, const char *text, const char *more)
{
	memset(now, 0, n + 1);
	state_add(glob, n, now, 0);
	return states_run(glob, n, now, text) && states_run(glob, n, now, more);
}

bool glob_match(const char *glob, const char *text)
{
	bool now[GLOB_MAX + 1];
	size_t n;

	/* Most differ soon. */
	for (; *glob && *glob != '*' && *glob != '?'; glob++, text++)
		if (*glob != *text)
			return false;
	if (!*glob)
		return !*text;
	n = strnlen(glob, GLOB_MAX);
	return n < GLOB_MAX && states_after(glob, n, now, text, "") && now[n];
}

bool glob_is_near(const char *glob, const char *text)
{
	bool now[GLOB_MAX + 1];
	size_t n = strnlen(glob, GLOB_MAX);
	const char *slash = *text && text[strlen(text) - 1] == '/' ? "" : "/";

	return n == GLOB_MAX || glob_match(glob, text) || states_after(glob, n, now, text, slash);
}

bool glob_is_same(const char *glob, const char *a, const char *b)
{
	bool after_a[GLOB_MAX + 1], after_b[GLOB_MAX + 1];
	size_t n = strnlen(glob, GLOB_MAX);

	if (n == GLOB_MAX)
		return false;
	states_after(glob, n, after_a, a, "/");
	states_after(glob, n, after_b, b, "/");
	return !memcmp(after_a, after_b, n + 1);
}
