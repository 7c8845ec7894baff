/* /v1/cells/{cell}/processes: what runs in a cell; attaching to it; input, signals and window sizes
 * for it; waiting for its end. And /v1/cells/{cell}/stats. */
#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/exec/exec.h"
#include "api/routes.h"
#include "api/http/text.h"
#include "daemon/cells/usage.h"

struct proc_op {
	struct op op; /* first */
	struct keeper_link *link; /* of a wait */
	json_t *list;
	struct daemon *d; /* of stats */
	char cell[CELL_ID_LEN + 1];
};

/* ---- the list ---- */

static json_t *proc_json(const struct keep_msg *m)
{
	const struct keep_proc *p = &m->proc_is;
	char command[sizeof(p->command)];
	json_t *o;

	memcpy(command, p->command, sizeof(command));
	command[sizeof(command) - 1] = '\0';
	o = json_pack("{s:I,s:i,s:o,s:s,s:b,s:b}", "proc", (json_int_t)m->proc, "pid", (int)m->pid,
		      "command", json_clean(command), "started", time_text(p->started).str, "ended",
		      p->ended ? 1 : 0, "logged", p->flags & KEEP_X_LOG ? 1 : 0);
	if (p->ended)
		json_set_exit(o, p->status, p->timed_out);
	return o;
}

static void procs_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct proc_op *x = arg;
	struct request *r;

	(void)fds;
	(void)nfds;
	if (m && m->type == KEEP_PROC) {
		json_array_append_new(x->list, proc_json(m));
		return;
	}
	r = op_end(&x->op);
	if (r && m && m->type == KEEP_OK)
		reply_json(r, 200, json_pack("{s:O}", "processes", x->list));
	else if (r)
		reply_keeper(r, m);
	json_decref(x->list);
	free(x);
}

void processes_list(struct request *r)
{
	struct cell *c = request_live(r);
	struct keep_msg m = { .type = KEEP_PROCS };
	struct proc_op *x;

	if (!c)
		return;
	x = xalloc(sizeof(*x));
	x->list = json_array();
	request_ask(r, c, &m, NULL, 0, procs_answer, &x->op);
}

/* ---- one process ---- */

/* The number in the path. False: answered. */
static bool proc_number(struct request *r, uint32_t *ret)
{
	uint64_t n;

	if (text_number(r->param[1], UINT32_MAX, &n) && n) {
		*ret = (uint32_t)n;
		return true;
	}
	reply_error(r, ERR_NOT_FOUND, "there is no process '%.40s'", r->param[1]);
	return false;
}

static void simple_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct proc_op *x = arg;
	struct request *r = op_end(&x->op);
	json_t *o;

	(void)fds;
	(void)nfds;
	if (r && m && m->type == KEEP_OK) {
		reply_nothing(r);
	} else if (r && m && m->type == KEEP_EXITED) {
		o = json_pack("{s:I}", "proc", (json_int_t)m->proc);
		json_set_exit(o, m->a, m->b);
		reply_json(r, 200, o);
	} else if (r) {
		reply_keeper(r, m);
	}
	free(x);
}

static void simple_ask(struct request *r, struct cell *c, struct keep_msg m)
{
	struct proc_op *x = xalloc(sizeof(*x));

	request_ask(r, c, &m, NULL, 0, simple_answer, &x->op);
}

