/* A WebSocket on the events of a session, subprotocol "vivarium.session.v1". The server sends each
 * event as one text, from ?since= on, and follows. The client may send
 *	{"type":"prompt","text":...} or {"type":"prompt","content":[...]}
 *	{"type":"cancel"}
 *	{"type":"answer","approval":N,"answer":"allow"|"deny","always":true,"option":ID}
 * and gets {"type":"ok","of":TYPE,...} for each, or {"type":"error","of":TYPE,"code":...}. They
 *need the rights that the routes for these need. */
#include <stdlib.h>
#include <string.h>

#include "api/http/ws.h"
#include "api/sessions/private.h"
#include "daemon/approvals/approvals.h"

struct wsession {
	struct session_watch watch;
	struct ws *w;
	struct daemon *d;
	struct session *s; /* NULL: removed */
	struct rights rights;
	char id[40];
	int64_t seq;
	bool watching;
};

/* Takes o. */
static void tell(struct wsession *e, json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	if (text)
		ws_text(e->w, text, strlen(text));
	free(text);
	ws_kick(e->w);
}

static void error_tell(struct wsession *e, const char *of, const struct err *f)
{
	json_t *o = json_pack("{s:s,s:s,s:i}", "type", "error", "of", of, "status", err_http(f));

	json_object_update_new(o, json_err(f));
	tell(e, o);
}

static bool may(struct wsession *e, enum scope scope, struct err *f)
{
	if (e->rights.scope >= scope)
		return true;
	err_note(f, ERR_FORBIDDEN, "a token of scope '%s' may not do this",
		 scope_name(e->rights.scope));
	return false;
}

static const char *who(const struct wsession *e)
{
	return *e->rights.token ? e->rights.token : "owner";
}

static void prompt_do(struct wsession *e, const json_t *o, struct err *f)
{
	json_t *content = may(e, SCOPE_CELL, f) ? prompt_content(o, f) : NULL;
	int64_t prompt, seq;

	if (content && session_prompt(e->s, content, who(e), &prompt, &seq, f) == 0)
		tell(e, json_pack("{s:s,s:s,s:I,s:I}", "type", "ok", "of", "prompt", "prompt",
				  (json_int_t)prompt, "seq", (json_int_t)seq));
}

static void cancel_do(struct wsession *e, struct err *f)
{
	if (may(e, SCOPE_CELL, f) && session_cancel(e->s, f) == 0)
		tell(e, json_pack("{s:s,s:s}", "type", "ok", "of", "cancel"));
}

static void answer_do(struct wsession *e, const json_t *o, struct err *f)
{
	int64_t id = json_integer_value(json_object_get(o, "approval"));
	const char *text = json_text(o, "answer"), *option = json_text(o, "option");
	struct answer a = { .allow = text && !strcmp(text, "allow"),
			    .always = json_is_true(json_object_get(o, "always")) };
	json_t *approval = approval_get(e->d, id);
	const char *scope = approval ? json_text(approval, "scope") : NULL;

	if (!may(e, SCOPE_ADMIN, f))
		;
	else if (!scope || strcmp(scope, "agent") ||
		 strcmp(json_text(approval, "cell"), session_cell(e->s)))
		err_note(f, ERR_NOT_FOUND, "the session has no question %lld", (long long)id);
	else if (!option && (!text || (!a.allow && strcmp(text, "deny"))))
		err_note(f, ERR_INVALID, "'answer' is allow or deny");
	else if (option && strlen(option) >= sizeof(a.option))
		err_note(f, ERR_INVALID, "the agent offers no such option");
	else {
		strcpy(a.option, option ? option : "");
		if (approval_answer_by(e->d, id, a, who(e), f) == 0)
			tell(e, json_pack("{s:s,s:s,s:I}", "type", "ok", "of", "answer", "approval",
					  (json_int_t)id));
	}
	json_decref(approval);
}

static const struct field fields[] = {
	{ "type", FIELD_TEXT, true },	  { "text", FIELD_TEXT, false },
	{ "content", FIELD_LIST, false }, { "approval", FIELD_INT, false },
	{ "answer", FIELD_TEXT, false },  { "always", FIELD_BOOL, false },
	{ "option", FIELD_TEXT, false },
};

static void message(void *arg, bool is_text, const char *p, size_t n)
{
	struct wsession *e = arg;
	json_t *o = is_text ? json_loadb(p, n, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct err f = { 0 };
	const char *type = "";

	if (!json_is_object(o))
		err_note(&f, ERR_INVALID_JSON, "a message is an object of JSON");
	else if (fields_check(o, fields, ARRAY_LEN(fields), "", &f) == 0) {
		type = json_text(o, "type");
		if (!e->s)
			err_note(&f, ERR_NOT_FOUND, "the session was removed");
		else if (!strcmp(type, "prompt"))
			prompt_do(e, o, &f);
		else if (!strcmp(type, "cancel"))
			cancel_do(e, &f);
		else if (!strcmp(type, "answer"))
			answer_do(e, o, &f);
		else
			err_note(&f, ERR_INVALID, "there is no message of type '%.40s'", type);
	}
	if (f.kind)
		error_tell(e, type, &f);
	json_decref(o);
}

static bool room(void *arg)
{
	struct wsession *e = arg;
	char *line = e->s ? session_event_next(e->s, &e->seq) : NULL;

	if (!line) {
		if (!e->s)
			ws_close(e->w, WS_DONE, "removed");
		return !e->s;
	}
	ws_text(e->w, line, strlen(line));
	free(line);
	return true;
}

static void news(struct session_watch *w, bool gone)
{
	struct wsession *e = container_of(w, struct wsession, watch);

	if (gone) {
		e->s = NULL;
		e->watching = false;
	}
	ws_kick(e->w);
}

static void opened(void *arg, struct ws *w)
{
	struct wsession *e = arg;
	struct err f;

	e->w = w;
	e->s = session_find(e->d, NULL, e->id, &f);
	if (e->s) {
		session_watch_add(e->s, &e->watch, news);
		e->watching = true;
	}
	ws_kick(w);
}

static void gone(void *arg)
{
	struct wsession *e = arg;

	if (e->watching)
		session_watch_remove(&e->watch);
	free(e);
}

void session_events_socket(struct request *r, struct session *s, int64_t since)
{
	static const struct ws_user user = { .protocol = "vivarium.session.v1",
					     .query = "since",
					     .open = opened,
					     .message = message,
					     .room = room,
					     .gone = gone };
	struct wsession *e = xalloc(sizeof(*e));

	(void)s;
	e->d = r->d;
	e->rights = r->rights;
	e->seq = since;
	snprintf(e->id, sizeof(e->id), "%s", r->param[1]);
	ws_accept(r, &user, e);
}
