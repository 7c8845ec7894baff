/* See inside.h.
 *
 * Outside, the streams of a process are viv's own descriptors, handed over. Nothing can be handed
 * over through the door of a cell, so here the output comes as lines of JSON and is written as it
 * comes; the input is read by a process of its own, which sends it in pieces and ends with us.
 * A terminal gets its size at the start; changes of it are not passed on. */
#include "cli/inside.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/utf8.h"
#include "cli/create.h"
#include "cli/vivd.h"

#define PIECE 49152

static const char *const works[] = {
	"run",
	"create",
	"start",
	"stop",
	"restart",
	"kill",
	"pause",
	"resume",
	"exec",
	"shell",
	"logs",
	"cp",
	"ps",
	"ls",
	"wait",
	"rm",
	"inspect",
	"stats",
	"top",
	"events",
	"diff",
	"mcp",
	"tree",
	"help",
	"version",
	"approvals",
	"approvals ls",
	"approvals show",
	"sleep",
	"wake",
	"completion",
	"snapshot",
	"fork",
	"rollback",
	"rename",
	"session",
	"session new",
	"session prompt",
	"session cancel",
	"session ls",
	"session show",
	"session events",
	"session mode",
	"session model",
	"session config",
	"session close",
	"session rm",
	"transcript",
	"transcript search",
	"agent",
	"agent ls",
	"agent show",
	"agent run",
	"up",
	"down",
};

int inside_check(const struct verb *v, struct err *e)
{
	for (unsigned i = 0; i < ARRAY_LEN(works); i++)
		if (!strcmp(works[i], v->name))
			return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "'viv %s' does not work in a cell" REMEDY "docs/subcells.md lists what does",
		       v->name);
}

/* ---- a process ---- */

struct output {
	const char *cell;
	const struct inside_exec *x;
	pid_t reader; /* of the input; 0: none */
	int status; /* -1: not known yet */
};

/* In a process of its own, until the end of the input. */
static void input_send(const struct output *o, const char *proc)
{
	char bytes[PIECE], coded[BASE64_SIZE(PIECE) + 1], tail[64];
	struct cell_path path;
	struct err e;
	ssize_t n;

	snprintf(tail, sizeof(tail), "/processes/%.20s/input", proc);
	path = cell_path(o->cell, tail);
	do {
		struct buf b = { 0 };
		int r;

		do
			n = read(0, bytes, sizeof(bytes));
		while (n < 0 && errno == EINTR);
		buf_add_text(&b, "{");
		if (n > 0) {
			base64_encode(coded, bytes, (size_t)n);
			coded[BASE64_SIZE((size_t)n)] = '\0';
			json_member_text(&b, "base64", coded);
		} else {
			json_member_add(&b, "close", "true");
		}
		buf_add(&b, "}", 2);
		r = vivd_ask("POST", path.str, (char *)b.p, NULL, &e);
		buf_free(&b);
		if (r < 0)
			break;
	} while (n > 0);
}

static void reader_start(struct output *o, const char *proc)
{
	pid_t us = getpid();

	fflush(stdout);
	o->reader = fork();
	if (o->reader)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	vivd_disconnect(); /* a connection of its own */
	if (getppid() == us)
		input_send(o, proc);
	_exit(0);
}

static void bytes_write(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t w = write(fd, bytes, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return;
		bytes += w;
		n -= (size_t)w;
	}
}

static void output_write(int fd, const struct json *line)
{
	const struct json *coded = json_get(line, "base64", JSON_TEXT),
			  *text = json_get(line, "text", JSON_TEXT);
	ssize_t n;

	if (coded) {
		n = base64_decode(coded->text, coded->text, strlen(coded->text));
		bytes_write(fd, coded->text, (size_t)MAX(n, 0));
	} else if (text) {
		bytes_write(fd, text->text, strlen(text->text));
	}
}

static int line_take(void *arg, const char *line, size_t size)
{
	struct output *o = arg;
	struct json_doc d;
	const char *type;
	struct err e;

	if (json_parse(&d, line, size, &e) < 0)
		return 0;
	type = json_show(d.root, "type");
	if (!strcmp(type, "started") && o->x->interactive)
		reader_start(o, json_show(d.root, "proc"));
	else if (!strcmp(type, "stdout") || !strcmp(type, "stderr"))
		output_write(type[3] == 'o' ? 1 : 2, d.root);
	else if (!strcmp(type, "exit"))
		o->status = !strcmp(json_show(d.root, "timed_out"), "true")
				    ? EXIT_TIMEOUT
				    : atoi(json_show(d.root, "exit_code"));
	json_free(&d);
	return 0;
}

static void words_add(struct buf *b, const char *name, char *const *words)
{
	json_member_add(b, name, "[");
	for (unsigned i = 0; words[i]; i++) {
		buf_add_text(b, i ? "," : "");
		json_text_add(b, words[i]);
	}
	buf_add_text(b, "]");
}

