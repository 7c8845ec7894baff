/* See tools.h: one call of a tool.
 *
 * Its order: the subcommand and the arguments are checked against the schema; the rules of the cell
 * decide; if they say so, a person is asked; the program runs, and its output goes to the cell as
 * fast as the cell reads it. Whatever ends the connection ends the program.
 *
 * A question survives vivd: its row stays, with a key made of the cell, the tool and the arguments.
 * The command in the cell asks again, and the same call finds its row, answered or not. What nobody
 * asks for again within ORPHAN_MS after vivd's start is withdrawn. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/siphash.h"
#include "daemon/approvals/approvals.h"
#include "daemon/journal/note.h"
#include "daemon/keepers/link.h"
#include "daemon/state/fields.h"
#include "daemon/tools/hosted.h"
#include "daemon/tools/schema.h"
#include "daemon/tools/tools.h"
#include "wire/tools.h"

#define UNREAD_MAX (256u << 10) /* then nothing more is read from the program */
#define PIECE 32768u /* of output in a line */
#define SHOWN_MAX 16384 /* bytes of arguments in an approval */
#define ORPHAN_MS 60000
#define ANSWER_NS (30 * NSEC_PER_SEC) /* so long an answer is for a call that asks again */

struct call {
	struct list link;
	struct door *c;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	json_t *tool, *arguments;
	char *sub; /* NULL: none */
	int64_t approval; /* it waits for; 0: for none */
	struct hosted *h;
	struct mcp_call *m;
	uv_timer_t *timer; /* NULL: it does not run */
	uint64_t began, bytes; /* uv_hrtime(), of output */
	struct err *refused; /* the cell is being told; NULL: it is not */
};

static struct list calls = LIST_INIT(calls);

/* ---- the end ---- */

static void on_timer_closed(uv_handle_t *h)
{
	free(h);
}

static void call_free(struct call *x)
{
	struct cell *cell = x->refused ? door_cell(x->c) : NULL;

	if (cell && cell->keeper)
		link_forget(cell->keeper, x);
	if (x->h)
		hosted_drop(x->h);
	if (x->m)
		mcp_cancel(x->m);
	if (x->timer)
		uv_close((uv_handle_t *)x->timer, on_timer_closed);
	list_remove(&x->link);
	json_decref(x->tool);
	json_decref(x->arguments);
	free(x->sub);
	free(x->refused);
	free(x);
}

/* In the cell's journal, with the beginning of its arguments. */
static void call_record(const struct call *x, int status)
{
	struct tool_path path = tool_path(json_text(x->tool, "name"), x->sub);
	char *args = json_dumps(x->arguments, JSON_COMPACT);
	struct journal_TOOL r = { .tool = note_text(path.str), .status = status };

	r.args = note_cut(args ? args : "", args ? strlen(args) : 0);
	note_add(x->d, x->cell, J_TOOL, &r);
	free(args);
}

/* Its event: names and figures, no arguments and no output. */
static void call_note(const struct call *x, int status, const char *error)
{
	json_t *o = json_pack("{s:s,s:i,s:I,s:I}", "tool", json_text(x->tool, "name"), "exit",
			      status, "bytes", (json_int_t)x->bytes, "ms",
			      x->began ? (json_int_t)((uv_hrtime() - x->began) / 1000000) : 0);

	if (x->sub)
		json_object_set_new(o, "subcommand", json_string(x->sub));
	if (error)
		json_object_set_new(o, "error", json_string(error));
	db_begin(&x->d->db);
	door_event(x->d, "tool.called", x->cell, o);
	call_record(x, status);
	db_end(&x->d->db, NULL);
}

static void call_finish(struct call *x, int status)
{
	struct door *c = x->c;

	call_note(x, status, NULL);
	call_free(x);
	door_finish(c, json_pack("{s:i}", "exit", status));
}

static void call_fail(struct call *x, const struct err *e, int status)
{
	struct door *c = x->c;

	call_note(x, status, err_code(e));
	call_free(x);
	door_fail(c, e, status);
}

void call_cancel(struct call *x)
{
	if (x->approval)
		approval_withdraw(x->d, x->approval);
	if (x->began)
		call_note(x, 128 + 9, "cancelled");
	call_free(x);
}

/* ---- running ---- */

static int64_t number(const struct call *x, const char *name)
{
	return json_integer_value(json_object_get(x->tool, name));
}

