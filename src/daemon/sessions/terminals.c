/* Terminals of ACP: commands that an agent has vivd run in its cell, as the same user. Each is a
 * detached process whose output goes to a log of the keeper's, so it outlives vivd as the agent
 * does. What is shown of its output is read from that log when it is asked for. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/sessions/private.h"
#include "daemon/state/output.h"

#define TERMINALS_MAX 16
#define WAITS_MAX 8 /* of one */
#define OUTPUT_MAX (1u << 20)

/* ---- what is known of them ---- */

static json_t *terminal_find(struct session *s, const json_t *params)
{
	const char *id = json_text(params, "terminalId");

	return id ? json_object_get(live_get(s, "terminals"), id) : NULL;
}

static uint32_t proc_of(const json_t *t)
{
	return (uint32_t)json_integer_value(json_object_get(t, "proc"));
}

static json_t *exit_json(const json_t *t)
{
	const json_t *status = json_object_get(t, "status");
	int w = (int)json_integer_value(status);

	if (!status)
		return NULL;
	if (WIFSIGNALED(w))
		return json_pack("{s:n,s:s}", "exitCode", "signal", strsignal(WTERMSIG(w)));
	return json_pack("{s:i,s:n}", "exitCode", WEXITSTATUS(w), "signal");
}

/* ---- their ends ---- */

struct watching {
	char session[SESSION_ID_LEN + 1];
	struct daemon *d;
	uint32_t proc;
};

static void exited(struct session *s, uint32_t proc, int status)
{
	json_t *t, *id, *waits;
	const char *key;
	size_t i;

	session_begin(s); /* may read live again */
	json_object_foreach(live_get(s, "terminals"), key, t) {
		if (proc_of(t) != proc || json_object_get(t, "status"))
			continue;
		json_object_set_new(t, "status", json_integer(status));
		waits = json_incref(json_object_get(t, "waits"));
		json_object_del(t, "waits");
		s->live_dirty = true;
		json_array_foreach(waits, i, id) {
			json_t *result = exit_json(t);

			outbox_add(s, rpc_result(id, result), true);
			json_decref(result);
		}
		json_decref(waits);
		break;
	}
	session_end(s, NULL);
}

static void on_exited(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct watching *w = arg;
	struct err e;
	struct session *s = session_find(w->d, NULL, w->session, &e);

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (m && s)
		exited(s, w->proc, m->type == KEEP_EXITED ? m->a : SIGKILL);
	free(w);
}

static void terminal_watch(struct session *s, uint32_t proc)
{
	struct keep_msg m = { .type = KEEP_WAIT, .proc = proc };
	struct watching *w = xalloc(sizeof(*w));

	strcpy(w->session, s->id);
	w->d = s->d;
	w->proc = proc;
	if (!s->keeper || link_ask(s->keeper, &m, NULL, 0, on_exited, w) < 0)
		free(w);
}

void terminals_follow(struct session *s)
{
	const char *key;
	json_t *t;

	json_object_foreach(live_get(s, "terminals"), key, t)
		if (!json_object_get(t, "status"))
			terminal_watch(s, proc_of(t));
}

static void proc_signal(struct session *s, uint32_t proc, int sig)
{
	struct keep_msg m = { .type = KEEP_SIGNAL, .proc = proc, .a = sig, .flags = KEEP_TO_GROUP };
	struct keeper_link *l = s->keeper ? s->keeper : session_keeper(s);

	if (l)
		(void)!link_ask(l, &m, NULL, 0, link_ignore, NULL);
}

/* Nobody wants its output any more. */
static void proc_forget(struct session *s, uint32_t proc)
{
	struct keep_msg m = { .type = KEEP_TAKEN, .proc = proc, .n = KEEP_ALL };
	struct keeper_link *l = s->keeper ? s->keeper : session_keeper(s);

	if (l)
		(void)!link_tell(l, &m);
}

void terminals_end(struct session *s)
{
	const char *key;
	json_t *t;

	json_object_foreach(live_get(s, "terminals"), key, t) {
		if (s->cell_over)
			break;
		if (!json_object_get(t, "status"))
			proc_signal(s, proc_of(t), SIGKILL);
		proc_forget(s, proc_of(t));
	}
	if (live_get(s, "terminals"))
		live_set(s, "terminals", NULL);
}

/* ---- making one ---- */

