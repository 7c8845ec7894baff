/* See fault.h. */
#include "daemon/state/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* JSON is UTF-8, and names in messages are anybody's bytes. */
static void text_clean(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f)
			*s = '?';
}

static void remedy_split(struct fault *f)
{
	char *semi = strstr(f->message, "; ");

	f->remedy[0] = '\0';
	if (!semi)
		return;
	snprintf(f->remedy, sizeof(f->remedy), "%s", semi + 2);
	*semi = '\0';
}

void fault_note(struct fault *f, int status, const char *code, const char *fmt, ...)
{
	va_list ap;

	f->status = status;
	f->code = code;
	f->cause[0] = '\0';
	va_start(ap, fmt);
	vsnprintf(f->message, sizeof(f->message), fmt, ap);
	va_end(ap);
	text_clean(f->message);
	remedy_split(f);
}

void fault_cause(struct fault *f, const char *cause)
{
	snprintf(f->cause, sizeof(f->cause), "%s", cause);
	text_clean(f->cause);
}

void fault_convert(struct fault *f, const struct err *e)
{
	static const struct {
		enum err_kind kind;
		int status;
		const char *code;
	} kinds[] = {
		{ ERR_USAGE, 400, "invalid" },
		{ ERR_NOT_FOUND, 404, "not_found" },
		{ ERR_CONFLICT, 409, "conflict" },
	};

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].kind == e->kind) {
			fault_note(f, kinds[i].status, e->code ? e->code : kinds[i].code, "%s",
				   e->text);
			return;
		}
	fault_note(f, 500, "failed", "%s", e->text);
}
