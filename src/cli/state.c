/* Verbs that change the state of cells, by way of vivd: start, stop, restart, sleep, wake, kill,
 * pause, resume, wait, rm, rename. Each takes several cells; the first failure decides the exit
 * status, but all are tried. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "base/safetext.h"
#include "cli/args.h"
#include "cli/attach.h"
#include "cli/cells.h"
#include "cli/change.h"
#include "cli/target.h"
#include "cli/vivd.h"

struct change {
	const char *method;
	const char *tail; /* of the path below the cell */
	const char *body; /* NULL: none */
};

/* One request, and what is printed for it: the object, or the word as it was given. */
static int change_ask(const struct args *a, const char *word, const struct target *t,
		      const struct change *x, struct err *e)
{
	bool answers = strcmp(x->method, "DELETE") && strcmp(x->tail, "/kill") && !t->proc_given;
	struct json_doc d = { 0 };

	if (vivd_ask(x->method, cell_path(t->cell, x->tail).str, x->body, answers ? &d : NULL, e) <
	    0)
		return -1;
	if (!a->json) {
		printf("%s\n", word);
	} else if (d.root) {
		json_line_print(d.root, false);
	} else {
		printf("{\"cell\":");
		json_quoted(stdout, word);
		printf("}\n");
	}
	json_free(&d);
	return 0;
}

static int cell_change(const struct args *a, const char *word, void *arg, struct err *e)
{
	struct target t;

	if (target_parse(word, &t, e) < 0)
		return -1;
	if (t.proc_given)
		return err_set(e, ERR_USAGE, "'%s': give a cell, without a process", word);
	return change_ask(a, word, &t, arg, e);
}

int cells_change(const struct args *a, const char *method, const char *tail, const char *body,
		 struct err *e)
{
	struct change x = { .method = method, .tail = tail, .body = body };

	return words_each(a, cell_change, &x, e);
}

static int grace_change(const struct args *a, const char *tail, struct err *e)
{
	int64_t grace = -1;
	char body[64] = "";

	if (arg_time(a, "time", &grace, e) < 0)
		return -1;
	if (grace >= 0)
		snprintf(body, sizeof(body), "{\"grace\":%.9g}", (double)grace / NSEC_PER_SEC);
	return cells_change(a, "POST", tail, body, e);
}

int stop_main(struct args *a, struct err *e)
{
	return grace_change(a, "/stop", e);
}

int restart_main(struct args *a, struct err *e)
{
	return grace_change(a, "/restart", e);
}

int sleep_main(struct args *a, struct err *e)
{
	if (arg_is_on(a, "freeze"))
		return cells_change(a, "POST", "/sleep", "{\"freeze\":true}", e);
	return grace_change(a, "/sleep", e);
}

int wake_main(struct args *a, struct err *e)
{
	return cells_change(a, "POST", "/wake", NULL, e);
}

int pause_main(struct args *a, struct err *e)
{
	return cells_change(a, "POST", "/pause", NULL, e);
}

int resume_main(struct args *a, struct err *e)
{
	return cells_change(a, "POST", "/resume", NULL, e);
}

int start_main(struct args *a, struct err *e)
{
	if (!arg_is_on(a, "attach"))
		return cells_change(a, "POST", "/start", NULL, e);
	if (a->n != 1)
		return args_wrong(a, e, "--attach is for one cell");
	return start_attached(a->words[0], e);
}

int rm_main(struct args *a, struct err *e)
{
	return cells_change(a, "DELETE", arg_is_on(a, "force") ? "?force=1" : "", NULL, e);
}

int rename_main(struct args *a, struct err *e)
{
	struct buf b = { 0 };
	int status;

	buf_add_text(&b, "{");
	json_member_text(&b, "name", a->words[1]);
	buf_add(&b, "}", 2);
	a->n = 1;
	status = cells_change(a, "POST", "/rename", (char *)b.p, e);
	buf_free(&b);
	return status;
}

/* ---- signals ---- */

/* arg NULL: the whole cell at once. A stop without a grace does that, also when it is paused, and
 * nobody starts it again. */
static int kill_one(const struct args *a, const char *word, void *arg, struct err *e)
{
	struct change x = { "POST", "/stop", "{\"grace\":0}" };
	struct target t;
	char tail[64];

	if (target_parse(word, &t, e) < 0)
		return -1;
	if (arg)
		x = (struct change){ "POST", "/kill", arg };
	if (t.proc_given) {
		snprintf(tail, sizeof(tail), "/processes/%u/signal", t.proc);
		x = (struct change){ "POST", tail, arg ? arg : "{\"signal\":9}" };
	}
	return change_ask(a, word, &t, &x, e);
}

int kill_main(struct args *a, struct err *e)
{
	const char *name = arg_value(a, "signal");
	int sig = name ? value_signal(name) : SIGKILL;
	char body[32];

	if (!sig)
		return err_set(e, ERR_USAGE,
			       "there is no signal '%s'" REMEDY
			       "give a name such as TERM, or a number",
			       name);
	snprintf(body, sizeof(body), "{\"signal\":%d}", sig);
	return words_each(a, kill_one, sig != SIGKILL ? body : NULL, e);
}

/* ---- wait ---- */

static const struct json *result_of(const struct json *cell)
{
	const struct json *m = cell ? cell->first : NULL;

	while (m && (!m->key || strcmp(m->key, "result")))
		m = m->next;
	return m;
}

/* A text is the bytes of a hostile cell: a terminal gets no control characters of it. */
static void result_print(const struct json *v, bool json)
{
	if (json || v->type != JSON_TEXT) {
		json_line_print(v, false);
		return;
	}
	if (isatty(1))
		safe_print(stdout, v->text, strlen(v->text), 0, 0);
	else
		fputs(v->text, stdout);
	putchar('\n');
}

static int wait_one(const struct args *a, const char *word, void *arg, struct err *e)
{
	struct json_doc d = { 0 };
	char tail[64] = "/wait";
	const struct json *result;
	struct target t;
	int r = 0;

	(void)arg;
	if (target_parse(word, &t, e) < 0)
		return -1;
	if (t.proc_given && arg_is_on(a, "result"))
		return err_set(e, ERR_USAGE, "'%s': a cell has a result, a process has none", word);
	if (t.proc_given)
		snprintf(tail, sizeof(tail), "/processes/%u/wait", t.proc);
	if (vivd_wait(cell_path(t.cell, tail).str, &d, e) < 0)
		return -1;
	result = result_of(d.root);
	if (!arg_is_on(a, "result") && a->json)
		json_line_print(d.root, false);
	else if (!arg_is_on(a, "result"))
		printf("%s\n", json_show(d.root, "exit_code"));
	else if (!result)
		r = err_set(e, ERR_NOT_FOUND,
			    "'%s' left no result" REMEDY
			    "a program in the cell writes it to /dev/result",
			    word);
	else
		result_print(result, a->json);
	json_free(&d);
	return r;
}

int wait_main(struct args *a, struct err *e)
{
	return words_each(a, wait_one, NULL, e);
}