/* False: it was too much, and the call is over. */
static bool output(struct call *x, const char *stream, const char *data, size_t n)
{
	struct err e;

	x->bytes += n;
	if (x->bytes > (uint64_t)number(x, "max_output")) {
		err_note(&e, ERR_TOO_LARGE, "tool '%s' printed more than %lld bytes",
			 json_text(x->tool, "name"), (long long)number(x, "max_output"));
		call_fail(x, &e, TOOL_EXIT_FAILED);
		return false;
	}
	while (n) {
		size_t piece = MIN(n, (size_t)PIECE);
		char text[BASE64_SIZE(PIECE)];

		base64_encode(text, data, piece);
		door_say(x->c, json_pack("{s:o}", stream, json_stringn(text, BASE64_SIZE(piece))));
		data += piece;
		n -= piece;
	}
	if (x->h && door_unread(x->c) > UNREAD_MAX)
		hosted_read(x->h, false);
	return true;
}

static void on_out(void *arg, const char *data, size_t n)
{
	(void)!output(arg, "stdout", data, n);
}

static void on_err(void *arg, const char *data, size_t n)
{
	(void)!output(arg, "stderr", data, n);
}

static void on_end(void *arg, int status)
{
	struct call *x = arg;

	x->h = NULL;
	call_finish(x, status);
}

void call_room(struct call *x)
{
	if (x->h && door_unread(x->c) <= UNREAD_MAX / 4)
		hosted_read(x->h, true);
}

static void on_time(uv_timer_t *t)
{
	struct call *x = t->data;
	struct err e;

	err_note(&e, ERR_FAILED,
		 "tool '%s' took longer than %lld s" REMEDY
		 "the operator can give it more time with 'viv tool add --timeout'",
		 json_text(x->tool, "name"), (long long)number(x, "timeout"));
	call_fail(x, &e, TOOL_EXIT_TIME);
}

/* A block of content of an MCP server's answer: text as it is, anything else as JSON. */
static bool content_say(struct call *x, const json_t *block, bool error)
{
	const char *text = json_text(block, "text"), *type = json_text(block, "type");
	char *dump = NULL;
	bool ok;

	if (!type || strcmp(type, "text") || !text)
		text = dump = json_dumps(block, JSON_COMPACT);
	ok = output(x, error ? "stderr" : "stdout", text ? text : "", text ? strlen(text) : 0) &&
	     (!text || (*text && text[strlen(text) - 1] == '\n') ||
	      output(x, error ? "stderr" : "stdout", "\n", 1));
	free(dump);
	return ok;
}

static void on_answer(void *arg, const json_t *result, const struct err *e)
{
	struct call *x = arg;
	const json_t *content = json_object_get(result, "content"), *block;
	bool error = json_is_true(json_object_get(result, "isError"));
	size_t i;

	x->m = NULL;
	if (!result) {
		call_fail(x, e, TOOL_EXIT_FAILED);
		return;
	}
	json_array_foreach(content, i, block)
		if (!content_say(x, block, error))
			return;
	if (!json_array_size(content) && json_object_get(result, "structuredContent") &&
	    !content_say(x, json_object_get(result, "structuredContent"), error))
		return;
	call_finish(x, error ? 1 : 0);
}

/* 0, or -1: it cannot be started. */
static int command_start(struct call *x, const struct cell *cell, struct err *e)
{
	static const struct hosted_ops ops = { .out = on_out, .err = on_err, .end = on_end };
	char **argv = json_words(json_object_get(x->tool, "command"));
	char *text = json_dumps(x->arguments, JSON_COMPACT);

	x->h = hosted_start(x->d, argv, cell->id, cell->name, json_text(x->tool, "name"), &ops, x,
			    e);
	free(argv);
	if (x->h) {
		(void)!hosted_write(x->h, text, strlen(text));
		(void)!hosted_write(x->h, "\n", 1);
		hosted_close_input(x->h);
	}
	free(text);
	return x->h ? 0 : -1;
}

static void call_run(struct call *x)
{
	static const struct mcp_ops ops = { .done = on_answer };
	struct cell *cell = door_cell(x->c);
	struct err e = { 0 };

	x->approval = 0;
	x->began = uv_hrtime();
	door_say(x->c, json_pack("{s:b}", "started", 1));
	if (!cell)
		err_note(&e, ERR_FAILED, "the cell is ending");
	else if (tool_is_mcp(x->tool))
		x->m = mcp_call(cell, x->tool, x->sub, x->arguments, &ops, x, &e);
	else
		(void)!command_start(x, cell, &e);
	if (!x->m && !x->h) {
		call_fail(x, &e, TOOL_EXIT_FAILED);
		return;
	}
	x->timer = xalloc(sizeof(*x->timer));
	x->timer->data = x;
	uv_timer_init(&x->d->loop, x->timer);
	uv_timer_start(x->timer, on_time, (uint64_t)number(x, "timeout") * 1000, 0);
}

