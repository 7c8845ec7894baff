/* viv workflow: runs of workflow files (docs/workflows.md). vivd reads and runs them; sent are the
 * text of the file and the directory that it is in. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/safetext.h"
#include "base/utf8.h"
#include "cli/color.h"
#include "cli/list.h"
#include "cli/vivd.h"
#include "cli/workflow.h"
#include "store/files.h"

#define FILE_MAX (1u << 20)

/* ---- files ---- */

int workflow_file_add(struct buf *b, const char *file, struct err *e)
{
	char *text = NULL, *copy = xstrndup(file, strlen(file)), *dir;
	size_t n = 0;
	int err = file_read_all(AT_FDCWD, file, FILE_MAX, &text, &n), r = 0;

	dir = realpath(dirname(copy), NULL);
	if (err)
		r = err_set(e, err == -ENOENT ? ERR_NOT_FOUND : ERR_FAILED, "cannot read '%s': %s",
			    file, err == -EFBIG ? "it has more than 1 MiB" : strerror(-err));
	else if (memchr(text, 0, n) || text_utf8_head(text, n) != n)
		r = err_set(e, ERR_INVALID_FILE, "'%s' is not a text of UTF-8", file);
	if (r == 0) {
		char *whole = xstrndup(text, n);

		json_member_text(b, "yaml", whole);
		json_member_text(b, "file", file);
		json_member_text(b, "dir", dir);
		free(whole);
	}
	free(text);
	free(copy);
	free(dir);
	return r;
}

int workflow_ref_add(struct buf *b, const char *word, struct err *e)
{
	size_t n = strlen(word);
	bool path = strchr(word, '/') || (n > 5 && !strcmp(word + n - 5, ".yaml")) ||
		    (n > 4 && !strcmp(word + n - 4, ".yml")) || !strcmp(word, "-");

	if (path || access(word, F_OK) == 0)
		return workflow_file_add(b, word, e);
	json_member_text(b, "name", word);
	return 0;
}

int workflow_inputs_add(const struct args *a, struct buf *b, struct err *e)
{
	struct buf list = { 0 };
	const char *given;
	unsigned at = 0;
	int r = 0;

	buf_add_text(&list, "{");
	while (r == 0 && (given = arg_next(a, "input", &at))) {
		const char *equals = strchr(given, '=');

		if (!equals || equals == given) {
			r = args_wrong(a, e, "--input '%s' is not NAME=VALUE", given);
		} else {
			char *name = xstrndup(given, (size_t)(equals - given));

			json_member_text(&list, name, equals + 1);
			free(name);
		}
	}
	buf_add_text(&list, "}");
	if (r == 0)
		json_member_add(b, "arguments", (char *)list.p);
	buf_free(&list);
	return r;
}

/* ---- showing ---- */

/* A run's or a step's error in a line. */
static void error_print(FILE *to, const struct json *o)
{
	struct err e = { 0 };

	json_get_err(json_get(o, "error", JSON_OBJECT), 0, &e);
	fprintf(to, "%s", err_line(&e).str);
}

static void value_print(FILE *to, const struct json *v)
{
	size_t n = v->type == JSON_TEXT ? strlen(v->text) : 0;

	if (v->type == JSON_TEXT)
		safe_print(to, v->text, n, 0, 0);
	else
		json_value_print(to, v, false);
	if (!n || v->text[n - 1] != '\n')
		fprintf(to, "\n");
}

static const struct json *member(const struct json *o, const char *name)
{
	for (const struct json *m = o ? o->first : NULL; m; m = m->next)
		if (!strcmp(m->key, name))
			return m;
	return NULL;
}

static void state_print(const char *state, int width)
{
	enum color c = !strcmp(state, "done")					  ? COLOR_GOOD
		       : !strcmp(state, "failed")				  ? COLOR_BAD
		       : !strcmp(state, "skipped") || !strcmp(state, "cancelled") ? COLOR_FAINT
										  : COLOR_WARN;

	printf("%s%-*s%s", color_on(stdout, c), width, state, color_off(stdout, c));
}

/* Its end: the output, or why there is none. The exit status. */
static int end_print(const struct args *a, const struct json *run)
{
	const char *state = json_show(run, "state");
	const struct json *output = member(run, "output");
	bool done = !strcmp(state, "done");

	if (a->json)
		json_line_print(run, false);
	else if (done && output && output->type != JSON_NULL)
		value_print(stdout, output);
	if (!done && !a->json) {
		fprintf(stderr, "viv: run %s is %s", json_show(run, "id"), state);
		if (json_get(run, "error", JSON_OBJECT)) {
			fprintf(stderr, ": ");
			error_print(stderr, run);
		}
		fprintf(stderr, "\n");
	}
	return done ? 0 : 1;
}

static int run_wait(const struct args *a, const char *id, struct err *e)
{
	struct json_doc d = { 0 };
	int r = vivd_wait(vivd_path("/v1/workflows/", id, "/wait").str, &d, e);

	if (r == 0)
		r = end_print(a, d.root);
	json_free(&d);
	return r;
}