/* A process that nobody wants any more. */
static void undo(const struct agent_op *op, uint32_t proc)
{
	const struct cell *c = cell_by_id(op->d, op->cell);
	struct keep_msg kill = { .type = KEEP_SIGNAL, .proc = proc, .a = SIGKILL };
	struct keep_msg taken = { .type = KEEP_TAKEN, .proc = proc, .n = KEEP_ALL };

	if (!c || !c->keeper)
		return;
	(void)!link_tell(c->keeper, &taken);
	(void)!link_ask(c->keeper, &kill, NULL, 0, link_ignore, NULL);
}

static void created(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct agent_op *op = arg;
	struct session *s = op->s;
	struct err e = { 0 };
	char id[24];

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (!m || m->type != KEEP_STARTED) {
		if (m)
			keep_fail_get(m, &e);
		op_error(op, RPC_INTERNAL, m ? err_line(&e).str : "the cell ended");
		return;
	}
	if (!s) { /* the agent is gone */
		undo(op, m->proc);
		op_error(op, RPC_INTERNAL, "");
		return;
	}
	/* The terminal, its answer, and that it was asked for: one change. */
	session_begin(s);
	snprintf(id, sizeof(id), "t_%u", m->proc);
	json_object_set_new(live_object(s, "terminals"), id,
			    json_pack("{s:I,s:I}", "proc", (json_int_t)m->proc, "limit",
				      (json_int_t)op->limit));
	process_note(s, m->pid);
	op_result(op, json_pack("{s:s}", "terminalId", id));
	if (session_end(s, NULL) == 0)
		terminal_watch(s, m->proc);
}

/* NULL: a name or a value is wrong. */
static char **env_make(const json_t *env)
{
	char **words = xalloc((json_array_size(env) + 1) * sizeof(*words));
	const json_t *v;
	size_t i, n = 0;

	json_array_foreach(env, i, v) {
		const char *name = json_text(v, "name"), *value = json_text(v, "value");

		if (name && *name && value && !strchr(name, '=') &&
		    asprintf(&words[n], "%s=%s", name, value) >= 0)
			n++;
	}
	return words;
}

/* A program and its words; a command without words that is more than a name is a shell's. */
static char **argv_make(const json_t *params)
{
	const json_t *args = json_object_get(params, "args"), *v;
	const char *command = json_text(params, "command");
	char **argv = xalloc((json_array_size(args) + 4) * sizeof(*argv));
	size_t i, n = 0;

	if (!json_array_size(args) && command[strcspn(command, " \t\n;|&<>()$`\\\"'*?[#~=%")]) {
		argv[n++] = (char *)(uintptr_t) "/bin/sh";
		argv[n++] = (char *)(uintptr_t) "-c";
	}
	argv[n++] = (char *)(uintptr_t)command;
	json_array_foreach(args, i, v)
		if (json_is_string(v))
			argv[n++] = (char *)(uintptr_t)json_string_value(v);
	return argv;
}

void terminal_create(struct session *s, struct agent_op *op, const json_t *params)
{
	json_int_t limit = json_integer_value(json_object_get(params, "outputByteLimit"));
	struct keep_start x = { .exec.flags = KEEP_X_LOG | KEEP_X_DETACH };
	const char *command = json_text(params, "command"), *cwd = json_text(params, "cwd");
	char **argv, **envp;
	int err;

	if (!command || !*command) {
		op_error(op, RPC_INVALID_PARAMS, "'command' is a program");
		return;
	}
	if (json_object_size(live_get(s, "terminals")) >= TERMINALS_MAX) {
		op_error(op, RPC_INTERNAL, "there are too many terminals; release some");
		return;
	}
	op->limit = limit > 0 && limit < OUTPUT_MAX ? (size_t)limit : OUTPUT_MAX;
	argv = argv_make(params);
	envp = env_make(json_object_get(params, "env"));
	x.spec = (struct execspec){ .flags = EXECSPEC_CELL_ENV,
				    .argv = argv,
				    .envp = envp,
				    .cwd = cwd ? cwd : json_text(s->spec, "workdir"),
				    .user = json_text(s->spec, "user") };
	err = link_exec(s->keeper, &x, created, op);
	for (char **p = envp; *p; p++)
		free(*p);
	free(envp);
	free(argv);
	if (err)
		op_error(op, RPC_INTERNAL,
			 err == -E2BIG ? "the command is too long" : strerror(-err));
}

