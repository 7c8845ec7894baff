/* What clients ask of sessions; see sessions.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/approvals/approvals.h"
#include "daemon/cells/family.h"
#include "daemon/sessions/private.h"

const struct field session_fields[] = {
	{ "agent", FIELD_TEXT, false },
	{ "command", FIELD_TEXTS, false },
	{ "acp", FIELD_BOOL, false },
	{ "workdir", FIELD_TEXT, false },
	{ "env", FIELD_MAP, false },
	{ "user", FIELD_TEXT, false },
	{ "mode", FIELD_TEXT, false },
	{ "model", FIELD_TEXT, false },
	{ "auth", FIELD_TEXT, false },
	{ "system_prompt", FIELD_BOOL, false },
	{ "append_prompt", FIELD_TEXT, false },
	{ "prompt", FIELD_TEXT, false },
	{ "mcp_servers", FIELD_LIST, false },
	{ "start_timeout", FIELD_NUMBER, false },
	{ "title", FIELD_TEXT, false },
};
const unsigned nsession_fields = ARRAY_LEN(session_fields);

/* ---- finding them ---- */

struct session *session_find(struct daemon *d, const char *cell, const char *id, struct err *e)
{
	struct session *s;

	(void)d;
	list_for_each(s, sessions_all(), link)
		if (!strcmp(s->id, id) && (!cell || !strcmp(s->cell, cell)))
			return s;
	err_note(e, ERR_NOT_FOUND,
		 "there is no session '%.40s'" REMEDY "'viv session ls' lists them", id);
	return NULL;
}

struct session *session_by_key(struct daemon *d, const char *cell, const char *key)
{
	struct session *s;

	(void)d;
	list_for_each(s, sessions_all(), link) {
		const char *own = json_text(s->spec, "key");

		if (own && !strcmp(own, key) && !strcmp(s->cell, cell))
			return s;
	}
	return NULL;
}

bool session_is_prompted(const struct session *s)
{
	return s->prompts > 0;
}

int session_rest(const struct session *s, struct err *e)
{
	const char *why = json_text(live_get(s, "error"), "message");

	if (s->state == SESSION_CLOSED)
		return err_set(e, ERR_CLOSED, "its session is closed");
	if (s->state == SESSION_FAILED)
		return err_set(e, ERR_FAILED, "its agent failed%s%s" REMEDY "'viv transcript %s'",
			       why ? ": " : "", why ? why : "", s->id);
	if (s->state == SESSION_WAITING)
		return 2;
	return s->state == SESSION_IDLE && !s->running && !s->queue;
}

const char *session_cell(const struct session *s)
{
	return s->cell;
}

json_t *session_json(const struct session *s)
{
	static const char *const shown[] = { "title",  "mode",		 "modes", "model",
					     "models", "config_options", "usage", "error" };
	json_t *o = json_pack("{s:s,s:s,s:O?,s:O?,s:s,s:s,s:s,s:I,s:I}", "id", s->id, "cell",
			      s->cell, "agent", json_object_get(s->spec, "agent"), "command",
			      json_object_get(s->spec, "command"), "state", state_name(s->state),
			      "created", time_text(s->created).str, "updated",
			      time_text(s->updated).str, "queue", (json_int_t)s->queue, "last_seq",
			      (json_int_t)s->seq);

	for (unsigned i = 0; i < ARRAY_LEN(shown); i++) {
		json_t *v = live_get(s, shown[i]);

		if (v)
			json_object_set(o, shown[i], v);
		else if (i < 6)
			json_object_set_new(o, shown[i],
					    i == 2 || i >= 4 ? json_array() : json_null());
	}
	if (!live_get(s, "title") && json_text(s->spec, "title"))
		json_object_set(o, "title", json_object_get(s->spec, "title"));
	return o;
}

json_t *sessions_list(struct daemon *d, const char *cell)
{
	json_t *list = json_array();
	struct session *s;

	(void)d;
	list_for_each(s, sessions_all(), link)
		if (!*cell || !strcmp(s->cell, cell))
			json_array_append_new(list, session_json(s));
	return list;
}

unsigned sessions_below(struct daemon *d, const char *cell)
{
	const struct cell *c;
	struct session *s;
	unsigned n = 0;

	list_for_each(s, sessions_all(), link) {
		c = cell_by_id(d, s->cell);
		n += c && family_is_below(c, cell);
	}
	return n;
}

/* ---- making one ---- */

static int mcp_check(const json_t *list, struct err *e)
{
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o) {
		const char *type = json_text(o, "type");
		bool stdio = !type || !strcmp(type, "stdio");

		if (!json_is_object(o) || !json_text(o, "name") ||
		    !json_text(o, stdio ? "command" : "url"))
			return err_set(
				e, ERR_INVALID,
				"each of 'mcp_servers' has a 'name', and a 'command' or (of type "
				"http or sse) a 'url'");
		if (!stdio && strcmp(type, "http") && strcmp(type, "sse"))
			return err_set(e, ERR_INVALID,
				       "an MCP server is of type stdio, http or sse");
	}
	return 0;
}

