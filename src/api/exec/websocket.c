/* GET /v1/cells/{cell}/exec: a process in a running cell, over a WebSocket, both ways at once; and
 * GET .../processes/{proc}/attach: one that outlives its clients, for which the first message of
 * the client is left out. Subprotocol "vivarium.exec.v1":
 *
 *	client: text     first the object that POST .../exec takes (input stays open unless
 *	                 "stdin_open" is false), then any of
 *	                 {"type":"resize","rows":N,"cols":N}
 *	                 {"type":"signal","signal":N,"group":true}
 *	                 {"type":"stdin_close"}
 *	        binary   a zero byte, then input
 *	server: text     {"type":"started",...} or {"type":"attached",...}, and as the last
 *	                 {"type":"exit",...}, as POST gives them
 *	                 {"type":"stdin_closed"}: the process reads no more, and what is sent
 *	                 from now on is dropped
 *	                 {"type":"dropped","bytes":N,"cursor":N}: the client was too slow for so
 *	                 many bytes
 *	                 {"type":"error","status":404,"code":...,"message":...}, then a close
 *	                 frame with 4000 + status
 *	        binary   a byte 1 (output) or 2 (errors), then what it wrote
 *
 * Back-pressure both ways: its pipe is read when the client takes more, and the socket when the
 * process has read what came before. When the client goes, with a close frame or without, the
 * process gets SIGHUP, unless it outlives its client. */
#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/exec/exec.h"
#include "api/routes.h"
#include "api/http/ws.h"
#include "daemon/cells/sleep.h"

struct wsexec {
	struct ws *w;
	struct daemon *d;
	char cell[CELL_ID_LEN + 1];
	struct exec *x; /* NULL: none yet, or none any more */
	uint32_t proc; /* that is attached to; 0: one is started */
	uint64_t cursor;
	/* Texts that came in one piece with the first, each with a NUL, until the process is
	 * there. */
	struct buf early;
	bool asked, told_exit, told_closed, held;
	/* the cell fell asleep before the first message, which waits; NULL: it did not */
	json_t *first;
	struct buf typed; /* input that came with it */
	struct cell_waker waker;
};

static void error_tell(struct wsexec *e, const struct err *f)
{
	json_t *o = json_pack("{s:s,s:i}", "type", "error", "status", err_http(f));
	char *text;

	json_object_update_new(o, json_err(f));
	text = json_dumps(o, JSON_COMPACT);
	if (text)
		ws_text(e->w, text, strlen(text));
	free(text);
	json_decref(o);
	e->d->count.refused++;
	ws_close(e->w, WS_STATUS((unsigned)err_http(f)), err_code(f));
}

/* One of the lines of exec.h, without its newline. */
static void line_tell(struct wsexec *e,
		      ssize_t (*line)(const struct exec *x, char *buf, size_t size))
{
	char text[256];
	ssize_t n = line(e->x, text, sizeof(text));

	ws_text(e->w, text, (size_t)n - 1);
}

/* ---- the process ---- */

static void input_tell(struct exec *x)
{
	static const char text[] = "{\"type\":\"stdin_closed\"}";
	struct wsexec *e = x->ws;

	if (!e || !x->running)
		return;
	if (x->end[0].fd < 0 && !x->input_ends && !e->told_closed && !x->exited) {
		e->told_closed = true;
		ws_text(e->w, text, sizeof(text) - 1);
		ws_kick(e->w);
	}
	if (x->input.cap > 65536)
		buf_free(&x->input);
	ws_hold(e->w, false);
}

static void early_read(struct wsexec *e);

static void process_started(struct exec *x)
{
	if (!x->ws) { /* nobody is there any more */
		exec_hangup(x);
		exec_free(x);
		return;
	}
	line_tell(x->ws, exec_start_line);
	if (x->attached) {
		x->ws->told_closed = x->end[0].fd < 0;
		input_tell(x);
	}
	ws_kick(x->ws->w);
	early_read(x->ws);
}

static void process_failed(struct exec *x, const struct err *f)
{
	if (!x->ws)
		return;
	x->ws->x = NULL;
	error_tell(x->ws, f);
}

static void process_ready(struct exec *x)
{
	ws_kick(x->ws->w);
}

static const struct exec_ops process_ops = { .started = process_started,
					     .failed = process_failed,
					     .ready = process_ready,
					     .drained = input_tell };

static bool record_give(struct wsexec *e)
{
	struct log_reader *l = &e->x->log->reader;
	char text[128];
	ssize_t n = exec_dropped_line(e->x, text, sizeof(text));

	if (n)
		ws_text(e->w, text, (size_t)n - 1);
	ws_bytes(e->w, l->head.stream == 2 ? 2 : 1, l->data + l->given, l->len - l->given);
	log_reader_take(l, l->len - l->given);
	return true;
}

