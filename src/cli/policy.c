/* viv policy: the rules of a cell, changed while it runs; what they would say; those that a run
 * needs; what was denied. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/vivd.h"
#include "cli/args.h"
#include "policy/policy.h"
#include "policy/query.h"

#define EXIT_DENY 1
#define EXIT_ASK 10 /* not that of wrong usage */

/* ---- showing ---- */

static void rules_print(const struct args *a, const struct json *o)
{
	const struct json *rules = json_get(o, "rules", JSON_LIST);

	if (a->json) {
		json_line_print(o, false);
		return;
	}
	for (const struct json *r = rules ? rules->first : NULL; r; r = r->next)
		printf("%s\n", r->text);
}

static void preset_print(const struct args *a, const char *name, const char *text)
{
	struct buf b = { 0 };

	if (!a->json) {
		fputs(text, stdout);
		return;
	}
	buf_add_text(&b, "{");
	json_member_text(&b, "preset", name);
	json_member_text(&b, "text", text);
	printf("%s}\n", (const char *)b.p);
	buf_free(&b);
}

int policy_show_main(struct args *a, struct err *e)
{
	const char *preset = preset_find(a->words[0]);
	struct json_doc d = { 0 };
	int r = vivd_ask("GET", cell_path(a->words[0], "/policy").str, NULL, &d, e);

	if (r == 0)
		rules_print(a, d.root);
	json_free(&d);
	if (r < 0 && preset && e->kind == ERR_NOT_FOUND) {
		preset_print(a, a->words[0], preset);
		return 0;
	}
	return r;
}

int policy_presets_main(struct args *a, struct err *e)
{
	const char *name;

	(void)e;
	for (unsigned i = 0; (name = preset_name(i)); i++) {
		const char *text = preset_find(name);

		if (a->json)
			preset_print(a, name, text);
		else /* the first line is a comment that says what it is */
			printf("%-10s %.*s\n", name, (int)strcspn(text + 2, "\n"), text + 2);
	}
	return 0;
}

/* ---- changing ---- */

/* The rules of a file, or of standard input. */
static int policy_take(const char *path, struct policy *p, struct err *e)
{
	struct buf text = { 0 };
	ssize_t got = 1;
	int r;

	if (strcmp(path, "-"))
		return policy_read(p, path, e);
	while (got > 0 && text.len <= POLICY_MAX_TEXT) {
		size_t len = text.len;

		got = read(0, buf_more(&text, 65536), 65536);
		text.len = len + (got > 0 ? (size_t)got : 0);
	}
	r = got < 0 ? err_set(e, ERR_FAILED, "cannot read standard input: %s", strerror(errno))
		    : policy_parse(p, (const char *)text.p, text.len, "standard input", 1, 1, e);
	buf_free(&text);
	return r;
}

static int rules_send(struct args *a, const char *method, const struct policy *p, struct err *e)
{
	struct buf b = { 0 };
	struct json_doc d = { 0 };
	int r;

	buf_add_text(&b, "{");
	json_member_add(&b, "rules", "[");
	for (unsigned i = 0; i < policy_nlines(p); i++)
		json_member_text(&b, NULL, policy_line(p, i));
	buf_add(&b, "]}", 3);
	r = vivd_ask(method, cell_path(a->words[0], "/policy").str, (const char *)b.p, &d, e);
	if (r == 0 && a->json)
		json_line_print(d.root, false);
	json_free(&d);
	buf_free(&b);
	return r;
}

int policy_set_main(struct args *a, struct err *e)
{
	struct policy p;
	int r;

	policy_init(&p);
	r = policy_take(a->words[1], &p, e);
	if (r == 0)
		r = policy_check(&p, e);
	if (r == 0)
		r = rules_send(a, "PUT", &p, e);
	policy_fini(&p);
	return r;
}

