/* Messages of the program itself. A line is built in one buffer and handed over whole, so that
 * lines of different processes do not mix. Longer lines are cut. Nothing is allocated: this must
 * work when memory is short. The default sink writes to standard error.
 * #syscalls: write exit_group */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_LEN 512

void (*log_sink)(const char *line) SEALED;
bool log_debug_on;

static void line_write(const char *line)
{
	char out[LINE_MAX_LEN + 8];
	int n = snprintf(out, sizeof(out), "viv: %s\n", line);
	if (n >= (int)sizeof(out))
		n = sizeof(out) - 1;
	/* There is nobody to tell when this fails. */
	if (write(STDERR_FILENO, out, (size_t)n) < 0)
		return;
}

printf_like(1, 0) static void line_emit(const char *fmt, va_list args)
{
	char line[LINE_MAX_LEN];
	vsnprintf(line, sizeof(line), fmt, args);
	if (log_sink)
		log_sink(line);
	else
		line_write(line);
}

void log_warn(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	line_emit(fmt, args);
	va_end(args);
}

void log_debug(const char *fmt, ...)
{
	va_list args;
	if (!log_debug_on)
		return;
	va_start(args, fmt);
	line_emit(fmt, args);
	va_end(args);
}

void log_die(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	line_emit(fmt, args);
	va_end(args);
	exit(125);
}
