/* The error type: what is set, wrapped, cut, cleaned and printed; and how it crosses a process
 * boundary, also from a damaged message. */
/* objects: src/base/err.c src/base/jsontext.c src/base/json.c src/base/buf.c src/base/utf8.c src/base/log.c src/wire/keeper.c */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"
#include "wire/keeper.h"
#include "tap.h"

static struct err e;

static void is(const char *got, const char *want, const char *what)
{
	if (!ok(!strcmp(got, want), what))
		printf("# got '%s', want '%s'\n", got, want);
}

static void setting(void)
{
	eq(err_set(&e, ERR_NOT_FOUND, "there is no cell '%s'" REMEDY "'viv ls' lists them", "a"),
	   -1, "setting an error gives -1");
	is(e.message, "there is no cell 'a'", "the message ends where the remedy begins");
	is(e.remedy, "'viv ls' lists them", "the remedy");
	is(e.cause, "", "no cause");
	is(err_code(&e), "not_found", "code");
	ok(err_exit(&e) == 3 && err_http(&e) == 404, "exit status and status of HTTP");
	err_set(&e, ERR_USAGE, "'%s' is wrong" REMEDY "use '%s'", "a" REMEDY "b; c", "d");
	is(e.message, "'a?b; c' is wrong", "a value with the mark in it stays in the message");
	is(e.remedy, "use 'd'", "a remedy with a value");
	err_set(&e, ERR_FAILED, "%s", e.message);
	is(e.message, "'a?b; c' is wrong", "made from itself");
	is(e.remedy, "", "what was there before is gone");
	err_set(&e, ERR_FAILED, "%s", "x; y" REMEDY "z");
	is(e.remedy, "", "only a format has a remedy");
	is(e.message, "x; y?z", "and not a value");
}

static void wrapping(void)
{
	err_set(&e, ERR_CONFLICT, "the disk is in use" REMEDY "stop cell '%s'", "b");
	eq(err_wrap(&e, "cannot open the disk"), -1, "wrapping gives -1");
	err_wrap(&e, "cannot start cell '%s'" REMEDY "try again", "a");
	is(e.message, "cannot start cell 'a'", "the last message comes first");
	is(e.cause, "cannot open the disk: the disk is in use",
	   "the others are causes, the first one last");
	is(e.remedy, "stop cell 'b'", "the remedy of the innermost stays");
	eq(e.kind, ERR_CONFLICT, "and its kind");
	is(err_line(&e).str,
	   "cannot start cell 'a': cannot open the disk: the disk is in use; stop cell 'b'",
	   "in one line");
	err_set(&e, ERR_FAILED, "a");
	err_wrap(&e, "b" REMEDY "c");
	is(e.remedy, "c", "a remedy of a wrapper, when there was none");
	err_set(&e, ERR_FAILED, "a");
	err_cause(&e, "b");
	err_cause(&e, "");
	err_cause(&e, "c");
	is(e.cause, "b: c", "causes are added at the end");
	e.kind = ERR_NONE;
	is(err_line(&e).str, "", "no error, no line");
}

/* Texts that are too long, and those that a terminal should not see. */
static void bounds(void)
{
	char text[5000];

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = (char)('a' + i % 26);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, ERR_FAILED, "%s" REMEDY "do this", text);
	ok(strlen(e.message) == sizeof(e.message) - 1 &&
		   !strcmp(e.message + sizeof(e.message) - 4, "..."),
	   "a long message is cut");
	is(e.remedy, "do this", "and has its remedy");
	for (int i = 0; i < 100; i++)
		err_wrap(&e, "level %d", i);
	ok(strlen(e.cause) < sizeof(e.cause) && strstr(e.cause, "level 98: level 97"),
	   "so are causes");
	is(e.remedy, "do this", "a remedy stays for how often it is wrapped");
	for (size_t i = 0; i < sizeof(text) - 3; i += 3)
		memcpy(text + i, "\xe2\x82\xac", 4);
	for (size_t cut = 0; cut < 3; cut++) {
		err_set(&e, ERR_FAILED, "%.*s%s", (int)cut, "xxx", text);
		ok(text_is_utf8(e.message, strlen(e.message)) && !strchr(e.message, '?'),
		   "a text is cut between characters");
	}
	err_set(&e, ERR_FAILED,
		"a\033[31m\nb\xff\xc2\x9b"
		"c\xe2\x80\xae");
	is(e.message, "a?[31m?b???c???", "controls and what is not UTF-8 are shown as '?'");
	err_cause(&e, "x\ty");
	err_remedy(&e, "x\rz");
	ok(!strcmp(e.cause, "x?y") && !strcmp(e.remedy, "x?z"), "in causes and remedies as well");
}