static int spec_check(const struct cell *c, const json_t *spec, struct err *e)
{
	const json_t *command = json_object_get(spec, "command");
	const char *first = json_string_value(json_array_get(command, 0));
	struct session *s;
	unsigned all = 0, here = 0;

	if (!json_text(spec, "agent") == !command)
		return err_set(e, ERR_INVALID, "give either 'agent' or 'command'");
	if (command && (!first || !*first))
		return err_set(e, ERR_INVALID, "'command' is a list that begins with a program");
	if (json_text(spec, "workdir") && json_text(spec, "workdir")[0] != '/')
		return err_set(e, ERR_INVALID, "'workdir' is an absolute path");
	if (mcp_check(json_object_get(spec, "mcp_servers"), e) < 0)
		return -1;
	list_for_each(s, sessions_all(), link) {
		all++;
		here += !strcmp(s->cell, c->id);
	}
	if (all >= SESSIONS_MAX || here >= SESSIONS_CELL)
		return err_set(e, ERR_TOO_MANY,
			       "there are %u sessions already" REMEDY
			       "remove some with 'viv session rm'",
			       all >= SESSIONS_MAX ? all : here);
	return 0;
}

struct session *session_new(struct cell *c, json_t *spec, const char *by, struct err *e)
{
	const char *prompt = json_text(spec, "prompt");
	json_t *content = prompt ? json_pack("[{s:s,s:s}]", "type", "text", "text", prompt) : NULL;
	struct session *s = NULL;
	struct launch l = { 0 };
	int64_t n, seq;

	if (spec_check(c, spec, e) == 0) {
		json_object_del(spec, "prompt");
		s = session_add(c, json_incref(spec), e);
	}
	if (s && json_text(spec, "agent") && launch_make(s, c, &l, e) == 0) {
		json_object_set_new(s->spec, "acp", json_boolean(l.acp));
		json_object_set(s->spec, "shown", l.command);
	}
	launch_free(&l);
	if (s && e->kind) {
		db_begin(&s->d->db);
		session_rows_delete(s);
		db_end(&s->d->db, NULL);
		session_free(s);
		s = NULL;
	}
	if (s) {
		session_begin(s);
		event_put(s, "state", json_pack("{s:s}", "state", "starting"), 0);
		if (session_is_acp(s))
			session_start(s);
		else
			state_set(s, SESSION_IDLE, NULL);
		session_end(s, NULL);
		if (content && session_prompt(s, json_incref(content), by, &n, &seq, e) < 0)
			e->kind = ERR_NONE;
	}
	json_decref(content);
	json_decref(spec);
	return s;
}

/* ---- using it ---- */

static int content_check(const json_t *content, struct err *e)
{
	const json_t *block;
	size_t i;

	if (!json_array_size(content))
		return err_set(e, ERR_INVALID, "'content' is a list of at least one block");
	json_array_foreach(content, i, block) {
		const char *type = json_text(block, "type");

		if (!type)
			return err_set(e, ERR_INVALID,
				       "each block of 'content' is an object with a 'type'");
		if (!strcmp(type, "text") ? !json_text(block, "text")
		    : !strcmp(type, "resource_link")
			    ? !json_text(block, "uri") || !json_text(block, "name")
		    : !strcmp(type, "resource")
			    ? !json_is_object(json_object_get(block, "resource"))
		    : !strcmp(type, "image") || !strcmp(type, "audio")
			    ? !json_text(block, "data") || !json_text(block, "mimeType")
			    : true)
			return err_set(
				e, ERR_INVALID,
				"block %zu of 'content' is not a text, resource_link, resource, "
				"image or audio of ACP",
				i + 1);
	}
	return 0;
}

int session_prompt_with(struct session *s, json_t *content, const char *by, prompt_within within,
			void *arg, struct err *e)
{
	int64_t prompt;

	if (content_check(content, e) < 0)
		;
	else if (s->state == SESSION_CLOSED || session_is_closing(s))
		err_note(e, ERR_CLOSED, "the session is closed" REMEDY "make a new one");
	else if (s->queue >= PROMPTS_MAX)
		err_note(e, ERR_TOO_MANY,
			 "%u prompts wait already" REMEDY "wait for the agent, or cancel",
			 s->queue);
	if (e->kind) {
		json_decref(content);
		return -1;
	}
	session_begin(s);
	prompt = ++s->prompts;
	queue_add(s, prompt, content);
	event_put(s, "prompt",
		  json_pack("{s:I,s:s,s:o}", "prompt", (json_int_t)prompt, "by", by, "content",
			    content),
		  0);
	if (within)
		within(arg, prompt, s->seq);
	if (s->state == SESSION_FAILED)
		s->restarts = 0;
	turn_next(s);
	return session_end(s, e);
}