void process_signal(struct request *r)
{
	static const struct field fields[] = { { "signal", FIELD_INT, true },
					       { "group", FIELD_BOOL, false } };
	struct cell *c = request_live(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct keep_msg m = { .type = KEEP_SIGNAL };
	json_int_t sig;

	if (!o)
		return;
	sig = json_integer_value(json_object_get(o, "signal"));
	m.flags = json_is_true(json_object_get(o, "group")) ? KEEP_TO_GROUP : 0;
	json_decref(o);
	m.a = (int)sig;
	if (sig < 1 || sig > 64)
		reply_error(r, ERR_INVALID, "'signal' is a number between 1 and 64");
	else if (proc_number(r, &m.proc))
		simple_ask(r, c, m);
}

void process_resize(struct request *r)
{
	static const struct field fields[] = { { "rows", FIELD_INT, true },
					       { "cols", FIELD_INT, true } };
	struct cell *c = request_live(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct keep_msg m = { .type = KEEP_RESIZE };
	json_int_t rows, cols;

	if (!o)
		return;
	rows = json_integer_value(json_object_get(o, "rows"));
	cols = json_integer_value(json_object_get(o, "cols"));
	json_decref(o);
	m.a = (int)rows;
	m.b = (int)cols;
	if (rows < 1 || cols < 1 || rows > 10000 || cols > 10000)
		reply_error(r, ERR_INVALID, "'rows' and 'cols' are between 1 and 10000");
	else if (proc_number(r, &m.proc))
		simple_ask(r, c, m);
}

/* What may take for ever is not waited for when nobody does. */
static void wait_gone(struct op *op)
{
	struct proc_op *x = container_of(op, struct proc_op, op);

	link_forget(x->link, x);
	free(x);
}

void process_wait(struct request *r)
{
	struct cell *c = request_live(r);
	struct keep_msg m = { .type = KEEP_WAIT };
	struct proc_op *x;

	if (!c || !proc_number(r, &m.proc))
		return;
	x = xalloc(sizeof(*x));
	x->link = c->keeper;
	x->op.gone = wait_gone;
	request_ask(r, c, &m, NULL, 0, simple_answer, &x->op);
}

/* ---- input ---- */

static void input_done(struct exec *x)
{
	struct op *op = x->input_op;
	struct request *r = op_end(op);

	x->input_op = NULL;
	if (r && x->end[0].fd < 0 && !x->input_ends)
		reply_error(r, ERR_CLOSED, "the process reads no more");
	else if (r)
		reply_nothing(r);
	free(op);
}

/* The request waits until this input is written. False: answered. */
static bool input_take(struct request *r, struct exec *x, const json_t *o)
{
	const char *text = json_text(o, "text"), *coded = json_text(o, "base64");
	size_t before = x->input.len;

	if (text)
		buf_add(&x->input, text, strlen(text));
	if (coded && exec_input_decode(x, coded) < 0) {
		x->input.len = before;
		reply_error(r, ERR_INVALID, "'base64' is not base64");
		return false;
	}
	x->input_ends = json_is_true(json_object_get(o, "close"));
	x->input_op = xalloc(sizeof(*x->input_op));
	op_begin(r, x->input_op);
	x->input_done = input_done;
	return true;
}

static void input_failed(struct exec *x, const struct err *f)
{
	struct op *op = x->input_op;
	struct request *r = op_end(op);

	x->input_op = NULL;
	x->input_done = NULL;
	if (r)
		reply_err(r, f);
	free(op);
}

static const struct exec_ops input_ops = { .failed = input_failed, .drained = exec_free };

/* For a process that nobody is attached to, but whose keeper holds its input open. */
static void input_detached(struct request *r, struct cell *c, uint32_t proc, const json_t *o)
{
	struct exec *x = exec_new(r->d, c, &input_ops);
	struct err f = { 0 };

	if (!input_take(r, x, o)) {
		exec_free(x);
	} else if (exec_attach_input(x, c, proc, &f) < 0) {
		input_failed(x, &f);
		exec_free(x);
	}
}

static void input_begin(struct request *r, struct exec *x, const json_t *o)
{
	if (x->input_done)
		reply_error(r, ERR_BUSY,
			    "the input before is not read yet" REMEDY "wait for its answer");
	/* Or it will be, after what is still to be written. */
	else if (x->end[0].fd < 0 || x->input_ends)
		reply_error(r, ERR_CLOSED, "the input of the process is closed");
	else if (input_take(r, x, o))
		exec_input_step(x);
}

void process_input(struct request *r)
{
	static const struct field fields[] = { { "text", FIELD_TEXT, false },
					       { "base64", FIELD_TEXT, false },
					       { "close", FIELD_BOOL, false } };
	struct cell *c = request_live(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct exec *x = NULL;
	uint32_t proc;

	if (!o)
		return;
	if (proc_number(r, &proc)) {
		x = exec_find(c, proc);
		if (x)
			input_begin(r, x, o);
		else
			input_detached(r, c, proc, o);
	}
	json_decref(o);
}

/* ---- attaching ---- */

/* False: answered. */
static bool cursor_read(struct request *r, uint64_t *ret)
{
	bool bad = false;
	char *text = request_query(r, "cursor", &bad);

	if (text && !strcmp(text, "end")) {
		*ret = EXEC_NOW;
	} else if (text && !text_number(text, INT64_MAX, ret)) {
		reply_error(r, ERR_INVALID, "'cursor' is a position in the output, or 'end'");
		bad = true;
	}
	free(text);
	return !bad;
}

void process_attach(struct request *r)
{
	static const char *const names[] = { "cursor", "ping", NULL };
	uint64_t cursor = LOG_OLDEST;
	struct cell *c;
	uint32_t proc;

	if (!request_query_only(r, names) || !cursor_read(r, &cursor))
		return;
	c = request_live(r);
	if (!c || !proc_number(r, &proc))
		return;
	if (request_header(r, "Upgrade"))
		exec_attach_socket(r, c, proc, cursor);
	else
		exec_attach_stream(r, c, proc, cursor);
}

/* ---- figures ---- */

static json_t *stats_json(const struct usage *u)
{
	const struct keep_stats *s = &u->now;

	return json_pack("{s:s,s:f,s:f,s:f,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}",
			 "time", time_text((int64_t)s->time).str, "cpu_seconds",
			 (double)s->cpu_ns / NSEC_PER_SEC, "cpus", u->cpus,
			 "system_calls_per_second", u->calls_per_second, "memory",
			 (json_int_t)s->memory, "memory_limit", (json_int_t)s->memory_limit, "disk",
			 (json_int_t)s->disk, "disk_limit", (json_int_t)s->disk_limit, "inodes",
			 (json_int_t)s->inodes, "inodes_limit", (json_int_t)s->inodes_limit,
			 "tasks", (json_int_t)s->tasks, "tasks_limit", (json_int_t)s->tasks_limit,
			 "processes", (json_int_t)s->procs, "system_calls", (json_int_t)s->calls,
			 "files", (json_int_t)s->files, "refused", (json_int_t)s->refused);
}

static void stats_answer(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct proc_op *x = arg;
	struct request *r = op_end(&x->op);
	struct cell *c = cell_by_id(x->d, x->cell);

	(void)fds;
	(void)nfds;
	if (r && c && c->keeper && m && m->type == KEEP_STATS)
		reply_json(r, 200, stats_json(usage_take(c, &m->stats)));
	else if (r)
		reply_keeper(r, m && m->type == KEEP_FAIL ? m : NULL);
	free(x);
}

void cell_stats_get(struct request *r)
{
	struct cell *c = request_live(r);
	struct keep_msg m = { .type = KEEP_STATS };
	struct proc_op *x;

	if (!c)
		return;
	x = xalloc(sizeof(*x));
	x->d = r->d;
	strcpy(x->cell, c->id);
	request_ask(r, c, &m, NULL, 0, stats_answer, &x->op);
}
