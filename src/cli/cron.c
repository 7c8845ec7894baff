/* viv cron: schedules of vivd. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/safetext.h"
#include "cli/args.h"
#include "cli/create.h"
#include "cli/list.h"
#include "cli/session.h"
#include "cli/vivd.h"
#include "cli/workflow.h"

static struct cell_path path_of(const char *name, const char *tail)
{
	return vivd_path("/v1/schedules/", name, tail);
}

/* ---- add ---- */

static int time_add(const struct args *a, const char *option, const char *member, struct buf *b,
		    struct err *e)
{
	int64_t ns = -1;

	if (arg_time(a, option, &ns, e) < 0)
		return -1;
	if (ns >= 0)
		json_member_seconds(b, member, ns);
	return 0;
}

static int count_add(const struct args *a, const char *option, struct buf *b, struct err *e)
{
	const char *text = arg_value(a, option);
	uint32_t n;

	if (text && !value_u32(text, &n))
		return args_wrong(a, e, "--%s '%s' is not a number", option, text);
	if (text)
		json_member_number(b, option, n);
	return 0;
}

/* --run: the words as 'viv run' has them. */
static int run_add(const struct args *a, char **words, struct buf *b, struct err *e)
{
	static struct run_options o = { .detach = true };
	static char verb[] = "run";
	struct buf spec = { 0 };
	char **all;
	int n = 0, r;

	while (words[n])
		n++;
	all = xalloc(((size_t)n + 2) * sizeof(*all));
	all[0] = verb;
	memcpy(all + 1, words, (size_t)n * sizeof(*all));
	r = run_options_parse(&o, n + 1, all, e);
	if (r != 0)
		return r < 0 ? err_wrap(e, "the words after '--' are not those of 'viv run'")
			     : args_wrong(a, e, "after '--' come options and command of 'viv run'");
	if (!o.argv)
		return args_wrong(a, e, "there is no command after '--'");
	run_spec(&o, words, &spec);
	if (!spec.len)
		return err_set(e, ERR_USAGE,
			       "vivd cannot keep this run" REMEDY
			       "leave out --rm, s3:// mounts and words that are not UTF-8");
	buf_add(&spec, "", 1);
	json_member_add(b, "run", (char *)spec.p);
	buf_free(&spec);
	return 0;
}

static int workflow_add(const struct args *a, const char *file, struct buf *b, struct err *e)
{
	struct buf o = { 0 };
	int r;

	buf_add_text(&o, "{");
	r = workflow_ref_add(&o, file, e);
	if (r == 0)
		r = workflow_inputs_add(a, &o, e);
	buf_add_text(&o, "}");
	if (r == 0)
		json_member_add(b, "workflow", (char *)o.p);
	buf_free(&o);
	return r;
}

static int action_add(const struct args *a, char **words, struct buf *b, struct err *e)
{
	const char *cell = arg_value(a, "cell"), *session = arg_value(a, "session"),
		   *prompt = arg_value(a, "prompt");
	const char *workflow = arg_value(a, "workflow");
	bool run = arg_is_on(a, "run");
	struct session_id s;

	if (!!cell + !!session + !!workflow + run != 1)
		return args_wrong(a, e, "give one of --cell, --session, --workflow and --run");
	if (arg_value(a, "input") && !workflow)
		return args_wrong(a, e, "--input is for --workflow");
	if (workflow && words[0])
		return args_wrong(a, e, "--workflow takes no command");
	if (workflow)
		return workflow_add(a, workflow, b, e);
	if (!session != !prompt)
		return args_wrong(a, e, "--session and --prompt belong together");
	if (session && words[0])
		return args_wrong(a, e, "--session takes no command");
	if (!session && !words[0])
		return args_wrong(a, e, "missing argument: COMMAND, after '--'");
	if (run)
		return run_add(a, words, b, e);
	if (session) {
		if (session_find(session, &s, e) < 0)
			return -1;
		json_member_text(b, "session", s.id);
		json_member_text(b, "prompt", prompt);
		return 0;
	}
	json_member_text(b, "cell", cell);
	words_write(b, "command", words);
	json_member_text(b, "workdir", arg_value(a, "workdir"));
	json_member_text(b, "user", arg_value(a, "user"));
	return env_write(a, b, e);
}

