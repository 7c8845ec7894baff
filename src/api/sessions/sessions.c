/* /v1/cells/{cell}/sessions: agents in cells (daemon/sessions/sessions.h); /v1/sessions, those of
 * all cells; /v1/transcripts, a search over what they said. */
#include <stdlib.h>
#include <string.h>

#include "api/http/keys.h"
#include "api/routes.h"
#include "api/sessions/private.h"
#include "api/subagents.h"
#include "daemon/cells/family.h"

#define FOUND 50
#define FOUND_MAX 1000

const char *request_who(const struct request *r)
{
	return r->rights.family ? r->rights.cell : *r->rights.token ? r->rights.token : "owner";
}

struct session *request_session(struct request *r)
{
	struct cell *c = request_cell(r);
	struct err f = { 0 };
	struct session *s = c ? session_find(r->d, c->id, r->param[1], &f) : NULL;

	if (c && !s)
		reply_err(r, &f);
	return s;
}

/* ---- looking at them ---- */

static void list_reply(struct request *r, const char *cell)
{
	reply_json(r, 200, json_pack("{s:o}", "sessions", sessions_list(r->d, cell)));
}

/* For a cell: those of its descendants. */
static void family_reply(struct request *r)
{
	json_t *all = sessions_list(r->d, ""), *list = json_array(), *s;
	size_t i;

	json_array_foreach(all, i, s) {
		const struct cell *c = cell_by_id(r->d, json_text(s, "cell"));

		if (c && family_is_below(c, r->rights.cell))
			json_array_append(list, s);
	}
	json_decref(all);
	reply_json(r, 200, json_pack("{s:o}", "sessions", list));
}

void sessions_get(struct request *r)
{
	static const char *const names[] = { NULL };

	if (!request_query_only(r, names))
		return;
	if (r->rights.family)
		family_reply(r);
	else
		list_reply(r, r->rights.cell);
}

void cell_sessions_get(struct request *r)
{
	struct cell *c = request_cell(r);

	if (c)
		list_reply(r, c->id);
}

void session_get(struct request *r)
{
	struct session *s = request_session(r);

	if (s)
		reply_json(r, 200, session_json(s));
}

/* ---- making and ending them ---- */

/* May the cell that asks have this session in one of its descendants? */
static int family_check(const struct request *r, const struct cell *c, const json_t *spec,
			struct err *f)
{
	const char *agent = json_text(spec, "agent");
	const struct cell *top = c, *above;

	while ((above = family_parent(top)))
		top = above;
	if (sessions_below(r->d, top->id) >= SESSIONS_FAMILY)
		return err_set(f, ERR_TOO_MANY,
			       "the cells of the family have %d sessions, which is the "
			       "limit" REMEDY "remove some with 'viv session rm'",
			       SESSIONS_FAMILY);
	return agent ? subagent_check(r, agent, f) : 0;
}

void cell_sessions_post(struct request *r)
{
	struct cell *c = request_cell(r);
	json_t *o = c ? request_json(r, session_fields, nsession_fields) : NULL;
	struct err f = { 0 };
	struct session *s;

	if (!o)
		return;
	if (!key_begin(r)) {
		json_decref(o);
		return;
	}
	if (r->rights.family && family_check(r, c, o, &f) < 0) {
		json_decref(o);
		reply_err(r, &f);
		return;
	}
	s = session_new(c, o, request_who(r), &f);
	if (s)
		reply_json(r, 201, session_json(s));
	else
		reply_err(r, &f);
}

void session_delete(struct request *r)
{
	struct session *s = request_session(r);
	struct err f = { 0 };

	if (!s)
		return;
	if (session_remove(s, &f) < 0)
		reply_err(r, &f);
	else
		reply_nothing(r);
}

static void simple_post(struct request *r, int (*fn)(struct session *s, struct err *e))
{
	struct session *s = request_session(r);
	json_t *o = s ? request_json(r, NULL, 0) : NULL;
	struct err f = { 0 };

	if (!o)
		return;
	json_decref(o);
	if (fn(s, &f) < 0)
		reply_err(r, &f);
	else
		reply_json(r, 200, session_json(s));
}

void session_cancel_post(struct request *r)
{
	simple_post(r, session_cancel);
}

void session_close_post(struct request *r)
{
	simple_post(r, session_close);
}

/* ---- prompts ---- */

json_t *prompt_content(const json_t *o, struct err *e)
{
	const char *text = json_text(o, "text");
	json_t *content = json_object_get(o, "content");

	if (!text == !content) {
		err_note(e, ERR_INVALID, "give either 'text' or 'content'");
		return NULL;
	}
	return text ? json_pack("[{s:s,s:s}]", "type", "text", "text", text) : json_incref(content);
}

