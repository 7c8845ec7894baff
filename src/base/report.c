/* See report.h. */
#include "base/report.h"

#include <stdio.h>

#include "base/buf.h"

static bool as_json, of_guest;

void report_json(bool on)
{
	as_json = on;
}

bool report_is_json(void)
{
	return as_json;
}

void report_guest(bool on)
{
	of_guest = on;
}

int report(const struct err *e)
{
	struct buf b = { 0 };

	if (as_json) {
		err_json(e, &b);
		fprintf(stderr, "%s\n", (char *)b.p);
		buf_free(&b);
	} else {
		fprintf(stderr, "viv: %s\n", err_line(e).str);
	}
	return of_guest ? err_exit_guest(e) : err_exit(e);
}

int fail(enum err_kind kind, const char *fmt, ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&e, kind, fmt, ap);
	va_end(ap);
	return report(&e);
}

void warn(const char *fmt, ...)
{
	struct err e;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(&e, ERR_WARNING, fmt, ap);
	va_end(ap);
	report(&e);
}
