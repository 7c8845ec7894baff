/* Messages for who started us. */
#include "keeper/run.h"

#include <stdarg.h>
#include <stdio.h>

static printf_like(1, 0) void message(const char *fmt, va_list ap)
{
	char line[1024];

	vsnprintf(line, sizeof(line), fmt, ap);
	fprintf(stderr, "viv: %s\n", line);
}

int fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
	return EXIT_OWN;
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}