/* ---- asking ---- */

static void denied_told(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct call *x = arg;
	struct err e = *x->refused;

	(void)m;
	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	call_fail(x, &e, TOOL_EXIT_DENIED);
}

/* The command in the cell ends when the reason is a line of the cell's /run/viv/denials. */
static void denied(struct call *x, const char *rule)
{
	struct tool_path path = tool_path(json_text(x->tool, "name"), x->sub);
	struct keep_msg m = { .type = KEEP_DENIED };
	struct cell *cell = door_cell(x->c);
	struct err e;

	err_note(&e, ERR_DENIED, rule ? "calling '%s' is denied by '%s'" : "calling '%s' is denied",
		 path.str, rule);
	door_event(x->d, "cell.denied", x->cell,
		   json_pack("{s:s,s:s,s:s,s:o,s:s}", "scope", "tools", "action", "call", "name",
			     path.str, "program", json_clean(door_program(x->c)), "reason",
			     e.message));
	note_add(x->d, x->cell, J_DENIAL,
		 &(struct journal_DENIAL){ .scope = note_text("tools"),
					   .what = note_text(path.str),
					   .rule = note_text(rule) });
	snprintf(m.text, sizeof(m.text), "%.*s", KEEP_TEXT - 1, e.message);
	if (!cell || !cell->keeper || link_ask(cell->keeper, &m, NULL, 0, denied_told, x) < 0) {
		call_fail(x, &e, TOOL_EXIT_DENIED);
		return;
	}
	x->refused = xalloc(sizeof(*x->refused));
	*x->refused = e;
}

static void answered(struct daemon *d, int64_t id, bool allow)
{
	struct call *x, *found = NULL;

	(void)d;
	list_for_each(x, &calls, link)
		if (x->approval == id)
			found = x;
	if (!found)
		return; /* it may ask again */
	db_run(&found->d->db, NULL, "UPDATE approvals SET ask=0 WHERE id=?", "i", id);
	found->approval = 0;
	if (allow)
		call_run(found);
	else
		denied(found, "the answer of a person");
}

/* Calls that are the same have the same number; never 0. */
static int64_t call_key(const struct call *x)
{
	static const uint64_t key[2] = { 0x746f6f6c2d63616c, 0x6c732d6b65792d31 };
	char *text = json_dumps(x->arguments, JSON_COMPACT | JSON_SORT_KEYS);
	struct buf b = { 0 };
	uint64_t hash;

	buf_add_text(&b, tool_path(json_text(x->tool, "name"), x->sub).str);
	buf_add_text(&b, "\n");
	buf_add_text(&b, text ? text : "");
	hash = siphash(key, b.p, b.len);
	buf_free(&b);
	free(text);
	return (int64_t)(hash >> 1) | 1;
}

static bool is_waited_for(int64_t id)
{
	const struct call *x;

	list_for_each(x, &calls, link)
		if (x->approval == id)
			return true;
	return false;
}

/* Is that what x would ask? Who looks for two calls with one key finds them (62 bits). */
static bool is_question(const struct call *x, const char *text)
{
	struct tool_path path = tool_path(json_text(x->tool, "name"), x->sub);
	json_t *o = json_loads(text, 0, NULL);
	const char *was = o ? json_text(o, "path") : NULL;
	bool same = was && !strcmp(was, path.str) &&
		    json_equal(json_object_get(o, "arguments"), x->arguments);

	json_decref(o);
	return same;
}

/* The row of the same call, before vivd was restarted or the command tried again. 0: none. */
static int64_t row_find(const struct call *x, int64_t key, char state[16])
{
	sqlite3_stmt *q =
		db_query(&x->d->db,
			 "SELECT id,state,question FROM approvals WHERE cell=? AND run=? AND "
			 "ask=? AND (state='pending' OR (state IN ('allowed','denied') "
			 "AND answered>?)) ORDER BY id DESC",
			 "tiii", x->cell, (int64_t)APPROVAL_TOOLS, key, time_now() - ANSWER_NS);
	int64_t id = 0;

	while (!id && db_next(q)) {
		/* The state of a row that is passed over is nobody's. */
		if (is_waited_for(db_int(q, 0)) || !is_question(x, db_text(q, 2)))
			continue;
		id = db_int(q, 0);
		snprintf(state, 16, "%.15s", db_text(q, 1));
	}
	db_done(q);
	return id;
}