/* ---- its output ---- */

static void output_over(struct agent_op *op)
{
	size_t drop = op->b.len > op->limit ? op->b.len - op->limit : 0;
	const char *p = op->b.len ? (char *)op->b.p : "";
	json_t *t, *result, *status;

	/* Not in the middle of a character. */
	while (drop && drop < op->b.len && (p[drop] & 0xc0) == 0x80)
		drop++;
	t = op->s ? json_object_get(live_get(op->s, "terminals"), op->key) : NULL;
	status = t ? exit_json(t) : NULL;
	result =
		json_pack("{s:o,s:b}", "output", output_text(p + drop, op->b.len - drop, op->b.len),
			  "truncated", drop || op->stop);
	if (status)
		json_object_set_new(result, "exitStatus", status);
	op_result(op, result);
}

static void output_more(void *arg)
{
	struct agent_op *op = arg;
	int some;

	for (int i = 0; i < 256; i++) {
		struct log_reader *r = &op->follow->reader;

		some = follow_next(op->follow);
		if (some == 0)
			return;
		if (some < 0 || op->b.len > op->limit + (1u << 20)) {
			output_over(op);
			return;
		}
		buf_add(&op->b, r->data + r->given, r->len - r->given);
		log_reader_take(r, r->len - r->given);
	}
	output_over(op);
}

static void output_at(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct agent_op *op = arg;
	struct session *s = op->s;
	uint64_t from;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (!s || !m || m->type != KEEP_ATTACH) {
		op_error(op, RPC_INTERNAL, "the output is not kept any more");
		return;
	}
	from = m->n > op->limit ? m->n - op->limit : 0;
	op->stop = from > 0;
	op->follow = follow_new(&s->d->loop, s->cell, op->proc, from, false, output_more, op);
	if (!op->follow) {
		op_error(op, RPC_INTERNAL, "the output is not kept any more");
		return;
	}
	output_more(op);
}

void terminal_output(struct session *s, struct agent_op *op, const json_t *params)
{
	json_t *t = terminal_find(s, params);
	struct keep_msg m = { .type = KEEP_ATTACH, .proc = proc_of(t) };

	if (!t) {
		op_error(op, RPC_NOT_FOUND, "there is no such terminal");
		return;
	}
	snprintf(op->key, sizeof(op->key), "%s", json_text(params, "terminalId"));
	op->proc = proc_of(t);
	op->limit = (size_t)json_integer_value(json_object_get(t, "limit"));
	if (link_ask(s->keeper, &m, NULL, 0, output_at, op) < 0)
		op_error(op, RPC_INTERNAL, "the cell does not answer");
}

/* ---- the rest ---- */

void terminal_wait(struct session *s, const struct rpc *m)
{
	json_t *t = m->params ? terminal_find(s, m->params) : NULL, *status, *waits;

	if (!t) {
		outbox_add(s, rpc_error(m->id, RPC_NOT_FOUND, "there is no such terminal"), true);
		return;
	}
	status = exit_json(t);
	waits = json_object_get(t, "waits");
	if (status) {
		outbox_add(s, rpc_result(m->id, status), true);
		json_decref(status);
	} else if (json_array_size(waits) >= WAITS_MAX) {
		outbox_add(s, rpc_error(m->id, RPC_INTERNAL, "too many requests wait for it"),
			   true);
	} else {
		if (!waits) {
			waits = json_array();
			json_object_set_new(t, "waits", waits);
		}
		json_array_append(waits, (json_t *)(uintptr_t)m->id);
		s->live_dirty = true;
	}
}

void terminal_kill(struct session *s, const struct rpc *m, bool release)
{
	json_t *t = m->params ? terminal_find(s, m->params) : NULL, *result;

	if (!t) {
		outbox_add(s, rpc_error(m->id, RPC_NOT_FOUND, "there is no such terminal"), true);
		return;
	}
	/* Sent again by a vivd that comes later, it does no harm. */
	if (!json_object_get(t, "status"))
		proc_signal(s, proc_of(t), SIGKILL);
	if (release) {
		proc_forget(s, proc_of(t));
		json_object_del(live_object(s, "terminals"), json_text(m->params, "terminalId"));
		s->live_dirty = true;
	}
	result = json_object();
	outbox_add(s, rpc_result(m->id, result), true);
	json_decref(result);
}
