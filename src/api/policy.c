/* /v1/cells/{cell}/policy: the rules of a cell, what they would say, and those that it would need.
 * A change is one of the cell's spec (daemon/cells/change.h): in one step, hot, and kept. */
#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/routes.h"
#include "daemon/cells/change.h"
#include "daemon/cells/uses.h"
#include "daemon/state/fields.h"
#include "policy/query.h"

struct changing {
	struct op op;
};

static json_t *policy_json(const struct cell *c)
{
	json_t *rules = json_object_get(c->spec, "policy");

	return json_pack("{s:o}", "rules", rules ? json_incref(rules) : json_array());
}

void policy_get(struct request *r)
{
	struct cell *c = request_cell(r);

	if (c)
		reply_json(r, 200, policy_json(c));
}

/* ---- changing ---- */

static void changed(void *arg, struct cell *c, const struct err *f)
{
	struct changing *x = arg;
	struct request *r = op_end(&x->op);

	if (r && c)
		reply_json(r, 200, policy_json(c));
	else if (r)
		reply_err(r, f);
	free(x);
}

json_t *policy_spec(const struct cell *c, const json_t *more, bool add, struct err *f)
{
	char **is = json_words(json_object_get(c->spec, "policy")), **new = json_words(more);
	char **list = add ? policy_list(is, new, f) : policy_list(new, NULL, f);
	json_t *spec = NULL, *rules;

	if (list) {
		rules = json_array();
		for (char **l = list; *l; l++) {
			json_array_append_new(rules, json_string(*l));
			free(*l);
		}
		spec = json_copy(c->spec);
		json_object_set_new(spec, "policy", rules);
		free(list);
	}
	free(is);
	free(new);
	return spec;
}

static void policy_change(struct request *r, bool add)
{
	static const struct field fields[] = { { "rules", FIELD_TEXTS, true } };
	struct cell *c = request_cell(r);
	json_t *o = c ? request_object(r) : NULL, *spec = NULL;
	struct err f = { 0 };
	struct changing *x;

	if (!o)
		return;
	if (fields_check(o, fields, ARRAY_LEN(fields), "", &f) == 0)
		spec = policy_spec(c, json_object_get(o, "rules"), add, &f);
	json_decref(o);
	if (!spec) {
		reply_err(r, &f);
		return;
	}
	x = xalloc(sizeof(*x));
	op_begin(r, &x->op);
	cell_change(c, spec, 0, changed, x);
}

void policy_put(struct request *r)
{
	policy_change(r, false);
}

void policy_post(struct request *r)
{
	policy_change(r, true);
}

/* ---- asking ---- */

void policy_check_post(struct request *r)
{
	static const struct field fields[] = {
		{ "connect", FIELD_TEXT, false }, { "method", FIELD_TEXT, false },
		{ "program", FIELD_TEXT, false }, { "file", FIELD_TEXT, false },
		{ "access", FIELD_TEXT, false },  { "exec", FIELD_TEXT, false },
		{ "env", FIELD_TEXT, false },	  { "tool", FIELD_TEXT, false },
		{ "cell", FIELD_TEXT, false },
	};
	struct cell *c = request_cell(r);
	json_t *o = c ? request_object(r) : NULL;
	struct policy_query q;
	struct buf b = { 0 };
	struct err f = { 0 };
	char **rules, **tools;

	if (!o)
		return;
	if (fields_check(o, fields, ARRAY_LEN(fields), "", &f) < 0) {
		reply_err(r, &f);
		json_decref(o);
		return;
	}
	q = (struct policy_query){ .connect = json_text(o, "connect"),
				   .method = json_text(o, "method"),
				   .program = json_text(o, "program"),
				   .file = json_text(o, "file"),
				   .access = json_text(o, "access"),
				   .exec = json_text(o, "exec"),
				   .env = json_text(o, "env"),
				   .tool = json_text(o, "tool"),
				   .cell = json_text(o, "cell") };
	tools = json_words(json_object_get(c->spec, "tools"));
	q.tools = tools;
	rules = json_words(json_object_get(c->spec, "policy"));
	if (policy_answer_words(rules, &q, &b, &f) < 0)
		reply_err(r, &f);
	else
		reply_json(r, 200, json_loads((const char *)b.p, 0, NULL));
	buf_free(&b);
	free(tools);
	free(rules);
	json_decref(o);
}

/* ---- learning ---- */

void policy_learn_get(struct request *r)
{
	struct cell *c = request_cell(r);
	struct buf text = { 0 };
	json_t *rules, *looked;
	bool complete;

	if (!c)
		return;
	rules = json_array();
	looked = json_array();
	complete = uses_learn(c, &text);
	buf_add_text(&text, "");
	for (char *save = NULL, *l = strtok_r((char *)text.p, "\n", &save); l;
	     l = strtok_r(NULL, "\n", &save)) {
		if (*l == '#')
			json_array_append_new(looked, json_string(strrchr(l, ' ') + 1));
		else
			json_array_append_new(rules, json_string(l));
	}
	buf_free(&text);
	reply_json(r, 200,
		   json_pack("{s:o,s:o,s:b}", "rules", rules, "looked_up", looked, "complete",
			     complete));
}

void policy_learn_delete(struct request *r)
{
	struct cell *c = request_cell(r);

	if (!c)
		return;
	uses_restart(c);
	reply_json(r, 200, json_object());
}