struct prompt_at {
	int64_t prompt, seq;
};

static void prompt_note_at(void *arg, int64_t prompt, int64_t seq)
{
	*(struct prompt_at *)arg = (struct prompt_at){ prompt, seq };
}

int session_prompt(struct session *s, json_t *content, const char *by, int64_t *ret_prompt,
		   int64_t *ret_seq, struct err *e)
{
	struct prompt_at at = { 0 };
	int r = session_prompt_with(s, content, by, prompt_note_at, &at, e);

	*ret_prompt = at.prompt;
	*ret_seq = at.seq;
	return r;
}

/* Within a transaction: the turn that runs is to end. */
static void turn_stop(struct session *s)
{
	if (s->running && session_is_acp(s) && s->phase == PHASE_READY) {
		acp_notify(s, "session/cancel",
			   json_pack("{s:O}", "sessionId", live_get(s, "acp")));
		permission_drop(s, false);
		state_follow(s);
	} else if (s->running && s->proc) {
		struct keep_msg m = {
			.type = KEEP_SIGNAL, .proc = s->proc, .a = SIGTERM, .flags = KEEP_TO_GROUP
		};

		live_set(s, "cancelled", json_true());
		if (s->keeper)
			(void)!link_ask(s->keeper, &m, NULL, 0, link_ignore, NULL);
	} else if (s->running) {
		turn_end(s, "cancelled", NULL);
		s->starting = false;
		if (!s->asked)
			state_set(s, SESSION_IDLE, NULL);
	}
}

int session_cancel(struct session *s, struct err *e)
{
	session_begin(s);
	turn_drop(s, "cancelled");
	turn_stop(s);
	return session_end(s, e);
}

int session_prompt_end(struct session *s, int64_t prompt, bool kill, struct err *e)
{
	session_begin(s);
	if (s->running == prompt && kill && s->proc)
		process_kill(s);
	else if (s->running == prompt)
		turn_stop(s);
	else
		turn_drop_one(s, prompt, "cancelled");
	return session_end(s, e);
}

int session_close(struct session *s, struct err *e)
{
	if (s->state == SESSION_CLOSED)
		return 0;
	session_begin(s);
	turn_drop(s, "cancelled");
	permission_drop(s, true);
	if (s->running)
		turn_end(s, "cancelled", NULL);
	if (s->proc) {
		process_end(s, SESSION_CLOSED);
	} else {
		s->phase = PHASE_NONE;
		s->starting = false;
		session_timer(s, -1, NULL); /* of a restart */
		state_set(s, SESSION_CLOSED, NULL);
	}
	return session_end(s, e);
}

int session_remove(struct session *s, struct err *e)
{
	struct daemon *d = s->d;
	struct keep_msg m = {
		.type = KEEP_SIGNAL, .proc = s->proc, .a = SIGKILL, .flags = KEEP_TO_GROUP
	};
	struct keep_msg taken = { .type = KEEP_TAKEN, .proc = s->proc, .n = KEEP_ALL };

	db_begin(&d->db);
	permission_drop(s, true);
	terminals_end(s);
	serve_drop(s);
	session_rows_delete(s);
	if (db_end(&d->db, e) < 0)
		return -1;
	if (s->proc && s->keeper) {
		(void)!link_tell(s->keeper, &taken);
		(void)!link_ask(s->keeper, &m, NULL, 0, link_ignore, NULL);
	}
	session_free(s);
	return 0;
}

/* ---- with vivd ---- */

void sessions_open(struct daemon *d)
{
	struct session *s;

	permission_open();
	sessions_read(d);
	/* What a keeper that ended meanwhile left is read before its cell is started again. */
	list_for_each(s, sessions_all(), link)
		if (s->proc)
			stream_drain(s);
}

void sessions_begin(struct daemon *d)
{
	struct session *s, *tmp;

	list_for_each_safe(s, tmp, sessions_all(), link) {
		struct cell *c = cell_by_id(d, s->cell);

		if (!c) {
			db_begin(&d->db);
			session_rows_delete(s);
			db_end(&d->db, NULL);
			session_free(s);
			continue;
		}
		s->waits = true;
		cell_wait_add(c, &s->wait, on_cell);
		if (!s->proc && (s->phase == PHASE_CELL || s->state == SESSION_STARTING)) {
			s->starting = s->orphans = true;
			s->phase = PHASE_CELL;
		}
		session_use(s);
		session_cell_changed(s, c);
	}
}

void sessions_close(struct daemon *d)
{
	struct session *s, *tmp;

	(void)d;
	list_for_each_safe(s, tmp, sessions_all(), link)
		session_free(s);
}
