/* Errors in words; see err.h. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"

void err_note(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	e->kind = kind;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	/* Names out of archives are part of messages. */
	text_hide_controls(e->text);
}