/* ---- verbs ---- */

int workflow_run_main(struct args *a, struct err *e)
{
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	char id[64] = "";
	int r;

	buf_add_text(&body, "{");
	r = workflow_ref_add(&body, a->words[0], e);
	if (r == 0)
		r = workflow_inputs_add(a, &body, e);
	buf_add_text(&body, "}");
	if (r == 0)
		r = vivd_ask("POST", "/v1/workflows", (char *)body.p, &d, e);
	if (r == 0)
		snprintf(id, sizeof(id), "%s", json_show(d.root, "id"));
	if (r == 0 && arg_is_on(a, "wait")) {
		if (!a->json && !arg_is_on(a, "quiet"))
			fprintf(stderr, "run %s\n", id);
		r = run_wait(a, id, e);
	} else if (r == 0 && a->json) {
		json_line_print(d.root, false);
	} else if (r == 0) {
		printf("%s\n", id);
	}
	json_free(&d);
	buf_free(&body);
	return r;
}

int workflow_wait_main(struct args *a, struct err *e)
{
	return run_wait(a, a->words[0], e);
}

int workflow_check_main(struct args *a, struct err *e)
{
	struct buf body = { 0 };
	struct json_doc d = { 0 };
	int r;

	buf_add_text(&body, "{");
	r = workflow_file_add(&body, a->words[0], e);
	buf_add_text(&body, "}");
	if (r == 0)
		r = vivd_ask("POST", "/v1/workflows/check", (char *)body.p, &d, e);
	if (r == 0 && a->json)
		json_line_print(d.root, false);
	else if (r == 0)
		printf("%s: %s steps\n", json_show(d.root, "name"), json_show(d.root, "steps"));
	json_free(&d);
	buf_free(&body);
	return r;
}

static void heading_print(void)
{
	printf("%-17s %-24s %-10s %-25s %s\n", "RUN", "WORKFLOW", "STATE", "CREATED", "ERROR");
}

static void row_print(const struct json *o)
{
	unsigned n;

	printf("%-17s ", json_show(o, "id"));
	for (n = text_print(stdout, json_show(o, "name"), 24); n < 25; n++)
		printf(" ");
	state_print(json_show(o, "state"), 11);
	printf("%-25s ", json_show(o, "created"));
	if (json_get(o, "error", JSON_OBJECT))
		error_print(stdout, o);
	printf("\n");
}

static const char *run_shown(const struct json *o)
{
	return json_show(o, "id");
}

static void defined_heading(void)
{
	printf("%-32s %-16s %-6s %s\n", "WORKFLOW", "PROJECT", "STEPS", "INPUTS");
}

static void defined_print(const struct json *o)
{
	const struct json *inputs = json_get(o, "inputs", JSON_OBJECT);

	printf("%-32s %-16s %-6s", json_show(o, "name"), json_show(o, "project"),
	       json_show(o, "steps"));
	for (const struct json *i = inputs ? inputs->first : NULL; i; i = i->next)
		printf(" %s", i->key);
	printf("\n");
}

static const char *defined_shown(const struct json *o)
{
	return json_show(o, "name");
}

int workflow_ls_main(struct args *a, struct err *e)
{
	struct listing runs = {
		.member = "runs", .heading = heading_print, .row = row_print, .name = run_shown
	};
	struct listing defined = { .path = "/v1/workflows/defined",
				   .member = "workflows",
				   .heading = defined_heading,
				   .row = defined_print,
				   .name = defined_shown };
	struct buf path = { 0 };
	int r;

	if (arg_is_on(a, "defined"))
		return list_show(a, &defined, e);
	buf_add_text(&path, "/v1/workflows");
	query_add(&path, "state", arg_value(a, "state"));
	query_add(&path, "name", arg_value(a, "name"));
	query_add(&path, "limit", arg_value(a, "limit"));
	runs.path = (char *)path.p;
	r = list_show(a, &runs, e);
	buf_free(&path);
	return r;
}

static void step_print(const struct json *s)
{
	unsigned n;

	printf("  ");
	for (n = text_print(stdout, json_show(s, "step"), 200); n < 31; n++)
		printf(" ");
	printf("%-9s ", json_show(s, "kind"));
	state_print(json_show(s, "state"), 10);
	if (strcmp(json_show(s, "attempt"), "1") && strcmp(json_show(s, "attempt"), "0"))
		printf("attempt %s  ", json_show(s, "attempt"));
	if (json_get(s, "approval", JSON_NUMBER) && !strcmp(json_show(s, "state"), "running"))
		printf("waits for 'viv approvals allow %s'  ", json_show(s, "approval"));
	if (json_get(s, "error", JSON_OBJECT))
		error_print(stdout, s);
	printf("\n");
}

