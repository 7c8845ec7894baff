/* The step 'prompt': a prompt for an agent in a session, which is made for it or was there before.
 *
 * The session and the number of the prompt are kept with the step, so a vivd that comes later goes
 * on reading the session's events where the prompt is. What the agent says is the output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/sessions/sessions.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/private.h"

#define EVENTS_ROUND 256 /* that are read at once */
#define SESSION_TEXT 80 /* bytes for the id of a session */

struct prompting {
	struct leaf_work work; /* first */
	struct daemon *d;
	struct wf_node *n;
	struct cell_need *need;
	struct session_watch watch;
	bool watches;
	uv_timer_t t; /* events are read in the next round */
	char session[SESSION_TEXT];
	int64_t prompt, seq;
	struct buf text;
};

static void on_closed(uv_handle_t *h)
{
	struct prompting *x = h->data;

	buf_free(&x->text);
	free(x);
}

static void prompting_free(struct prompting *x)
{
	if (x->n)
		x->n->work_of = NULL;
	x->n = NULL;
	if (x->need)
		cell_need_drop(x->need);
	x->need = NULL;
	if (x->watches)
		session_watch_remove(&x->watch);
	x->watches = false;
	uv_close((uv_handle_t *)&x->t, on_closed);
}

static void prompting_stop(struct leaf_work *w)
{
	struct prompting *x = (struct prompting *)(void *)w;
	struct err e = { 0 };
	struct session *s = *x->session ? session_find(x->d, NULL, x->session, &e) : NULL;

	if (s && !run_is_left(x->n->run))
		(void)!session_prompt_end(s, x->prompt, false, &e);
	prompting_free(x);
}

static void prompting_failed(struct prompting *x, const struct err *e)
{
	struct wf_node *n = x->n;

	prompting_free(x);
	wf_failed(n, NULL, e, false);
}

/* ---- what the agent says ---- */

static void turn_over(struct prompting *x, const char *reason)
{
	struct wf_node *n = x->n;
	struct err e;
	json_t *result = json_pack("{s:{s:s,s:s,s:o}}", "output", "session", x->session,
				   "stop_reason", reason, "text",
				   json_stringn(x->text.len ? (char *)x->text.p : "", x->text.len));

	if (!result)
		result = json_pack("{s:{s:s,s:s,s:s}}", "output", "session", x->session,
				   "stop_reason", reason, "text", "");
	prompting_free(x);
	if (!strcmp(reason, "error") || !strcmp(reason, "cancelled")) {
		err_note(&e, ERR_FAILED, "the agent's turn ended with '%.40s'", reason);
		wf_failed(n, result, &e, false);
	} else {
		wf_finished(n, result);
	}
}

/* One event; true: the turn is over, and x gone. */
static bool event_take(struct prompting *x, const char *line)
{
	json_t *o = json_loads(line, JSON_ALLOW_NUL, NULL);
	const json_t *data = json_object_get(o, "data"), *update = json_object_get(data, "update");
	const char *type = json_text(o, "type"), *kind = json_text(update, "sessionUpdate");
	const char *text = json_text(json_object_get(update, "content"), "text");
	bool over = false;

	if (type && !strcmp(type, "update") && kind && !strcmp(kind, "agent_message_chunk") &&
	    text && x->text.len < WF_OUTPUT_MAX)
		buf_add(&x->text, text, MIN(strlen(text), WF_OUTPUT_MAX - x->text.len));
	if (type && !strcmp(type, "turn") &&
	    json_integer_value(json_object_get(data, "prompt")) == x->prompt) {
		const char *reason = json_text(data, "stop_reason");

		over = true;
		turn_over(x, reason ? reason : "end_turn");
	}
	json_decref(o);
	return over;
}

static void on_round(uv_timer_t *t)
{
	struct prompting *x = t->data;
	struct err e = { 0 };
	struct session *s = x->n ? session_find(x->d, NULL, x->session, &e) : NULL;
	char *line;

	if (!x->n)
		return;
	if (!s) {
		prompting_failed(x, &e);
		return;
	}
	for (unsigned i = 0; i < EVENTS_ROUND; i++) {
		bool over;

		line = session_event_next(s, &x->seq);
		if (!line)
			return;
		over = event_take(x, line);
		free(line);
		if (over)
			return;
	}
	uv_timer_start(&x->t, on_round, 0, 0);
}