void session_prompt_post(struct request *r)
{
	static const struct field fields[] = { { "text", FIELD_TEXT, false },
					       { "content", FIELD_LIST, false } };
	struct session *s = request_session(r);
	json_t *o = s ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct err f = { 0 };
	json_t *content = o ? prompt_content(o, &f) : NULL;
	int64_t prompt, seq;

	if (!o || !key_begin(r)) {
		json_decref(content);
		json_decref(o);
		return;
	}
	json_decref(o);
	if (!content || session_prompt(s, content, request_who(r), &prompt, &seq, &f) < 0)
		reply_err(r, &f);
	else
		reply_json(r, 202,
			   json_pack("{s:I,s:I}", "prompt", (json_int_t)prompt, "seq",
				     (json_int_t)seq));
}

/* ---- mode, model, options ---- */

struct set_op {
	struct op op;
	struct daemon *d;
	char session[40];
};

static void set_done(void *arg, struct session *s, const struct err *f)
{
	struct set_op *x = arg;
	struct request *r = op_end(&x->op);

	if (r && f)
		reply_err(r, f);
	else if (r)
		reply_json(r, 200, session_json(s));
	free(x);
}

static void set_gone(struct op *op)
{
	struct set_op *x = container_of(op, struct set_op, op);
	struct err f;
	struct session *s = session_find(x->d, NULL, x->session, &f);

	if (s)
		session_forget(s, x);
	free(x);
}

static void set_begin(struct request *r, struct session *s, const char *what, const char *option,
		      const json_t *value)
{
	struct set_op *x = xalloc(sizeof(*x));
	struct err f = { 0 };

	x->d = r->d;
	x->op.gone = set_gone;
	snprintf(x->session, sizeof(x->session), "%s", r->param[1]);
	if (session_set(s, what, option, value, set_done, x, &f) < 0) {
		free(x);
		reply_err(r, &f);
		return;
	}
	op_begin(r, &x->op);
}

static void named_post(struct request *r, const char *what)
{
	struct field field = { what, FIELD_TEXT, true };
	struct session *s = request_session(r);
	json_t *o = s ? request_json(r, &field, 1) : NULL;

	if (o)
		set_begin(r, s, what, NULL, json_object_get(o, what));
	json_decref(o);
}

void session_mode_post(struct request *r)
{
	named_post(r, "mode");
}

void session_model_post(struct request *r)
{
	named_post(r, "model");
}

void session_config_post(struct request *r)
{
	struct session *s = request_session(r);
	json_t *o = s ? request_object(r) : NULL;
	const json_t *value = json_object_get(o, "value");

	if (!o)
		return;
	if (!json_text(o, "option") || json_object_size(o) != 2 ||
	    (!json_is_string(value) && !json_is_boolean(value)))
		reply_error(r, ERR_INVALID,
			    "give 'option', a text, and 'value', a text, true or false");
	else
		set_begin(r, s, "config", json_text(o, "option"), value);
	json_decref(o);
}

/* ---- searching ---- */

/* Each descendant's by itself: what others say has no influence on what is found. */
static json_t *family_search(const struct request *r, const char *words, unsigned limit,
			     struct err *f)
{
	json_t *all = json_array(), *some;
	const struct cell *c;

	list_for_each(c, &r->d->cells, link) {
		if (!family_is_below(c, r->rights.cell))
			continue;
		some = transcripts_search(r->d, words, c->id,
					  limit - (unsigned)json_array_size(all), f);
		if (!some) {
			json_decref(all);
			return NULL;
		}
		json_array_extend(all, some);
		json_decref(some);
		if (json_array_size(all) >= limit)
			break;
	}
	return all;
}

void transcripts_get(struct request *r)
{
	static const char *const names[] = { "q", "cell", "limit", NULL };
	bool bad = false;
	uint64_t limit = FOUND;
	char *words = NULL, *cell = NULL;
	struct cell *c = NULL;
	struct err f = { 0 };
	json_t *found = NULL;

	if (!request_query_only(r, names) || !request_query_number(r, "limit", FOUND_MAX, &limit))
		return;
	words = request_query(r, "q", &bad);
	cell = bad ? NULL : request_query(r, "cell", &bad);
	if (!bad && cell)
		c = r->rights.family ? family_find(r->d, r->rights.cell, cell, &f)
				     : cell_find(r->d, cell, &f);
	if (!bad && c && r->rights.cell[0] &&
	    (r->rights.family ? !family_is_below(c, r->rights.cell)
			      : strcmp(r->rights.cell, c->id) != 0)) {
		err_note(&f, ERR_NOT_FOUND, "there is no cell '%.80s'", cell);
		c = NULL;
	}
	if (!bad && !cell && r->rights.family)
		found = family_search(r, words ? words : "", (unsigned)limit, &f);
	else if (!bad && (!cell || c))
		found = transcripts_search(r->d, words ? words : "", c ? c->id : r->rights.cell,
					   (unsigned)limit, &f);
	if (found)
		reply_json(r, 200, json_pack("{s:o}", "transcripts", found));
	else if (!bad)
		reply_err(r, &f);
	free(words);
	free(cell);
}