static int add_write(const struct args *a, struct buf *b, struct err *e)
{
	const char *at = arg_value(a, "at"), *in = arg_value(a, "in");
	bool once = at || in;

	if (at && in)
		return args_wrong(a, e, "--at and --in exclude each other");
	if (!once && !a->words[1])
		return args_wrong(a, e, "missing argument: SCHEDULE, as in '0 3 * * *'");
	buf_add_text(b, "{");
	json_member_text(b, "name", a->words[0]);
	if (!once)
		json_member_text(b, "schedule", a->words[1]);
	json_member_text(b, "at", at);
	json_member_text(b, "tz", arg_value(a, "tz"));
	json_member_text(b, "overlap", arg_value(a, "overlap"));
	json_member_text(b, "catch_up", arg_value(a, "catch-up"));
	if (time_add(a, "in", "in", b, e) < 0 || time_add(a, "jitter", "jitter", b, e) < 0 ||
	    time_add(a, "timeout", "timeout", b, e) < 0 || count_add(a, "queue", b, e) < 0 ||
	    count_add(a, "history", b, e) < 0)
		return -1;
	if (action_add(a, a->words + (once ? 1 : 2), b, e) < 0)
		return -1;
	buf_add(b, "}", 2);
	return 0;
}

int cron_add_main(struct args *a, struct err *e)
{
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	int r = utf8_check(a, e);

	if (!r)
		r = add_write(a, &b, e);
	if (!r)
		r = vivd_ask("POST", "/v1/schedules", (char *)b.p, &d, e);
	if (!r && a->json)
		json_line_print(d.root, false);
	else if (!r)
		printf("%s: %s%s\n", json_show(d.root, "name"),
		       *json_show(d.root, "next") ? "next " : "when this machine starts",
		       json_show(d.root, "next"));
	json_free(&d);
	buf_free(&b);
	return r;
}

/* ---- showing ---- */

static const char *when_of(const struct json *s)
{
	const char *text = json_show(s, "schedule");

	return *text ? text : "once";
}

static const char *last_of(const struct json *s)
{
	const struct json *last = json_get(s, "last_run", JSON_OBJECT);

	return last ? json_show(last, "state") : "-";
}

/* What it runs, in one line. */
static void action_print(const struct json *s, unsigned max)
{
	const struct json *run = json_get(s, "run", JSON_OBJECT);
	const struct json *workflow = json_get(s, "workflow", JSON_OBJECT);

	if (workflow)
		text_print(stdout,
			   json_show(workflow, *json_show(workflow, "name") ? "name" : "file"),
			   max);
	else if (*json_show(s, "prompt"))
		text_print(stdout, json_show(s, "prompt"), max);
	else
		words_print(stdout, json_get(run ? run : s, "command", JSON_LIST), max);
}

static void heading_print(void)
{
	printf("%-20s %-10s %-18s %-26s %-9s %-16s %-12s %s\n", "NAME", "STATE", "SCHEDULE", "NEXT",
	       "LAST", "CELL", "PROJECT", "ACTION");
}

static void row_print(const struct json *s)
{
	const char *cell = json_show(s, "cell_name");

	if (!*cell)
		cell = *json_show(s, "cell") ? json_show(s, "cell") : "new";
	printf("%-20s %-10s %-18s %-26s %-9s %-16.16s %-12s ", json_show(s, "name"),
	       json_show(s, "state"), when_of(s),
	       *json_show(s, "next") ? json_show(s, "next") : "-", last_of(s), cell,
	       *json_show(s, "project") ? json_show(s, "project") : "-");
	action_print(s, 40);
	printf("\n");
}

static const char *name_shown(const struct json *s)
{
	return json_show(s, "name");
}

int cron_ls_main(struct args *a, struct err *e)
{
	struct listing l = { .path = "/v1/schedules",
			     .member = "schedules",
			     .heading = heading_print,
			     .row = row_print,
			     .name = name_shown };
	struct buf path = { 0 };
	int r;

	buf_add_text(&path, "/v1/schedules");
	query_add(&path, "cell", arg_value(a, "cell"));
	buf_add(&path, "", 1);
	l.path = (char *)path.p;
	r = list_show(a, &l, e);
	buf_free(&path);
	return r;
}

static void member_print(const struct json *o, const char *key)
{
	const struct json *v = json_get(o, key, JSON_OBJECT);

	if (!v && !*json_show(o, key))
		return;
	printf("%-10s ", key);
	if (v) {
		text_print(stdout, json_show(v, "message"), 400);
		if (*json_show(v, "cause")) {
			printf(": ");
			text_print(stdout, json_show(v, "cause"), 400);
		}
	} else {
		text_print(stdout, json_show(o, key), 400);
	}
	printf("\n");
}

static int show(const struct args *a, const char *name, void *arg, struct err *e)
{
	static const char *const rows[] = { "name",  "project",	 "state",   "schedule", "at",
					    "tz",    "next",	 "cell",    "session",	"overlap",
					    "queue", "catch_up", "jitter",  "timeout",	"history",
					    "fired", "skipped",	 "running", "queued" };
	static const char *const last[] = { "run",   "reason",	  "due",       "started",
					    "ended", "exit_code", "timed_out", "error" };
	struct json_doc d = { 0 };
	const struct json *run;
	int r = vivd_ask("GET", path_of(name, "").str, NULL, &d, e);

	(void)arg;
	if (!r && a->json) {
		json_line_print(d.root, true);
	} else if (!r) {
		for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
			member_print(d.root, rows[i]);
		printf("%-10s ", "action");
		action_print(d.root, 400);
		printf("\n");
		run = json_get(d.root, "last_run", JSON_OBJECT);
		if (run)
			printf("\nlast run: %s\n", json_show(run, "state"));
		for (unsigned i = 0; run && i < ARRAY_LEN(last); i++)
			member_print(run, last[i]);
	}
	json_free(&d);
	return r;
}

