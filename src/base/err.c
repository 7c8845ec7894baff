/* See err.h. */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

#include "base/jsontext.h"
#include "base/utf8.h"

#define ERR_ROW(name, code, exit, http) [ERR_##name] = { code, exit, http },
static const struct {
	const char *code;
	int exit, http;
} kinds[] = { [ERR_NONE] = { "failed", 1, 500 }, ERR_KINDS(ERR_ROW) };

static unsigned row(const struct err *e)
{
	return (unsigned)e->kind < ERR_END ? (unsigned)e->kind : ERR_NONE;
}

const char *err_code(const struct err *e)
{
	return kinds[row(e)].code;
}

int err_exit(const struct err *e)
{
	return kinds[row(e)].exit;
}

int err_exit_guest(const struct err *e)
{
	return MAX(err_exit(e), EXIT_OWN);
}

enum err_kind err_kind_of_status(int guest_status)
{
	return guest_status == 127   ? ERR_COMMAND_NOT_FOUND
	       : guest_status == 126 ? ERR_NOT_EXECUTABLE
				     : ERR_FAILED;
}

int err_http(const struct err *e)
{
	return kinds[row(e)].http;
}

enum err_kind err_kind_of(const char *code, int http)
{
	enum err_kind found = ERR_FAILED;

	for (unsigned i = ERR_NONE + 1; i < ERR_END; i++) {
		bool same = !http || kinds[i].http == http;

		if (same && !strcmp(kinds[i].code, code))
			return (enum err_kind)i;
		if (http && same && found == ERR_FAILED)
			found = (enum err_kind)i;
	}
	return found;
}

/* Adds text behind the len bytes that are there. */
static size_t text_add(char *to, size_t size, size_t len, const char *text)
{
	static const char more[] = "...";
	size_t n = strlen(text), room = size - 1 - len;

	if (n > room) {
		memcpy(to + len, text, room);
		len = size - sizeof(more);
		len -= text_utf8_tail(to, len);
		text = more;
		n = sizeof(more) - 1;
	}
	memcpy(to + len, text, n + 1);
	text_hide_controls(to);
	return len + n;
}

/* Formats the message, and gives the remedy to ret_remedy when there is one: "". What is formatted
 * may be a part of e. */
static printf_like(5, 0) void text_format(char *text, size_t size, char *remedy, size_t remedy_size,
					  const char *fmt, va_list ap)
{
	const char *mark = strchr(fmt, REMEDY[0]);
	char *at;

	remedy[0] = '\0';
	vsnprintf(text, size, fmt, ap);
	/* The last one is the format's: values before it are anybody's bytes. */
	at = mark ? strrchr(text, REMEDY[0]) : NULL;
	if (at)
		*at = '\0';
	if (mark && !strchr(mark, '%'))
		text_add(remedy, remedy_size, 0, mark + 1);
	else if (at)
		text_add(remedy, remedy_size, 0, at + 1);
}

void err_note_va(struct err *e, enum err_kind kind, const char *fmt, va_list ap)
{
	char text[sizeof(e->message) + sizeof(e->remedy)], remedy[sizeof(e->remedy)];

	text_format(text, sizeof(text), remedy, sizeof(remedy), fmt, ap);
	e->kind = kind;
	e->cause[0] = '\0';
	text_add(e->message, sizeof(e->message), 0, text);
	strcpy(e->remedy, remedy);
}

void err_note(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_note_va(e, kind, fmt, ap);
	va_end(ap);
}

void err_wrap_note(struct err *e, const char *fmt, ...)
{
	struct err was = *e;
	va_list ap;

	va_start(ap, fmt);
	err_note_va(e, was.kind, fmt, ap);
	va_end(ap);
	err_cause(e, was.message);
	err_cause(e, was.cause);
	/* Who was nearer knows better. */
	if (was.remedy[0])
		strcpy(e->remedy, was.remedy);
}

void err_cause(struct err *e, const char *cause)
{
	size_t len = strlen(e->cause);

	if (!cause[0])
		return;
	if (len)
		len = text_add(e->cause, sizeof(e->cause), len, ": ");
	text_add(e->cause, sizeof(e->cause), len, cause);
}

void err_remedy(struct err *e, const char *remedy)
{
	if (!e->remedy[0])
		text_add(e->remedy, sizeof(e->remedy), 0, remedy);
}

struct err_line err_line(const struct err *e)
{
	struct err_line l = { "" };
	size_t len = 0;

	if (e->kind)
		len = text_add(l.str, sizeof(l.str), len, e->message);
	if (e->kind && e->cause[0]) {
		len = text_add(l.str, sizeof(l.str), len, ": ");
		len = text_add(l.str, sizeof(l.str), len, e->cause);
	}
	if (e->kind && e->remedy[0]) {
		len = text_add(l.str, sizeof(l.str), len, "; ");
		text_add(l.str, sizeof(l.str), len, e->remedy);
	}
	return l;
}

void err_json(const struct err *e, struct buf *to)
{
	buf_add_text(to, "{");
	json_member_text(to, "code", err_code(e));
	json_member_text(to, "message", e->message);
	json_member_text(to, "cause", e->cause[0] ? e->cause : NULL);
	json_member_text(to, "remedy", e->remedy[0] ? e->remedy : NULL);
	buf_add_text(to, "}");
}
