/* See color.h. */
#include "cli/color.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_colored(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && !(term && !strcmp(term, "dumb")) && isatty(fileno(to));
}

const char *color_on(FILE *to, enum color c)
{
	static const char *const codes[] = { [COLOR_NONE] = "",
					     [COLOR_GOOD] = "\033[32m",
					     [COLOR_WARN] = "\033[33m",
					     [COLOR_BAD] = "\033[31m",
					     [COLOR_FAINT] = "\033[2m" };

	return is_colored(to) ? codes[c] : "";
}

const char *color_off(FILE *to, enum color c)
{
	return c != COLOR_NONE && is_colored(to) ? "\033[0m" : "";
}

enum color color_state(const char *state)
{
	if (!strcmp(state, "running"))
		return COLOR_GOOD;
	if (!strcmp(state, "failed"))
		return COLOR_BAD;
	return !strcmp(state, "stopped") || !strcmp(state, "completed") ||
			       !strcmp(state, "created") || !strcmp(state, "sleeping")
		       ? COLOR_FAINT
		       : COLOR_WARN;
}
