/* viv approvals: questions of cells whose rules say "ask". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/approvals.h"
#include "cli/list.h"
#include "cli/vivd.h"

static void heading_print(void)
{
	printf("%6s  %-9s %-12s %-24s %s\n", "ID", "STATE", "CELL", "PROGRAM", "WHAT");
}

static const char *first_of(const struct json *a, const char *x, const char *y)
{
	return *json_show(a, x) ? json_show(a, x) : json_show(a, y);
}

/* Of a call of a tool. */
static void arguments_print(const struct json *a)
{
	const struct json *arguments = json_get(a, "arguments", JSON_OBJECT);
	size_t size = 0;
	char *text = NULL;
	FILE *f = arguments ? open_memstream(&text, &size) : NULL;

	if (!f)
		return;
	json_value_print(f, arguments, false);
	fclose(f);
	printf(" ");
	/* What is not shown must be seen to be missing. */
	if (text_print(stdout, text, 200) == 200 && size > 200)
		printf(" ... [cut; all of it: viv approvals --json]");
	free(text);
}

/* open /etc/hosts (read,write) */
static void what_print(const struct json *a)
{
	const struct json *access = json_get(a, "access", JSON_LIST);
	const char *port = json_show(a, "port");

	if (!strcmp(json_show(a, "scope"), "agent")) {
		printf("agent: ");
		text_print(stdout, json_show(a, "title"), 200);
		return;
	}
	printf("%s ", json_show(a, "action"));
	if (*json_show(a, "method")) {
		printf("%s %s:%s", json_show(a, "method"), first_of(a, "name", "address"), port);
		text_print(stdout, json_show(a, "path"), 200);
		return;
	}
	if (!strcmp(json_show(a, "scope"), "net")) {
		printf(strlen(port) ? "%s:%s %s" : "%s%s%s", first_of(a, "name", "address"), port,
		       json_show(a, "protocol"));
		return;
	}
	text_print(stdout, json_show(a, "path"), 200);
	arguments_print(a);
	if (*json_show(a, "to")) {
		printf(" to ");
		text_print(stdout, json_show(a, "to"), 200);
	}
	if (!access || !access->first)
		return;
	for (const struct json *m = access->first; m; m = m->next)
		printf("%s%s", m == access->first ? " (" : ",", m->text ? m->text : "");
	printf(")");
}

void approval_what_print(const struct json *a)
{
	what_print(a);
}

static void row_print(const struct json *a)
{
	printf("%6s  %-9s %-12.12s ", json_show(a, "id"), json_show(a, "state"),
	       json_show(a, "cell"));
	for (unsigned n = text_print(stdout, json_show(a, "program"), 24); n < 25; n++)
		printf(" ");
	what_print(a);
	printf("\n");
}

static const char *approval_shown(const struct json *a)
{
	return json_show(a, "id");
}

int approvals_ls_main(struct args *a, struct err *e)
{
	struct buf path = { 0 };
	struct listing l = { .member = "approvals",
			     .heading = heading_print,
			     .row = row_print,
			     .name = approval_shown };
	int r;

	buf_add_text(&path, "/v1/approvals");
	query_add(&path, "state", arg_is_on(a, "all") ? "all" : NULL);
	query_add(&path, "cell", arg_value(a, "cell"));
	l.path = (const char *)path.p;
	r = list_show(a, &l, e);
	buf_free(&path);
	return r;
}

/* ---- watch ---- */

static int event_print(void *arg, const char *line, size_t size)
{
	const bool *json = arg;
	struct json_doc d;
	struct err e;
	const struct json *data;

	if (!size || json_parse(&d, line, size, &e) < 0)
		return 0;
	data = json_get(d.root, "data", JSON_OBJECT);
	if (strncmp(json_show(d.root, "type"), "approval.", 9) || !data) {
		json_free(&d);
		return 0;
	}
	if (*json) {
		printf("%s\n", line);
	} else {
		printf("%s %s %-9s %.12s ", json_show(d.root, "time"), json_show(data, "id"),
		       json_show(data, "state"), json_show(d.root, "cell"));
		text_print(stdout, json_show(data, "program"), 60);
		printf(": ");
		what_print(data);
		printf("\n");
	}
	json_free(&d);
	return fflush(stdout) ? 1 : 0;
}

int approvals_watch_main(struct args *a, struct err *e)
{
	return vivd_stream("GET", "/v1/events?follow=1", NULL, event_print, &a->json, e);
}

/* ---- one ---- */

static int approval_path(const char *id, char path[64], struct err *e)
{
	if (!*id || strlen(id) > 18 || strspn(id, "0123456789") != strlen(id))
		return err_set(e, ERR_NOT_FOUND,
			       "there is no approval '%s'" REMEDY "'viv approvals ls' lists them",
			       id);
	snprintf(path, 64, "/v1/approvals/%s", id);
	return 0;
}

static int approval_show(const struct args *a, const char *id, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	char path[64];

	(void)arg;
	if (approval_path(id, path, e) < 0 || vivd_ask("GET", path, NULL, &d, e) < 0)
		return -1;
	json_line_print(d.root, !a->json);
	json_free(&d);
	return 0;
}

int approvals_show_main(struct args *a, struct err *e)
{
	return words_each(a, approval_show, NULL, e);
}

static int approval_answer(const struct args *a, const char *id, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	char path[64], body[64];

	snprintf(body, sizeof(body), "{\"answer\":\"%s\"%s}", (const char *)arg,
		 arg_is_on(a, "always") ? ",\"always\":true" : "");
	if (approval_path(id, path, e) < 0 || vivd_ask("POST", path, body, &d, e) < 0)
		return -1;
	if (a->json)
		json_line_print(d.root, false);
	else
		printf("%s\n", id);
	json_free(&d);
	return 0;
}

static int answers(struct args *a, const char *answer, struct err *e)
{
	if (arg_is_on(a, "once") && arg_is_on(a, "always"))
		return args_wrong(a, e, "--once and --always exclude each other");
	return words_each(a, approval_answer, (void *)(uintptr_t)answer, e);
}

int approvals_allow_main(struct args *a, struct err *e)
{
	return answers(a, "allow", e);
}

int approvals_deny_main(struct args *a, struct err *e)
{
	return answers(a, "deny", e);
}
