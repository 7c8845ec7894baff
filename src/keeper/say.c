/* Messages for who started us: lines that begin with "viv: ", or objects for programs. */
#include "keeper/run.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/jsontext.h"
#include "base/utf8.h"

static bool as_json;

void say_json(bool on)
{
	as_json = on;
}

bool say_is_json(void)
{
	return as_json;
}

static printf_like(2, 0) void message(const char *code, const char *fmt, va_list ap)
{
	char line[1024];

	vsnprintf(line, sizeof(line), fmt, ap);
	if (as_json) {
		json_failure(stderr, code, line);
		return;
	}
	/* Part of it can be a guest's, like the name of a file: it steers no terminal. */
	text_hide_controls(line);
	fprintf(stderr, "viv: %s\n", line);
}

int fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("failed", fmt, ap);
	va_end(ap);
	return EXIT_OWN;
}

int fail_with(const struct err *e)
{
	return fail("%s", e->text);
}

int fail_as(enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(err_code(kind), fmt, ap);
	va_end(ap);
	return (int)kind;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("warning", fmt, ap);
	va_end(ap);
}
