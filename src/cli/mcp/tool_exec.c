/* Tools that run commands in a cell and read what they wrote; see mcp.h. A call that is cancelled
 * kills its command: with the whole group of its processes, and also when the command has only just
 * been started. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/jsontext.h"
#include "cli/mcp/mcp.h"
#include "cli/vivd.h"

#define OUTPUT_DEFAULT 30000
#define OUTPUT_MAX 262144
#define TIMEOUT_DEFAULT 120
#define TIMEOUT_MAX 86400
#define TOLD_MAX 1000 /* bytes of output in a line about what happens */
#define LOG_TAIL_DEFAULT 200

#define CELL_ARG                                                                  \
	{                                                                         \
		"cell", ARG_TEXT, true, 0, 256, .about = "name or id of the cell" \
	}
#define OUTPUT_ARG                                                                               \
	{                                                                                        \
		"max_output", ARG_COUNT, false, 100, OUTPUT_MAX,                                 \
			.about = "bytes of each stream to return (default 30000): of more, the " \
				 "beginning and the end"                                         \
	}

/* ---- exec ---- */

static const struct tool_arg exec_args[] = {
	CELL_ARG,
	{ "command", ARG_TEXTS, false, 0, 0, .about = "program and arguments, without a shell" },
	{ "script", ARG_TEXT, false, 0, 0, .about = "instead of 'command': text for /bin/sh" },
	{ "workdir", ARG_TEXT, false, 0, 4096, .about = "directory to run in, an absolute path" },
	{ "env", ARG_MAP, false, 0, 0, .about = "further environment variables" },
	{ "user", ARG_TEXT, false, 0, 256, .about = "user of the cell, by name or number" },
	{ "stdin", ARG_TEXT, false, 0, 524288, .about = "its standard input (default: empty)" },
	{ "timeout", ARG_NUMBER, false, 0.001, TIMEOUT_MAX,
	  .about = "kill the command after so many seconds (default 120)" },
	OUTPUT_ARG,
	{ "detach", ARG_BOOL, false, 0, 0,
	  .about = "run in the background, without a time limit unless 'timeout' is given; logs "
		   "shows its "
		   "output, process_kill ends it" },
};

struct exec_state {
	struct task *t;
	struct bounded out[2];
	volatile int flags; /* TASK_ */
	uint32_t proc;
	bool exited, timed_out;
	int exit_code;
	char signal[32];
};

static void started(struct exec_state *x, const struct json *line)
{
	uint64_t n = 0;

	json_get_u64(line, "proc", &n);
	x->proc = (uint32_t)n;
	x->flags |= TASK_STARTED;
}

static void output(struct exec_state *x, const struct json *line, bool err)
{
	size_t n, some;
	const char *bytes = entry_bytes(line, &n);

	bounded_add(&x->out[err], bytes, n);
	some = MIN(n, (size_t)TOLD_MAX);
	task_tell(x->t, bytes + n - some, some, false);
}

static int exec_line(void *arg, const char *text, size_t size)
{
	struct exec_state *x = arg;
	struct json_doc d;
	struct err bad;
	const char *type;

	if (json_parse(&d, text, size, &bad) < 0)
		return 0;
	type = json_show(d.root, "type");
	if (!strcmp(type, "started")) {
		started(x, d.root);
	} else if (!strcmp(type, "stdout") || !strcmp(type, "stderr")) {
		output(x, d.root, type[3] == 'e');
	} else if (!strcmp(type, "exit")) {
		x->exited = true;
		x->exit_code = atoi(json_show(d.root, "exit_code"));
		x->timed_out = !strcmp(json_show(d.root, "timed_out"), "true");
		snprintf(x->signal, sizeof(x->signal), "%s", json_show(d.root, "signal"));
	}
	json_free(&d);
	return x->flags & TASK_CANCELLED ? 1 : 0;
}

static int process_kill(const char *cell, uint32_t proc, struct err *e)
{
	char tail[64];

	snprintf(tail, sizeof(tail), "/processes/%u/signal", proc);
	return vivd_ask("POST", cell_path(cell, tail).str, "{\"signal\":9,\"group\":true}", NULL,
			e);
}