static bool process_room(void *arg)
{
	struct wsexec *e = arg;
	struct exec *x = e->x;

	if (!x || !x->running || e->told_exit)
		return false;
	if (x->log) {
		int some = follow_next(x->log);

		if (some >= 0)
			return some && record_give(e);
	}
	/* In turns, so that one does not starve the other. */
	x->turn ^= 1;
	for (int i = 0; i < 2; i++) {
		int channel = 1 + (x->turn ^ i), fd = x->end[channel].fd;
		int some = fd >= 0 ? ws_forward(e->w, (char)channel, fd) : 0;

		if (some > 0)
			return true;
		if (some < 0)
			pipe_end_close(&x->end[channel]);
	}
	/* What it wrote is on its way; who else has its streams is not waited for. */
	if (x->exited) {
		e->told_exit = true;
		line_tell(e, exec_exit_line);
		ws_close(e->w, WS_DONE, "");
		return true;
	}
	for (int i = 1; i < 3; i++)
		if (x->end[i].fd >= 0)
			pipe_end_wait(&x->end[i]);
	return false;
}

/* ---- messages ---- */

/* An object with these fields; NULL: it was told. */
static json_t *object_read(struct wsexec *e, const char *p, size_t n, const struct field *fields,
			   unsigned nfields)
{
	struct err f = { 0 };
	json_error_t at;
	json_t *o = json_loadb(p, n, JSON_REJECT_DUPLICATES, &at);

	if (!o) {
		err_note(&f, ERR_INVALID_JSON, "the message is not JSON (line %d, column %d)",
			 at.line, at.column);
		err_cause(&f, at.text);
	} else if (!json_is_object(o)) {
		err_note(&f, ERR_WRONG_TYPE, "the message must be an object");
	} else if (fields_check(o, fields, nfields, "", &f) == 0) {
		return o;
	}
	json_decref(o);
	error_tell(e, &f);
	return NULL;
}

static void process_woken(struct cell_waker *w, struct cell *c, const struct err *f);

/* Takes o. */
static void process_begin(struct wsexec *e, json_t *o)
{
	struct err f = { 0 };
	struct cell *c = cell_find(e->d, e->cell, &f);
	struct exec *x;

	if (c && cell_is_asleep(c)) {
		e->first = o;
		cell_wake(c, &e->waker, "exec", process_woken);
		return;
	}
	if (c && !c->keeper) {
		err_note(&f, ERR_WRONG_STATE, "the cell does not run; it is %s",
			 cell_state_name(c->state));
		c = NULL;
	} else if (c && json_is_true(json_object_get(o, "detach"))) {
		err_note(&f, ERR_INVALID, "a detached process has no WebSocket" REMEDY "use POST");
		c = NULL;
	}
	if (!json_object_get(o, "stdin_open"))
		json_object_set_new(o, "stdin_open", json_true());
	if (c) {
		x = exec_new(e->d, c, &process_ops);
		if (exec_start(x, c, o, &f) < 0) {
			exec_free(x);
			c = NULL;
		} else {
			x->ws = e;
			e->x = x;
			buf_add(&x->input, e->typed.p, e->typed.len);
			buf_free(&e->typed);
		}
	}
	if (!c)
		error_tell(e, &f);
	json_decref(o);
}

static void process_woken(struct cell_waker *w, struct cell *c, const struct err *f)
{
	struct wsexec *e = container_of(w, struct wsexec, waker);
	json_t *o = e->first;

	(void)c;
	e->first = NULL;
	if (!f) {
		process_begin(e, o);
		return;
	}
	json_decref(o);
	error_tell(e, f);
}

static void control_do(struct wsexec *e, const json_t *o, struct err *f)
{
	const char *type = json_text(o, "type");
	json_int_t rows = json_integer_value(json_object_get(o, "rows"));
	json_int_t cols = json_integer_value(json_object_get(o, "cols"));
	json_int_t sig = json_integer_value(json_object_get(o, "signal"));
	bool group = json_is_true(json_object_get(o, "group"));

	if (!strcmp(type, "resize")) {
		if (rows < 1 || cols < 1 || rows > 10000 || cols > 10000)
			err_note(f, ERR_INVALID, "'rows' and 'cols' are between 1 and 10000");
		else
			exec_resize(e->x, (int)rows, (int)cols);
	} else if (!strcmp(type, "signal")) {
		if (sig < 1 || sig > 64)
			err_note(f, ERR_INVALID, "'signal' is a number between 1 and 64");
		else
			exec_tell(e->x, (struct keep_msg){ .type = KEEP_SIGNAL,
							   .a = (int)sig,
							   .flags = group ? KEEP_TO_GROUP : 0 });
	} else if (!strcmp(type, "stdin_close")) {
		e->x->input_ends = true;
		exec_input_step(e->x);
	} else {
		err_note(f, ERR_INVALID, "there is no message of type '%.40s'", type);
	}
}