static void run_print(const struct json *o)
{
	const struct json *steps = json_get(o, "steps", JSON_LIST);

	printf("run       %s\nworkflow  ", json_show(o, "id"));
	text_print(stdout, json_show(o, "name"), 100);
	printf("\nstate     ");
	state_print(json_show(o, "state"), 0);
	printf("\ncreated   %s\n", json_show(o, "created"));
	if (json_get(o, "ended", JSON_TEXT))
		printf("ended     %s\n", json_show(o, "ended"));
	if (json_get(o, "error", JSON_OBJECT)) {
		printf("error     ");
		error_print(stdout, o);
		printf("\n");
	}
	if (steps && steps->first)
		printf("steps\n");
	for (const struct json *s = steps ? steps->first : NULL; s; s = s->next)
		step_print(s);
}

int workflow_show_main(struct args *a, struct err *e)
{
	const char *html = arg_value(a, "html");
	bool outputs = a->json || html;
	struct json_doc d = { 0 };
	int r = vivd_ask("GET",
			 vivd_path("/v1/workflows/", a->words[0], outputs ? "" : "?outputs=0").str,
			 NULL, &d, e);

	/* Outputs of a large run are more than fits into one page. */
	if (r < 0 && html && e->kind != ERR_NOT_FOUND) {
		json_free(&d);
		*e = (struct err){ 0 };
		r = vivd_ask("GET", vivd_path("/v1/workflows/", a->words[0], "?outputs=0").str,
			     NULL, &d, e);
	}

	if (r == 0 && html)
		r = workflow_html(d.root, html, e);
	else if (r == 0 && a->json)
		json_line_print(d.root, false);
	else if (r == 0)
		run_print(d.root);
	json_free(&d);
	return r;
}

/* ---- logs ---- */

static int step_log(const struct args *a, const char *run, const char *path, struct err *e)
{
	struct buf where = { 0 };
	struct json_doc d = { 0 };
	const struct json *steps, *s, *v;
	int r;

	buf_add_text(&where, vivd_path("/v1/workflows/", run, "").str);
	query_add(&where, "step", path);
	r = vivd_ask("GET", (char *)where.p, NULL, &d, e);
	steps = r == 0 ? json_get(d.root, "steps", JSON_LIST) : NULL;
	s = steps ? steps->first : NULL;
	if (r == 0 && !s)
		r = err_set(e, ERR_NOT_FOUND,
			    "the run has no step '%s'" REMEDY "'viv workflow show %s' lists them",
			    path, run);
	if (s && a->json) {
		json_line_print(s, false);
	} else if (s && ((v = member(s, "output")) || member(s, "stderr"))) {
		printf("%s==> ", color_on(stdout, COLOR_FAINT));
		text_print(stdout, path, 1000);
		printf(" (%s)%s\n", json_show(s, "state"), color_off(stdout, COLOR_FAINT));
		if (v && v->type != JSON_NULL && (v->type != JSON_TEXT || *v->text))
			value_print(stdout, v);
		if (member(s, "truncated"))
			printf("(the output was longer)\n");
		fflush(stdout);
		v = json_get(s, "stderr", JSON_TEXT);
		if (v)
			value_print(stderr, v);
	}
	json_free(&d);
	buf_free(&where);
	return r;
}

static bool is_leaf(const struct json *s)
{
	static const char *const kinds[] = { "run", "prompt", "cell", "approve", "code" };

	for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
		if (!strcmp(json_show(s, "kind"), kinds[i]))
			return true;
	return false;
}

int workflow_logs_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	const struct json *steps;
	int r;

	if (a->n == 2)
		return step_log(a, a->words[0], a->words[1], e);
	r = vivd_ask("GET", vivd_path("/v1/workflows/", a->words[0], "?outputs=0").str, NULL, &d,
		     e);
	steps = r == 0 ? json_get(d.root, "steps", JSON_LIST) : NULL;
	for (const struct json *s = steps ? steps->first : NULL; r == 0 && s; s = s->next)
		if (is_leaf(s) && json_get(s, "started", JSON_TEXT))
			r = step_log(a, a->words[0], json_show(s, "step"), e);
	json_free(&d);
	return r;
}

/* ---- changing ---- */

static int run_post(const struct args *a, const char *id, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	int r = vivd_ask("POST", vivd_path("/v1/workflows/", id, arg).str, NULL, &d, e);

	if (r == 0 && a->json)
		json_line_print(d.root, false);
	else if (r == 0)
		printf("%s\n", json_show(d.root, "id"));
	json_free(&d);
	return r;
}

int workflow_cancel_main(struct args *a, struct err *e)
{
	return words_each(a, run_post,
			  (char *)(uintptr_t)(arg_is_on(a, "no-rollback") ? "/cancel?rollback=0"
									  : "/cancel"),
			  e);
}

int workflow_retry_main(struct args *a, struct err *e)
{
	return words_each(a, run_post, (char *)(uintptr_t) "/retry", e);
}

static int run_remove(const struct args *a, const char *id, void *arg, struct err *e)
{
	(void)arg;
	if (vivd_ask("DELETE", vivd_path("/v1/workflows/", id, "").str, NULL, NULL, e) < 0)
		return -1;
	printf(a->json ? "{\"id\":\"%s\"}\n" : "%s\n", id);
	return 0;
}

int workflow_rm_main(struct args *a, struct err *e)
{
	return words_each(a, run_remove, NULL, e);
}