static void cancelled(struct exec_state *x, const char *cell)
{
	struct err unused;

	vivd_disconnect();
	if (x->proc && !x->exited)
		(void)!process_kill(cell, x->proc, &unused);
	_exit(0);
}

static void map_add(struct buf *b, const char *name, const struct json *map)
{
	if (!map)
		return;
	json_member_add(b, name, "{");
	for (const struct json *m = map->first; m; m = m->next)
		json_member_text(b, m->key, m->text);
	buf_add_text(b, "}");
}

static int command_add(struct buf *b, const struct json *args, struct err *e)
{
	const struct json *list = json_get(args, "command", JSON_LIST);
	const char *script = json_get_text(args, "script");

	if (!list == !script)
		return err_set(e, ERR_INVALID, "give either 'command' or 'script'");
	json_member_add(b, "command", "[");
	if (script) {
		json_member_text(b, NULL, "/bin/sh");
		json_member_text(b, NULL, "-c");
		json_member_text(b, NULL, script);
	}
	for (const struct json *w = list ? list->first : NULL; w; w = w->next)
		json_member_text(b, NULL, w->text);
	buf_add_text(b, "]");
	return 0;
}

static int exec_body(struct buf *b, const struct json *args, struct err *e)
{
	const struct json *timeout = json_get(args, "timeout", JSON_NUMBER);
	bool detach = arg_flag(args, "detach");

	buf_add_text(b, "{");
	if (command_add(b, args, e) < 0)
		return -1;
	json_member_text(b, "workdir", json_get_text(args, "workdir"));
	json_member_text(b, "user", json_get_text(args, "user"));
	json_member_text(b, "stdin", json_get_text(args, "stdin"));
	map_add(b, "env", json_get(args, "env", JSON_OBJECT));
	if (timeout)
		json_member_add(b, "timeout", timeout->text);
	else if (!detach)
		json_member_number(b, "timeout", TIMEOUT_DEFAULT);
	if (detach)
		json_member_add(b, "detach", "true");
	buf_add(b, "}", 2);
	return 0;
}

static void stream_write(struct answer *a, const char *name, const struct bounded *b)
{
	size_t n;
	char *text = bounded_text(b, &n);

	if (n && !strcmp(name, "stderr"))
		fputs("[stderr]\n", a->text);
	fwrite(text, 1, n, a->text);
	if (n && text[n - 1] != '\n')
		fputc('\n', a->text);
	fprintf(a->data, ",\"%s\":", name);
	json_bytes(a->data, text, n);
	free(text);
}

static void exec_write(struct exec_state *x, struct answer *a)
{
	bool cut = bounded_is_cut(&x->out[0]) || bounded_is_cut(&x->out[1]);

	fprintf(a->data, "{\"exit_code\":%d", x->exit_code);
	stream_write(a, "stdout", &x->out[0]);
	stream_write(a, "stderr", &x->out[1]);
	if (x->timed_out) {
		fputs("[killed: the time was up]\n", a->text);
		fputs(",\"timed_out\":true", a->data);
	}
	if (x->signal[0]) {
		fputs(",\"signal\":", a->data);
		json_quoted(a->data, x->signal);
	}
	fprintf(a->text, "[exit code %d]\n", x->exit_code);
	fprintf(a->data, ",\"truncated\":%s}", cut ? "true" : "false");
}

static int detached(const char *cell, const char *body, struct answer *a, struct err *e)
{
	struct json_doc d = { 0 };

	if (vivd_ask("POST", cell_path(cell, "/exec").str, body, &d, e) < 0)
		return -1;
	fprintf(a->text, "process %s runs in the background\n", json_show(d.root, "proc"));
	fprintf(a->data, "{\"process\":%d}", atoi(json_show(d.root, "proc")));
	json_free(&d);
	return 0;
}

