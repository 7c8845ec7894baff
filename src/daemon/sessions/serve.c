/* What an agent asks of vivd: permission, files, terminals. A request that takes its time is a row
 * until it is answered, so that a vivd that comes later serves it again; the answer and the end of
 * that row are one transaction. At most SERVE_OPS are served at once, and then no more of the
 * agent's output is read. Everything else is answered with -32601. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sessions/private.h"

typedef void (*serve_fn)(struct session *s, struct agent_op *op, const json_t *params);

static const struct {
	const char *method;
	serve_fn fn;
} served[] = {
	{ "fs/read_text_file", files_read },
	{ "fs/write_text_file", files_write },
	{ "terminal/create", terminal_create },
	{ "terminal/output", terminal_output },
};

static serve_fn served_find(const char *method)
{
	for (unsigned i = 0; i < ARRAY_LEN(served); i++)
		if (!strcmp(served[i].method, method))
			return served[i].fn;
	return NULL;
}

static void ask_keep(struct session *s, const struct rpc *m)
{
	char *id = json_dumps(m->id, JSON_COMPACT | JSON_ENCODE_ANY);
	char *params = m->params ? json_dumps(m->params, JSON_COMPACT) : NULL;

	s->hard = true;
	db_run(&s->d->db, NULL,
	       "INSERT INTO session_asks(session,id,method,params) VALUES(?,?,?,?)", "ittt", s->row,
	       id ? id : "null", m->method, params ? params : "{}");
	free(id);
	free(params);
}

void serve_request(struct session *s, const struct rpc *m, const char *line, size_t n, int64_t time)
{
	const char *acp = json_string_value(live_get(s, "acp")), *of;

	(void)line;
	(void)n;
	of = m->params ? json_text(m->params, "sessionId") : NULL;
	if (!strcmp(m->method, "session/request_permission"))
		permission_ask(s, m, time);
	else if (!served_find(m->method) && strncmp(m->method, "terminal/", 9))
		outbox_add(s, rpc_error(m->id, RPC_NO_METHOD, "vivd does not know this method"),
			   true);
	else if (acp && (!of || strcmp(of, acp)))
		outbox_add(s, rpc_error(m->id, RPC_INVALID_PARAMS, "there is no such session"),
			   true);
	else if (served_find(m->method))
		ask_keep(s, m);
	else if (!strcmp(m->method, "terminal/wait_for_exit"))
		terminal_wait(s, m);
	else if (!strcmp(m->method, "terminal/kill") || !strcmp(m->method, "terminal/release"))
		terminal_kill(s, m, m->method[9] == 'r');
	else
		outbox_add(s, rpc_error(m->id, RPC_NO_METHOD, "vivd does not know this method"),
			   true);
}

/* ---- one at work ---- */

static void op_free(struct agent_op *op)
{
	list_remove(&op->link);
	if (op->s)
		op->s->nops--;
	if (op->follow)
		follow_free(op->follow);
	if (op->fd >= 0)
		close(op->fd);
	buf_free(&op->b);
	json_decref(op->id);
	free(op);
}

struct agent_op *op_new(struct session *s, int64_t ask, const json_t *id)
{
	struct agent_op *op = xalloc(sizeof(*op));

	op->s = s;
	op->d = s->d;
	strcpy(op->cell, s->cell);
	op->ask = ask;
	op->id = json_incref((json_t *)(uintptr_t)id);
	op->fd = -1;
	list_init(&op->link);
	list_append(&s->ops, &op->link);
	s->nops++;
	return op;
}

/* Takes line. */
static void op_answer(struct agent_op *op, char *line)
{
	struct session *s = op->s;
	int64_t ask = op->ask;
	bool held = s && stream_is_held(s);

	op_free(op);
	if (!s) {
		free(line);
		return;
	}
	session_begin(s);
	db_run(&s->d->db, NULL, "DELETE FROM session_asks WHERE ask=?", "i", ask);
	if (line) /* one that cannot be written is not asked for again */
		outbox_add(s, line, true);
	session_end(s, NULL);
	if (held)
		stream_kick(s);
}

void op_result(struct agent_op *op, json_t *result)
{
	char *line = rpc_result(op->id, result);

	json_decref(result);
	op_answer(op, line);
}

void op_error(struct agent_op *op, int code, const char *message)
{
	op_answer(op, rpc_error(op->id, code, message));
}

/* ---- those that wait ---- */

/* The next one that is not at work; false: none. */
static bool ask_next(struct session *s, int64_t *ask, json_t **id, char **method, json_t **params)
{
	sqlite3_stmt *q =
		db_query(&s->d->db,
			 "SELECT ask,id,method,params FROM session_asks WHERE session=? AND ask>? "
			 "ORDER BY ask LIMIT 1",
			 "ii", s->row, s->last_ask);
	bool found = db_next(q);

	if (found) {
		*ask = db_int(q, 0);
		*id = json_loads(db_text(q, 1), JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		*method = xstrndup(db_text(q, 2), strlen(db_text(q, 2)));
		*params = json_loads(db_text(q, 3), JSON_ALLOW_NUL, NULL);
	}
	db_done(q);
	return found;
}

void serve_asks(struct session *s)
{
	json_t *id, *params;
	char *method;
	int64_t ask;

	if (s->serving || !s->attached || s->exited || !s->keeper || s->d->db.depth)
		return;
	s->serving = true;
	while (!stream_is_held(s) && !s->exited && ask_next(s, &ask, &id, &method, &params)) {
		serve_fn fn = served_find(method);
		struct agent_op *op;

		s->last_ask = ask;
		op = op_new(s, ask, id);
		if (fn && params)
			fn(s, op, params);
		else
			op_error(op, RPC_INTERNAL, "the request cannot be read");
		json_decref(id);
		json_decref(params);
		free(method);
	}
	s->serving = false;
}

void serve_detach(struct session *s)
{
	struct agent_op *op, *tmp;

	list_for_each_safe(op, tmp, &s->ops, link) {
		list_remove(&op->link);
		op->s = NULL;
		/* One that waits for nothing but a file is over. */
		if (op->follow)
			op_free(op);
	}
	s->nops = 0;
	s->last_ask = 0;
}

void serve_drop(struct session *s)
{
	serve_detach(s);
	db_run(&s->d->db, NULL, "DELETE FROM session_asks WHERE session=?", "i", s->row);
}
