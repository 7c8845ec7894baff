/* Errors in words; see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

static printf_like(4, 0) void note(struct err *e, enum err_kind kind, const char *code,
				   const char *fmt, va_list ap)
{
	e->kind = kind;
	e->code = code;
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	/* Names out of archives are part of messages. */
	text_hide_controls(e->text);
}

void err_note(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(e, kind, NULL, fmt, ap);
	va_end(ap);
}

void err_note_code(struct err *e, const char *code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note(e, ERR_USAGE, code, fmt, ap);
	va_end(ap);
}