int cron_show_main(struct args *a, struct err *e)
{
	return words_each(a, show, NULL, e);
}

/* ---- changing ---- */

/* Asks for one, and prints its name. */
static int change(const struct args *a, const char *name, void *arg, struct err *e)
{
	const char *tail = arg;
	struct json_doc d = { 0 };
	bool remove = tail[0] == '?' || !tail[0];
	int r = vivd_ask(remove ? "DELETE" : "POST", path_of(name, tail).str, NULL,
			 remove ? NULL : &d, e);

	if (!r && a->json && !remove)
		json_line_print(d.root, false);
	else if (!r && !strcmp(tail, "/run"))
		printf("%s: run %s\n", name, json_show(d.root, "run"));
	else if (!r)
		printf(a->json ? "{\"name\":\"%s\"}\n" : "%s\n", name);
	json_free(&d);
	return r;
}

static int changes(struct args *a, const char *tail, struct err *e)
{
	return words_each(a, change, (void *)(uintptr_t)tail, e);
}

int cron_rm_main(struct args *a, struct err *e)
{
	return changes(a, arg_is_on(a, "force") ? "?force=1" : "", e);
}

int cron_pause_main(struct args *a, struct err *e)
{
	return changes(a, "/pause", e);
}

int cron_resume_main(struct args *a, struct err *e)
{
	return changes(a, "/resume", e);
}

int cron_run_main(struct args *a, struct err *e)
{
	return changes(a, "/run", e);
}

/* ---- logs ---- */

static void runs_print(const struct json *list)
{
	printf("%-8s %-9s %-7s %-26s %-26s %s\n", "RUN", "STATE", "REASON", "DUE", "ENDED", "EXIT");
	for (const struct json *o = list ? list->first : NULL; o; o = o->next)
		printf("%-8s %-9s %-7s %-26s %-26s %s%s\n", json_show(o, "run"),
		       json_show(o, "state"), json_show(o, "reason"), json_show(o, "due"),
		       *json_show(o, "ended") ? json_show(o, "ended") : "-",
		       *json_show(o, "exit_code") ? json_show(o, "exit_code") : "-",
		       *json_show(o, "timed_out") ? " (timed out)" : "");
}

/* Of a command, an agent or a step: a terminal gets no control characters of theirs. */
static void bytes_print(const char *p, size_t n)
{
	if (isatty(STDOUT_FILENO))
		safe_print(stdout, p, n, 0, 0);
	else
		fwrite(p, 1, n, stdout);
}

static void output_print(const struct json *o)
{
	const struct json *coded = json_get(o, "output_base64", JSON_TEXT),
			  *text = json_get(o, "output", JSON_TEXT),
			  *error = json_get(o, "error", JSON_OBJECT);

	if (coded) {
		ssize_t n = base64_decode(coded->text, coded->text, strlen(coded->text));

		bytes_print(coded->text, (size_t)MAX(n, 0));
	} else if (text) {
		bytes_print(text->text, strlen(text->text));
	}
	fflush(stdout);
	if (error) {
		fputs("viv: run ", stderr);
		text_print(stderr, json_show(o, "run"), 20);
		fputs(" failed: ", stderr);
		text_print(stderr, json_show(error, "message"), 400);
		fputs("\n", stderr);
	}
}

int cron_logs_main(struct args *a, struct err *e)
{
	const char *run = arg_value(a, "run");
	struct json_doc d = { 0 };
	char tail[64] = "/runs";
	uint32_t n;
	int r;

	if (run && !value_u32(run, &n))
		return args_wrong(a, e, "--run '%s' is not a number", run);
	if (run && arg_is_on(a, "all"))
		return args_wrong(a, e, "--run and --all exclude each other");
	if (!arg_is_on(a, "all"))
		snprintf(tail, sizeof(tail), "/runs/%s", run ? run : "last");
	r = vivd_ask("GET", path_of(a->words[0], tail).str, NULL, &d, e);
	if (!r && a->json)
		json_line_print(d.root, arg_is_on(a, "all"));
	else if (!r && arg_is_on(a, "all"))
		runs_print(json_get(d.root, "runs", JSON_LIST));
	else if (!r)
		output_print(d.root);
	json_free(&d);
	return r;
}