static int exec_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	static struct exec_state x;
	size_t max = arg_count(args, "max_output", OUTPUT_DEFAULT);
	const char *cell = arg_cell(args);
	struct buf body = { 0 };
	int r;

	if (exec_body(&body, args, e) < 0)
		return -1;
	if (arg_flag(args, "detach"))
		return detached(cell, (char *)body.p, a, e);
	x.t = t;
	for (int i = 0; i < 2; i++)
		bounded_init(&x.out[i], max);
	task_hold(&x.flags);
	r = vivd_stream("POST", cell_path(cell, "/exec").str, (char *)body.p, exec_line, &x, e);
	if (x.flags & TASK_CANCELLED)
		cancelled(&x, cell);
	if (!r && !x.exited)
		r = err_set(e, ERR_FAILED, "the connection ended before the command did");
	if (!r)
		exec_write(&x, a);
	return r;
}

/* ---- kill ---- */

static const struct tool_arg kill_args[] = {
	CELL_ARG,
	{ "process", ARG_COUNT, true, 1, 4294967295.0, .about = "the number that exec gave" },
};

static int kill_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	uint64_t proc = arg_count(args, "process", 0);

	(void)t;
	if (process_kill(arg_cell(args), (uint32_t)proc, e) < 0)
		return -1;
	fprintf(a->text, "killed process %llu\n", (unsigned long long)proc);
	fprintf(a->data, "{\"killed\":%llu}", (unsigned long long)proc);
	return 0;
}

/* ---- logs ---- */

static const struct tool_arg logs_args[] = {
	CELL_ARG,
	{ "process", ARG_COUNT, false, 1, 4294967295.0,
	  .about = "a process of exec with 'detach' (default: the cell's own command)" },
	{ "tail", ARG_COUNT, false, 1, 100000, .about = "the last so many lines (default 200)" },
	OUTPUT_ARG,
};

static int logs_line(void *arg, const char *text, size_t size)
{
	struct bounded *b = arg;
	struct json_doc d;
	struct err bad;
	const char *bytes;
	size_t n;

	if (json_parse(&d, text, size, &bad) < 0)
		return 0;
	bytes = entry_bytes(d.root, &n);
	bounded_add(b, bytes, n);
	json_free(&d);
	return 0;
}

static int logs_run(struct task *t, const struct json *args, struct answer *a, struct err *e)
{
	struct bounded b;
	char tail[96], *text;
	size_t n;

	(void)t;
	snprintf(tail, sizeof(tail), "/logs?proc=%u&tail=%u",
		 (unsigned)arg_count(args, "process", 1),
		 (unsigned)arg_count(args, "tail", LOG_TAIL_DEFAULT));
	bounded_init(&b, arg_count(args, "max_output", OUTPUT_DEFAULT));
	if (vivd_stream("GET", cell_path(arg_cell(args), tail).str, NULL, logs_line, &b, e) < 0)
		return -1;
	text = bounded_text(&b, &n);
	fwrite(text, 1, n, a->text);
	if (!n)
		fputs("[no output]\n", a->text);
	fputs("{\"output\":", a->data);
	json_bytes(a->data, text, n);
	fprintf(a->data, ",\"truncated\":%s}", bounded_is_cut(&b) ? "true" : "false");
	return 0;
}

#define ARGS(list) .args = list, .nargs = ARRAY_LEN(list)

const struct tool exec_tools[] = {
	{ "exec", "Run a command",
	  "Runs a command in a running cell and returns its output and exit code. Cancelling the "
	  "request kills the command.",
	  exec_run, ARGS(exec_args), TOOL_WRITES | TOOL_DESTROYS | TOOL_OUTSIDE,
	  "{\"type\":\"object\",\"properties\":{\"exit_code\":{\"type\":\"integer\"},"
	  "\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"},"
	  "\"timed_out\":{\"type\":\"boolean\"},\"signal\":{\"type\":\"string\"},"
	  "\"truncated\":{\"type\":\"boolean\"},\"process\":{\"type\":\"integer\"}}}" },
	{ "process_kill", "Kill a process",
	  "Kills a process that exec started in the background, with all processes of its group.",
	  kill_run, ARGS(kill_args), TOOL_WRITES | TOOL_DESTROYS },
	{ "logs", "Read output",
	  "Returns what the cell's own command, or a process in the background, has written.",
	  logs_run, ARGS(logs_args), TOOL_REPEATABLE },
};
const unsigned nexec_tools = ARRAY_LEN(exec_tools);