static void env_add(struct buf *b, char *const *env)
{
	struct buf map = { 0 };

	buf_add_text(&map, "{");
	for (; env && *env; env++) {
		size_t n = strcspn(*env, "=");
		char *name = strndup(*env, n);

		if (name && (*env)[n])
			json_member_text(&map, name, *env + n + 1);
		free(name);
	}
	buf_add(&map, "}", 2);
	json_member_add(b, "env", (char *)map.p);
	buf_free(&map);
}

static int description_write(struct buf *b, const struct inside_exec *x, struct err *e)
{
	for (char *const *w = x->argv; *w; w++)
		if (!text_is_utf8(*w, strlen(*w)))
			return err_set(e, ERR_USAGE,
				       "a word of the command is not UTF-8, which is "
				       "needed in a cell");
	buf_add_text(b, "{");
	words_add(b, "command", x->argv);
	if (x->env && *x->env)
		env_add(b, x->env);
	json_member_text(b, "workdir", x->workdir);
	json_member_text(b, "user", x->user);
	if (x->timeout_ns)
		json_member_seconds(b, "timeout", x->timeout_ns);
	if (x->interactive)
		json_member_add(b, "stdin_open", "true");
	if (x->tty)
		json_member_add(b, "tty", "true");
	if (x->tty && x->rows && x->cols) {
		json_member_number(b, "rows", x->rows);
		json_member_number(b, "cols", x->cols);
	}
	if (x->detach)
		json_member_add(b, "detach", "true");
	buf_add(b, "}", 2);
	return 0;
}

static int exec_detached(const char *path, const char *body, bool json, struct err *e)
{
	struct json_doc d = { 0 };

	if (vivd_ask("POST", path, body, &d, e) < 0)
		return -1;
	if (json)
		json_line_print(d.root, false);
	else
		printf("%s\n", json_show(d.root, "proc"));
	json_free(&d);
	return 0;
}

static int exec_attached(const char *path, const char *body, struct output *o, struct err *e)
{
	struct termios before, raw;
	bool terminal = o->x->tty && o->x->interactive && tcgetattr(0, &before) == 0;
	int r;

	fflush(stdout);
	if (terminal) {
		raw = before;
		cfmakeraw(&raw);
		tcsetattr(0, TCSADRAIN, &raw);
	}
	r = vivd_stream("POST", path, body, line_take, o, e);
	if (terminal)
		tcsetattr(0, TCSADRAIN, &before);
	if (o->reader > 0) {
		kill(o->reader, SIGKILL);
		waitpid(o->reader, NULL, 0);
	}
	if (r == 0 && o->status < 0)
		return err_set(e, ERR_FAILED, "the cell ended before its command");
	return r < 0 ? -1 : o->status;
}

int inside_exec(const char *cell, const struct inside_exec *x, struct err *e)
{
	struct output o = { .cell = cell, .x = x, .status = -1 };
	struct cell_path path = cell_path(cell, "/exec");
	struct buf b = { 0 };
	int r = description_write(&b, x, e);

	if (r == 0)
		r = x->detach ? exec_detached(path.str, (char *)b.p, x->json, e)
			      : exec_attached(path.str, (char *)b.p, &o, e);
	buf_free(&b);
	return r;
}

/* ---- viv run ---- */

/* Nothing comes from there: no process has to wait for it. */
static bool input_is_empty(void)
{
	struct stat st, null;

	return fstat(0, &st) < 0 ||
	       (S_ISCHR(st.st_mode) && stat("/dev/null", &null) == 0 && st.st_rdev == null.st_rdev);
}

static void cell_end(const char *id, bool keep)
{
	struct err e;

	if (vivd_ask(keep ? "POST" : "DELETE", cell_path(id, keep ? "/stop" : "?force=1").str, NULL,
		     NULL, &e) < 0)
		report(&e);
}

int inside_run(struct run_options *o, struct err *e)
{
	struct inside_exec x = { .argv = o->argv,
				 .interactive = o->tty || !input_is_empty(),
				 .tty = o->tty };
	struct json_doc d = { 0 };
	struct buf b = { 0 };
	char id[64];
	int r;

	if (!o->argv || !o->argv[0])
		return err_set(e, ERR_USAGE,
			       "in a cell, viv run needs a command" REMEDY
			       "viv run -- COMMAND, or viv run --detach");
	/* The command is run in a cell that waits: its streams are there from its first byte on. */
	o->argv = NULL;
	o->given[SET_COMMAND] = false;
	buf_add_text(&b, "{");
	json_member_add(&b, "start", "true");
	run_options_write(o, 0, &b);
	buf_add(&b, "}", 2);
	r = vivd_ask("POST", "/v1/cells", (char *)b.p, &d, e);
	buf_free(&b);
	if (r < 0)
		return -1;
	snprintf(id, sizeof(id), "%s", json_show(d.root, "id"));
	json_free(&d);
	r = inside_exec(id, &x, e);
	if (r < 0) {
		r = report(e);
		vivd_disconnect(); /* in the middle of an answer, perhaps */
	}
	cell_end(id, o->name && !o->rm);
	return r;
}
