/* See keeper.h. An error's texts lie one after the other, each with its NUL: message, remedy,
 * cause. Who knows the message only, finds it. */
#include "wire/keeper.h"

#include <string.h>

static char *text_put(char *at, const char *end, const char *text)
{
	size_t n = strnlen(text, (size_t)(end - at) - 1);

	memcpy(at, text, n);
	at[n] = '\0';
	return at + n + 1;
}

void keep_text_set(char text[KEEP_TEXT], const struct err *e)
{
	char *at = text;

	memset(text, 0, KEEP_TEXT);
	/* Each leaves a byte for those after it: the cause is the first to be cut. */
	at = text_put(at, text + KEEP_TEXT - 2, e->message);
	at = text_put(at, text + KEEP_TEXT - 1, e->remedy);
	text_put(at, text + KEEP_TEXT, e->cause);
}

void keep_text_get(const char text[KEEP_TEXT], enum err_kind kind, struct err *ret)
{
	const char *part[3] = { "", "", "" };
	char copy[KEEP_TEXT + 1];
	size_t at = 0;

	memcpy(copy, text, KEEP_TEXT);
	copy[KEEP_TEXT] = '\0';
	for (unsigned i = 0; i < ARRAY_LEN(part) && at < KEEP_TEXT; i++) {
		part[i] = copy + at;
		at += strlen(part[i]) + 1;
	}
	err_note(ret, kind, "%s", part[0]);
	err_remedy(ret, part[1]);
	err_cause(ret, part[2]);
}

void keep_fail_set(struct keep_msg *m, const struct err *e)
{
	m->type = KEEP_FAIL;
	m->b = (int)e->kind;
	keep_text_set(m->text, e);
}

void keep_fail_get(const struct keep_msg *m, struct err *ret)
{
	enum err_kind kind = m->b > ERR_NONE && m->b < ERR_END ? (enum err_kind)m->b : ERR_FAILED;

	/* Keepers of before say that in the status only. */
	if (m->a == 126 || m->a == 127)
		kind = err_kind_of_status(m->a);
	keep_text_get(m->text, kind, ret);
}
