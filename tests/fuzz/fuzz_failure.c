/* Errors as they come from other processes. A first byte of 0: the rest is a keeper's message
 * (KEEP_FAIL), else it is an error as vivd answers it, as JSON. Whatever was sent, what comes of it
 * is an error of a known kind whose texts a terminal can show, and which can be wrapped, sent on
 * and read again without a difference. */
/* objects: src/wire/keeper.c src/base/err.c src/base/json.c src/base/jsontext.c src/base/buf.c src/base/utf8.c src/base/log.c */
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "wire/keeper.h"

const char fuzz_name[] = "failure";
const size_t fuzz_max = 2048;

void fuzz_init(void)
{
}

static void text_check(const char *text, size_t size)
{
	size_t len = strnlen(text, size);
	unsigned n;

	FUZZ_CHECK(len < size);
	for (size_t at = 0; at < len; at += n) {
		n = text_printable(text + at, len - at);
		FUZZ_CHECK(n > 0);
	}
}

static void err_check(const struct err *e)
{
	FUZZ_CHECK(e->kind > ERR_NONE && e->kind < ERR_END);
	text_check(e->message, sizeof(e->message));
	text_check(e->cause, sizeof(e->cause));
	text_check(e->remedy, sizeof(e->remedy));
	text_check(err_line(e).str, sizeof(struct err_line));
}

static bool err_same(const struct err *a, const struct err *b)
{
	return a->kind == b->kind && !strcmp(a->message, b->message) &&
	       !strcmp(a->cause, b->cause) && !strcmp(a->remedy, b->remedy);
}

/* To the next process as a message, and to a program as JSON. */
static void sent_on(const struct err *e)
{
	struct keep_msg m = { 0 };
	struct buf b = { 0 };
	struct json_doc d;
	struct err back, bad;

	keep_fail_set(&m, e);
	keep_fail_get(&m, &back);
	err_check(&back);
	if (strlen(e->message) + strlen(e->cause) + strlen(e->remedy) + 3 <= KEEP_TEXT)
		FUZZ_CHECK(err_same(e, &back));
	else
		FUZZ_CHECK(e->kind == back.kind && strlen(back.message) <= strlen(e->message));
	err_json(e, &b);
	FUZZ_CHECK(json_parse(&d, (char *)b.p, b.len, &bad) == 0);
	json_get_err(d.root, err_http(e), &back);
	FUZZ_CHECK(err_same(e, &back));
	json_free(&d);
	buf_free(&b);
}

static void err_used(struct err *e)
{
	char inner[sizeof(e->message)];

	err_check(e);
	sent_on(e);
	strcpy(inner, e->message);
	err_wrap(e, "cannot start cell '%s'" REMEDY "try '%s'", e->cause, e->remedy);
	err_check(e);
	FUZZ_CHECK(!strncmp(e->cause, inner, strlen(inner)));
	sent_on(e);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct keep_msg m = { 0 };
	struct json_doc d;
	struct err e;

	if (!size)
		return;
	if (!data[0]) {
		memcpy(&m, data + 1, MIN(size - 1, sizeof(m)));
		keep_fail_get(&m, &e);
		err_used(&e);
	} else if (json_parse(&d, (const char *)data + 1, size - 1, &e) == 0) {
		json_get_err(d.root, data[0] * 100, &e);
		err_used(&e);
		json_free(&d);
	} else {
		err_used(&e);
	}
}