static void programs(void)
{
	struct buf b = { 0 };
	struct json_doc d;
	struct err back, bad;

	err_set(&e, ERR_WRONG_STATE, "the cell \"a\\b\" is paused" REMEDY "resume it first");
	err_cause(&e, "somebody paused it");
	err_json(&e, &b);
	is((char *)b.p,
	   "{\"code\":\"wrong_state\",\"message\":\"the cell \\\"a\\\\b\\\" is paused\","
	   "\"cause\":\"somebody paused it\",\"remedy\":\"resume it first\"}",
	   "as JSON");
	ok(json_parse(&d, (char *)b.p, b.len, &bad) == 0, "which is read");
	json_get_err(d.root, 409, &back);
	ok(!memcmp(&back.kind, &e.kind, sizeof(e.kind)) &&
		   !strcmp(err_line(&back).str, err_line(&e).str),
	   "and is the same again");
	json_free(&d);
	buf_free(&b);
	err_set(&e, ERR_FAILED, "a");
	err_json(&e, &b);
	is((char *)b.p, "{\"code\":\"failed\",\"message\":\"a\"}", "what is not known is left out");
	buf_free(&b);
	eq(err_kind_of("busy", 503), ERR_OVERLOADED,
	   "one code with two statuses, told apart by them");
	eq(err_kind_of("busy", 409), ERR_BUSY, "the other one");
	eq(err_kind_of("busy", 0), ERR_BUSY, "without a status");
	eq(err_kind_of("failed", 0), ERR_FAILED, "any other failure");
	eq(err_kind_of("brand_new", 404), ERR_NOT_FOUND, "an unknown code is what its status is");
	eq(err_kind_of("brand_new", 599), ERR_FAILED, "an unknown status is a failure");
	e.kind = (enum err_kind)12345;
	ok(!strcmp(err_code(&e), "failed") && err_exit(&e) == 1 && err_http(&e) == 500,
	   "a kind that there is not is a failure");
	for (int k = ERR_NONE + 1; k < ERR_END; k++) {
		e.kind = (enum err_kind)k;
		if (err_kind_of(err_code(&e), err_http(&e)) != e.kind)
			ok(false, err_code(&e));
	}
	ok(true, "every kind has a code and a status of its own");
}

static void messages(void)
{
	struct keep_msg m = { .a = 125 };
	struct err back;
	char text[2000];

	err_set(&e, ERR_CONFLICT, "cell 'a' is in use" REMEDY "stop it");
	err_wrap(&e, "cannot start");
	keep_fail_set(&m, &e);
	eq(m.type, KEEP_FAIL, "a message for a client");
	is(m.text, "cannot start", "its text begins with the message");
	keep_fail_get(&m, &back);
	ok(back.kind == ERR_CONFLICT && !strcmp(err_line(&back).str, err_line(&e).str),
	   "it arrives with cause and remedy");
	memset(text, 'x', sizeof(text));
	text[300] = '\0';
	err_set(&e, ERR_FAILED, "%s" REMEDY "do this", text);
	text[300] = 'x';
	text[700] = '\0';
	err_cause(&e, text);
	keep_fail_set(&m, &e);
	keep_fail_get(&m, &back);
	ok(!strcmp(back.message, e.message) && !strcmp(back.remedy, "do this") && back.cause[0],
	   "of one that is too long the cause is cut");
	err_set(&e, ERR_FAILED, "%s" REMEDY "do this", text);
	keep_fail_set(&m, &e);
	keep_fail_get(&m, &back);
	eq((long long)strlen(back.message), KEEP_TEXT - 3, "then the message");
	/* As a keeper of before sends it: one text, and what was there behind it is not cleared. */
	memset(&m, 0, sizeof(m));
	strcpy(m.text, "no such command");
	m.a = 127;
	m.b = ERR_FAILED;
	keep_fail_get(&m, &back);
	ok(back.kind == ERR_COMMAND_NOT_FOUND && !strcmp(err_line(&back).str, "no such command"),
	   "an older one is understood");
	memset(m.text, 'y', sizeof(m.text));
	m.b = 99999;
	m.a = 0;
	keep_fail_get(&m, &back);
	ok(back.kind == ERR_FAILED && strlen(back.message) == KEEP_TEXT && !back.remedy[0] &&
		   !back.cause[0],
	   "a text without an end is bounded, an unknown kind a failure");
	m.b = -1;
	keep_fail_get(&m, &back);
	eq(back.kind, ERR_FAILED, "so is a negative one");
	srandom(1);
	for (int i = 0; i < 20000; i++) {
		for (size_t k = 0; k < sizeof(m.text); k++)
			m.text[k] = (char)(random() % 4 ? random() : 0);
		m.b = (int32_t)random();
		keep_fail_get(&m, &back);
		if ((unsigned)back.kind >= ERR_END ||
		    !text_is_utf8(back.message, strlen(back.message)) ||
		    strlen(back.message) + strlen(back.cause) + strlen(back.remedy) > KEEP_TEXT ||
		    strpbrk(err_line(&back).str, "\033\n\r")) {
			ok(false, "a damaged message");
			return;
		}
	}
	ok(true, "damaged messages are errors like others");
}

int main(void)
{
	setting();
	wrapping();
	bounds();
	programs();
	messages();
	return tap_end();
}