static json_t *question_make(const struct call *x, const char *rule)
{
	struct tool_path path = tool_path(json_text(x->tool, "name"), x->sub);
	json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:o,s:O}", "scope", "tools", "action", "call",
			      "path", path.str, "tool", json_text(x->tool, "name"), "program",
			      json_clean(door_program(x->c)), "arguments", x->arguments);

	if (x->sub)
		json_object_set_new(o, "subcommand", json_string(x->sub));
	if (rule)
		json_object_set_new(o, "rule", json_string(rule));
	return o;
}

static void call_ask(struct call *x, const char *rule)
{
	struct cell *cell = door_cell(x->c);
	int64_t key = call_key(x), id;
	char state[16] = "pending";
	struct err e;

	/* What nobody can be shown as a whole, nobody can allow. */
	if (json_dumpb(x->arguments, NULL, 0, JSON_COMPACT) > SHOWN_MAX) {
		err_note(&e, ERR_TOO_LARGE, "arguments of more than %d bytes cannot be approved",
			 SHOWN_MAX);
		call_fail(x, &e, TOOL_EXIT_DENIED);
		return;
	}
	id = row_find(x, key, state);
	if (!id && cell && door_may_ask(x->c))
		/* A hook may answer at once. */
		id = approval_ask(x->d, cell->id, APPROVAL_TOOLS, key, question_make(x, rule));
	if (!id) {
		err_note(&e, ERR_TOO_MANY,
			 "nobody can be asked about this call now" REMEDY "try again in a minute");
		call_fail(x, &e, TOOL_EXIT_DENIED);
		return;
	}
	x->approval = id;
	if (!strcmp(state, "pending"))
		door_say(x->c, json_pack("{s:I}", "waiting", (json_int_t)id));
	else
		answered(x->d, id, !strcmp(state, "allowed"));
}

/* ---- the beginning ---- */

static int arguments_check(const struct call *x, struct err *e)
{
	const json_t *what = x->tool;

	if (json_object_get(x->tool, "subcommands")) {
		what = tool_sub(x->tool, x->sub);
		if (!what)
			return err_set(e, ERR_INVALID,
				       "tool '%s' has no subcommand '%.64s'" REMEDY
				       "'%s --help' lists them",
				       json_text(x->tool, "name"), x->sub ? x->sub : "",
				       json_text(x->tool, "name"));
	} else if (x->sub) {
		return err_set(e, ERR_INVALID, "tool '%s' has no subcommands",
			       json_text(x->tool, "name"));
	}
	return schema_validate(json_object_get(what, "schema"), x->arguments, e);
}

struct call *call_begin(struct door *c, const struct grants *g, json_t *tool, const char *sub,
			json_t *arguments)
{
	struct call *x = xalloc(sizeof(*x));
	struct cell *cell = door_cell(c);
	char *rule = NULL;
	struct err e;

	list_init(&x->link);
	list_append(&calls, &x->link);
	x->c = c;
	x->d = door_daemon(c);
	snprintf(x->cell, sizeof(x->cell), "%s", cell ? cell->id : "");
	x->tool = tool;
	x->arguments = arguments;
	x->sub = sub ? xstrndup(sub, strlen(sub)) : NULL;
	if (arguments_check(x, &e) < 0) {
		call_fail(x, &e, TOOL_EXIT_USAGE);
		return NULL;
	}
	switch (grants_decide(g, tool_path(json_text(tool, "name"), sub).str, &rule)) {
	case TOOL_ALLOW:
		call_run(x);
		break;
	case TOOL_ASK:
		call_ask(x, rule);
		break;
	case TOOL_DENY:
		denied(x, rule);
		break;
	}
	free(rule);
	/* It may be over already. */
	list_for_each(x, &calls, link)
		if (x->c == c)
			return x;
	return NULL;
}

/* Rows of the vivd before that no call has asked for again. */
static void orphans_end(uv_timer_t *t)
{
	struct daemon *d = t->data;
	struct buf gone = { 0 };
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT id FROM approvals WHERE run=? AND state='pending'", "i",
			 (int64_t)APPROVAL_TOOLS);

	while (db_next(q)) {
		int64_t id = db_int(q, 0);

		if (!is_waited_for(id))
			buf_add(&gone, &id, sizeof(id));
	}
	db_done(q);
	for (size_t i = 0; i < BUF_COUNT(&gone, int64_t); i++)
		approval_withdraw(d, *BUF_ITEM(&gone, int64_t, i));
	buf_free(&gone);
}

void calls_open(struct daemon *d)
{
	static const struct approval_owner owner = { .decided = answered };
	static uv_timer_t timer;

	approvals_owner(APPROVAL_TOOLS, &owner);
	timer.data = d;
	uv_timer_init(&d->loop, &timer);
	uv_timer_start(&timer, orphans_end, ORPHAN_MS, 0);
	uv_unref((uv_handle_t *)&timer);
}