/* False: it was wrong, and that was told. */
static bool control_read(struct wsexec *e, const char *p, size_t n)
{
	static const struct field fields[] = { { "type", FIELD_TEXT, true },
					       { "rows", FIELD_INT, false },
					       { "cols", FIELD_INT, false },
					       { "signal", FIELD_INT, false },
					       { "group", FIELD_BOOL, false } };
	json_t *o = object_read(e, p, n, fields, ARRAY_LEN(fields));
	struct err f = { 0 };

	if (!o)
		return false;
	control_do(e, o, &f);
	json_decref(o);
	if (f.kind)
		error_tell(e, &f);
	return !f.kind;
}

static void early_read(struct wsexec *e)
{
	const char *p = (char *)e->early.p, *end = p + e->early.len;

	while (p < end && control_read(e, p, strlen(p)))
		p += strlen(p) + 1;
	buf_free(&e->early);
}

static void input_read(struct wsexec *e, const char *p, size_t n)
{
	struct exec *x = e->x;
	struct err f = { 0 };

	if (!n || p[0] != 0) {
		err_note(&f, ERR_INVALID, "a binary message begins with a zero byte");
		error_tell(e, &f);
		return;
	}
	/* It reads no more; the client was told, or said so itself. */
	if (x->end[0].fd < 0)
		return;
	buf_add(&x->input, p + 1, n - 1);
	/* Until it has read it. */
	ws_hold(e->w, true);
	exec_input_step(x);
}

static void message_read(void *arg, bool text, const char *p, size_t n)
{
	struct wsexec *e = arg;
	struct err f = { 0 };
	json_t *o;

	if (!e->asked && text) {
		e->asked = true;
		/* What follows is for the process: not before it is there. */
		ws_hold(e->w, true);
		o = object_read(e, p, n, exec_fields, nexec_fields);
		if (o)
			process_begin(e, o);
	} else if (!e->asked) {
		err_note(&f, ERR_INVALID, "the first message says what to run");
		error_tell(e, &f);
	} else if (text && (e->first || (e->x && !e->x->running))) {
		/* No more is read, but this was: it is not lost, and not for another process. */
		buf_add(&e->early, p, n + 1);
	} else if (e->first && n && !p[0]) {
		buf_add(&e->typed, p + 1, n - 1);
	} else if (e->x && text) {
		control_read(e, p, n);
	} else if (e->x) {
		input_read(e, p, n);
	}
}

/* ---- the connection ---- */

static void attach_begin(struct wsexec *e)
{
	struct err f = { 0 };
	struct cell *c = cell_find(e->d, e->cell, &f);
	struct exec *x;

	e->asked = true;
	ws_hold(e->w, true);
	if (c && !c->keeper) {
		err_note(&f, ERR_ENDED, "the cell has just ended");
	} else if (c) {
		x = exec_new(e->d, c, &process_ops);
		x->ws = e;
		e->x = x;
		if (exec_attach(x, c, e->proc, e->cursor, &f) == 0)
			return;
		e->x = NULL;
		exec_free(x);
	}
	error_tell(e, &f);
}

static void exec_opened(void *arg, struct ws *w)
{
	struct wsexec *e = arg;
	struct cell *c = cell_by_id(e->d, e->cell);

	e->w = w;
	/* It does not fall asleep before the first message. */
	e->held = c != NULL;
	if (c)
		cell_hold(c, 1);
	if (e->proc)
		attach_begin(e);
}

static void exec_gone(void *arg)
{
	struct wsexec *e = arg;
	struct exec *x = e->x;
	struct cell *c = cell_by_id(e->d, e->cell);

	if (x && x->running) {
		exec_hangup(x);
		if (x->input_done)
			x->input_done(x);
		exec_free(x);
	} else if (x) {
		x->ws = NULL; /* it is hung up on when it has started */
	}
	if (e->first)
		cell_wake_cancel(&e->waker);
	json_decref(e->first);
	buf_free(&e->typed);
	if (c && e->held)
		cell_hold(c, -1);
	buf_free(&e->early);
	free(e);
}

#define USER(takes)                                                                  \
	{                                                                            \
		.protocol = "vivarium.exec.v1", .query = takes, .open = exec_opened, \
		.message = message_read, .room = process_room, .gone = exec_gone     \
	}

void exec_attach_socket(struct request *r, struct cell *c, uint32_t proc, uint64_t cursor)
{
	static const struct ws_user starts = USER(NULL), attaches = USER("cursor");
	struct wsexec *e = xalloc(sizeof(*e));

	e->d = r->d;
	e->proc = proc;
	e->cursor = cursor;
	strcpy(e->cell, c->id);
	ws_accept(r, proc ? &attaches : &starts, e);
}

void exec_get(struct request *r)
{
	struct cell *c = request_live(r);

	if (c)
		exec_attach_socket(r, c, 0, 0);
}
