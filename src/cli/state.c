/* Verbs that change the state of cells, by way of vivd: start, stop, restart, kill, pause, resume,
 * wait, rm, rename. Each takes several cells; the first failure decides the exit status, but all
 * are tried. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/jsontext.h"
#include "cli/args.h"
#include "cli/attach.h"
#include "cli/cells.h"
#include "cli/change.h"
#include "cli/target.h"
#include "cli/vivd.h"

struct change {
	struct args *args;
	struct viv_client *c;
	const char *method;
	const char *tail; /* of the path below the cell */
	const char *body; /* NULL: none */
	bool procs; /* CELL:PROCESS is understood */
};

/* One request, and what is printed for it: the object, or the word as it was given. */
static int change_ask(const struct change *x, const char *word, const struct target *t,
		      const char *method, const char *tail, const char *body)
{
	bool answers = strcmp(method, "DELETE") && strcmp(tail, "/kill");
	struct json_doc d = { 0 };
	int status = vivd_ask(x->c, method, cell_path(t->cell, tail).str, body,
			      answers && !t->proc_given ? &d : NULL);

	if (!status && !x->args->json) {
		printf("%s\n", word);
	} else if (!status) {
		if (d.root)
			json_value_print(stdout, d.root, false);
		else {
			printf("{\"cell\":");
			json_quoted(stdout, word);
			putchar('}');
		}
		putchar('\n');
	}
	json_free(&d);
	return status;
}

static int change_simple(const struct change *x, const char *word, const struct target *t)
{
	return change_ask(x, word, t, x->method, x->tail, x->body);
}

static int each(struct change *x,
		int (*fn)(const struct change *x, const char *word, const struct target *t))
{
	int status = vivd_connect(&x->c), r;

	for (int i = 0; x->c && i < x->args->n; i++) {
		const char *word = x->args->words[i];
		struct target t;
		struct err e;

		if (target_parse(word, &t, &e) < 0)
			r = report(&e);
		else if (t.proc_given && !x->procs)
			r = fail(ERR_USAGE, "'%s': give a cell, without a process", word);
		else
			r = fn(x, word, &t);
		status = status ? status : r;
	}
	viv_close(x->c);
	return status;
}

int cells_change(struct args *a, const char *method, const char *tail, const char *body)
{
	struct change x = { .args = a, .method = method, .tail = tail, .body = body };

	return each(&x, change_simple);
}

/* {"grace":SECONDS} for -t, "" for none; NULL: not a time. */
static const char *grace_body(const struct args *a, char *text, size_t size)
{
	int64_t grace = -1;

	text[0] = '\0';
	if (!arg_time(a, "time", &grace))
		return NULL;
	if (grace >= 0)
		snprintf(text, size, "{\"grace\":%.9g}", (double)grace / NSEC_PER_SEC);
	return text;
}

static int stop_or_restart(int argc, char **argv, const char *tail)
{
	struct args a;
	int status = args_take(&a, argc, argv);
	char body[64];

	if (status)
		return status;
	return grace_body(&a, body, sizeof(body)) ? cells_change(&a, "POST", tail, body)
						  : ERR_USAGE;
}

int stop_main(int argc, char **argv)
{
	return stop_or_restart(argc, argv, "/stop");
}

int restart_main(int argc, char **argv)
{
	return stop_or_restart(argc, argv, "/restart");
}

static int simple_main(int argc, char **argv, const char *tail)
{
	struct args a;
	int status = args_take(&a, argc, argv);

	return status ? status : cells_change(&a, "POST", tail, NULL);
}

int pause_main(int argc, char **argv)
{
	return simple_main(argc, argv, "/pause");
}

int resume_main(int argc, char **argv)
{
	return simple_main(argc, argv, "/resume");
}

int start_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);

	if (status)
		return status;
	if (!arg_is_on(&a, "attach"))
		return cells_change(&a, "POST", "/start", NULL);
	if (a.n != 1)
		return args_wrong(a.verb, "--attach is for one cell");
	return start_attached(a.words[0]);
}

int rm_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);

	if (status)
		return status;
	return cells_change(&a, "DELETE", arg_is_on(&a, "force") ? "?force=1" : "", NULL);
}

int rename_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);
	struct buf b = { 0 };

	if (status)
		return status;
	buf_add_text(&b, "{");
	json_member_text(&b, "name", a.words[1]);
	buf_add(&b, "}", 2);
	a.n = 1;
	status = cells_change(&a, "POST", "/rename", (char *)b.p);
	buf_free(&b);
	return status;
}

/* ---- signals ---- */

/* body NULL: the whole cell at once. A stop without a grace does that, also when it is paused, and
 * nobody starts it again. */
static int kill_one(const struct change *x, const char *word, const struct target *t)
{
	char tail[64];

	if (t->proc_given) {
		snprintf(tail, sizeof(tail), "/processes/%u/signal", t->proc);
		return change_ask(x, word, t, "POST", tail, x->body ? x->body : "{\"signal\":9}");
	}
	if (x->body)
		return change_ask(x, word, t, "POST", "/kill", x->body);
	return change_ask(x, word, t, "POST", "/stop", "{\"grace\":0}");
}

int kill_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv), sig = SIGKILL;
	struct change x = { .args = &a, .procs = true };
	char body[32];

	if (status)
		return status;
	if (arg_value(&a, "signal"))
		sig = value_signal(arg_value(&a, "signal"));
	if (!sig)
		return fail(ERR_USAGE,
			    "there is no signal '%s'" REMEDY
			    "give a name such as TERM, or a number",
			    arg_value(&a, "signal"));
	snprintf(body, sizeof(body), "{\"signal\":%d}", sig);
	if (sig != SIGKILL)
		x.body = body;
	return each(&x, kill_one);
}

/* ---- wait ---- */

static int wait_one(const struct change *x, const char *word, const struct target *t)
{
	struct json_doc d = { 0 };
	char tail[64] = "/wait";
	int status;

	(void)word;
	if (t->proc_given)
		snprintf(tail, sizeof(tail), "/processes/%u/wait", t->proc);
	status = vivd_ask(x->c, "GET", cell_path(t->cell, tail).str, NULL, &d);
	if (!status && x->args->json)
		json_value_print(stdout, d.root, false);
	else if (!status)
		fputs(json_show(d.root, "exit_code"), stdout);
	if (!status)
		putchar('\n');
	json_free(&d);
	return status;
}

int wait_main(int argc, char **argv)
{
	struct args a;
	int status = args_take(&a, argc, argv);
	struct change x = { .args = &a, .procs = true };

	return status ? status : each(&x, wait_one);
}