static bool is_verdict(const char *word)
{
	static const char *const words[] = { "allow", "deny", "ask", "audit", "use", "within" };

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

/* RULE... is one rule when its words are given one by one, else each is one. */
int policy_add_main(struct args *a, struct err *e)
{
	bool one = is_verdict(a->words[1]);
	struct buf text = { 0 };
	struct policy p;
	int r;

	for (int i = 1; i < a->n; i++) {
		if (strchr(a->words[i], '\n')) {
			buf_free(&text);
			return args_wrong(a, e, "a rule has no line break");
		}
		buf_add_text(&text, a->words[i]);
		buf_add_text(&text, one && i + 1 < a->n ? " " : "\n");
	}
	policy_init(&p);
	r = policy_parse(&p, (const char *)text.p, text.len, "RULE", 1, 1, e);
	if (r == 0)
		r = rules_send(a, "POST", &p, e);
	policy_fini(&p);
	buf_free(&text);
	return r;
}

/* ---- asking ---- */

static int answer_print(const struct args *a, const struct json *o)
{
	const char *verdict = json_show(o, "verdict"), *rule = json_get_text(o, "rule");

	if (a->json) {
		json_line_print(o, false);
	} else {
		printf("%s: ", verdict);
		if (rule)
			printf("%s (%s)", rule, json_show(o, "origin"));
		else
			printf("no rule matches");
		printf("%s%s\n", json_get_text(o, "note") ? "; " : "", json_show(o, "note"));
	}
	return !strcmp(verdict, "allow") ? 0 : !strcmp(verdict, "ask") ? EXIT_ASK : EXIT_DENY;
}

static int check_file(const struct args *a, const struct policy_query *q, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	struct policy p;
	int r;

	policy_init(&p);
	r = policy_take(arg_value(a, "policy"), &p, e);
	if (r == 0)
		r = policy_check(&p, e);
	if (r == 0)
		r = policy_answer(&p, q, &b, e);
	if (r == 0)
		r = json_parse(&d, (const char *)b.p, b.len, e);
	if (r == 0)
		r = answer_print(a, d.root);
	json_free(&d);
	buf_free(&b);
	policy_fini(&p);
	return r;
}

static int check_cell(const struct args *a, const struct policy_query *q, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	int r;

	buf_add_text(&b, "{");
	json_member_text(&b, "connect", q->connect);
	json_member_text(&b, "method", q->method);
	json_member_text(&b, "program", q->program);
	json_member_text(&b, "file", q->file);
	json_member_text(&b, "access", q->access);
	json_member_text(&b, "exec", q->exec);
	json_member_text(&b, "env", q->env);
	json_member_text(&b, "tool", q->tool);
	json_member_text(&b, "cell", q->cell);
	buf_add(&b, "}", 2);
	r = vivd_ask("POST", cell_path(a->words[0], "/policy/check").str, (const char *)b.p, &d, e);
	if (r == 0)
		r = answer_print(a, d.root);
	json_free(&d);
	buf_free(&b);
	return r;
}

int policy_check_main(struct args *a, struct err *e)
{
	const struct policy_query q = { .connect = arg_value(a, "connect"),
					.method = arg_value(a, "method"),
					.program = arg_value(a, "program"),
					.file = arg_value(a, "file"),
					.access = arg_value(a, "access"),
					.exec = arg_value(a, "exec"),
					.env = arg_value(a, "env"),
					.tool = arg_value(a, "tool"),
					.cell = arg_value(a, "cell") };

	if ((a->n == 1) == (arg_value(a, "policy") != NULL))
		return args_wrong(a, e, "give a CELL, or --policy FILE");
	if (!!q.connect + !!q.file + !!q.exec + !!q.env + !!q.tool + !!q.cell != 1)
		return args_wrong(
			a, e, "give one of --connect, --file, --exec, --env, --tool and --cell");
	return a->n ? check_cell(a, &q, e) : check_file(a, &q, e);
}

/* ---- learning ---- */

int policy_learn_main(struct args *a, struct err *e)
{
	const char *method = arg_is_on(a, "forget") ? "DELETE" : "GET";
	struct json_doc d = { 0 };
	const struct json *looked, *complete;
	int r = vivd_ask(method, cell_path(a->words[0], "/policy/learn").str, NULL, &d, e);

	if (r < 0 || *method == 'D') {
		json_free(&d);
		return r;
	}
	rules_print(a, d.root);
	looked = json_get(d.root, "looked_up", JSON_LIST);
	for (const struct json *n = looked && !a->json ? looked->first : NULL; n; n = n->next)
		printf("# looked up, but never connected to: %s\n", n->text);
	complete = json_get(d.root, "complete", JSON_BOOL);
	if (complete && !strcmp(complete->text, "false"))
		warn("the cell used more of the network than is recorded");
	json_free(&d);
	return 0;
}

/* ---- denials ---- */

struct denials {
	const struct args *a;
	const char *id; /* of the cell */
};

static int denial_print(void *arg, const char *line, size_t size)
{
	const struct denials *x = arg;
	const struct args *a = x->a;
	const struct json *data;
	struct json_doc d;
	struct err e;

	if (json_parse(&d, line, size, &e) < 0)
		return 0;
	data = json_get(d.root, "data", JSON_OBJECT);
	if (!strcmp(json_show(d.root, "type"), "cell.denied") && data &&
	    !strcmp(json_show(d.root, "cell"), x->id)) {
		const char *program = json_get_text(data, "program");

		if (a->json)
			printf("%s\n", line);
		else
			printf("%s %s%s%s%s\n", json_show(d.root, "time"),
			       json_show(data, "reason"), program ? " (" : "",
			       program ? program : "", program ? ")" : "");
		if (!a->json && json_get(data, "suppressed", JSON_NUMBER))
			printf("%s and %s before it\n", json_show(d.root, "time"),
			       json_show(data, "suppressed"));
	}
	json_free(&d);
	return fflush(stdout) ? 1 : 0;
}

int policy_denials_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	struct denials x = { .a = a };
	int r = vivd_ask("GET", cell_path(a->words[0], "").str, NULL, &d, e);

	if (r == 0) {
		x.id = json_show(d.root, "id");
		r = vivd_stream("GET",
				arg_is_on(a, "follow") ? "/v1/events?follow=1&since=0"
						       : "/v1/events?follow=0&since=0",
				NULL, denial_print, &x, e);
	}
	json_free(&d);
	return r;
}