static void on_news(struct session_watch *w, bool gone)
{
	struct prompting *x = container_of(w, struct prompting, watch);

	if (gone)
		x->watches = false;
	uv_timer_start(&x->t, on_round, 0, 0);
}

static void session_follow(struct prompting *x, struct session *s)
{
	x->watches = true;
	session_watch_add(s, &x->watch, on_news);
	uv_timer_start(&x->t, on_round, 0, 0);
}

/* ---- its beginning ---- */

static json_t *spec_make(const struct wf_node *n)
{
	static const char *const names[] = { "agent", "command", "acp", "env", "workdir", "user" };
	json_t *spec = json_object();

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (json_object_get(n->args, names[i]))
			json_object_set(spec, names[i], json_object_get(n->args, names[i]));
	return spec;
}

static char *prompt_text(const struct wf_node *n)
{
	const json_t *v = json_object_get(n->args, "prompt");

	return json_is_string(v) ? xstrndup(json_string_value(v), json_string_length(v))
				 : json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
}

static void session_id(const struct session *s, char ret[SESSION_TEXT])
{
	json_t *shown = session_json(s);

	snprintf(ret, SESSION_TEXT, "%s", json_text(shown, "id"));
	json_decref(shown);
}

/* Session and prompt are one change with what the step knows of them. A session that was made for a
 * prompt that is not taken goes, before its agent is started. */
static void prompt_send(struct prompting *x, struct cell *c, struct session *s)
{
	struct db *db = &x->d->db;
	char *text = prompt_text(x->n), made[SESSION_TEXT] = "";
	struct err e = { 0 }, f = { 0 };
	json_t *spec;

	db_begin(db);
	if (!s) {
		spec = spec_make(x->n);
		if (fields_check(spec, session_fields, nsession_fields, "", &e) == 0)
			s = session_new(c, json_incref(spec), "workflow", &e);
		json_decref(spec);
		if (s)
			session_id(s, made);
	}
	if (s && session_prompt(s, json_pack("[{s:s,s:s}]", "type", "text", "text", text),
				"workflow", &x->prompt, &x->seq, &e) < 0)
		s = NULL;
	free(text);
	if (s) {
		session_id(s, x->session);
		(void)!wf_live(x->n, json_pack("{s:s,s:I,s:I}", "session", x->session, "prompt",
					       (json_int_t)x->prompt, "seq", (json_int_t)x->seq));
	}
	if (db_end(db, NULL) < 0 && !e.kind)
		err_note(&e, ERR_STORAGE, "the prompt could not be written");
	if (e.kind && *made && (s = session_find(x->d, NULL, made, &f)) &&
	    session_remove(s, &f) < 0)
		log_warn("session %s, whose prompt was refused, stays: %s", made, err_line(&f).str);
	if (e.kind)
		prompting_failed(x, &e);
	else
		session_follow(x, s);
}

static void on_ready(void *arg, struct cell *c, const struct err *e)
{
	struct prompting *x = arg;

	x->need = NULL;
	if (c)
		prompt_send(x, c, NULL);
	else
		prompting_failed(x, e);
}

static void on_begin(uv_timer_t *t)
{
	struct prompting *x = t->data;
	const char *id = x->n ? json_text(x->n->args, "session") : NULL;
	struct err e = { 0 };
	struct session *s;

	if (!x->n)
		return;
	if (*x->session) {
		s = session_find(x->d, NULL, x->session, &e);
		if (s)
			session_follow(x, s);
		else
			prompting_failed(x, &e);
		return;
	}
	if (!json_object_get(x->n->args, "session")) {
		x->need = cell_need(x->n->run, json_text(x->n->args, "in"), 0, on_ready, x);
		return;
	}
	s = session_find(x->d, NULL, id ? id : "", &e);
	if (s)
		prompt_send(x, NULL, s);
	else
		prompting_failed(x, &e);
}

void prompt_start(struct wf_node *n)
{
	struct prompting *x = xalloc(sizeof(*x));
	const char *session = json_text(n->live, "session");

	x->work.stop = prompting_stop;
	x->d = run_daemon(n->run);
	x->n = n;
	n->work_of = x;
	list_init(&x->watch.link);
	x->t.data = x;
	uv_timer_init(&x->d->loop, &x->t);
	if (session) {
		snprintf(x->session, sizeof(x->session), "%s", session);
		x->prompt = json_integer_value(json_object_get(n->live, "prompt"));
		x->seq = json_integer_value(json_object_get(n->live, "seq"));
	}
	uv_timer_start(&x->t, on_begin, 0, 0);
}
