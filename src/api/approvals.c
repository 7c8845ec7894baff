/* /v1/approvals: questions of cells, and their answers. */
#include "daemon/cells/family.h"
#include "daemon/approvals/approvals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/cells.h"
#include "api/routes.h"
#include "daemon/cells/change.h"
#include "daemon/state/fields.h"

/* The id in the path; 0: there is no such approval, which was answered. */
static int64_t id_of(struct request *r)
{
	const char *text = r->param[0];
	int64_t id = *text && strlen(text) < 18 && strspn(text, "0123456789") == strlen(text)
			     ? strtoll(text, NULL, 10)
			     : 0;

	if (!id)
		reply_error(r, ERR_NOT_FOUND,
			    "there is no approval '%.40s'" REMEDY "'viv approvals' lists them",
			    text);
	return id;
}

/* Is it a question of a cell that exists for who asks? */
static bool is_seen(const struct request *r, const json_t *approval)
{
	const char *id = json_text(approval, "cell");
	const struct cell *c = id ? cell_by_id(r->d, id) : NULL;

	return !r->rights.family || (c && request_sees(r, c));
}

/* Takes list. */
static json_t *seen_only(const struct request *r, json_t *list)
{
	size_t i = 0;

	while (i < json_array_size(list))
		if (is_seen(r, json_array_get(list, i)))
			i++;
		else
			json_array_remove(list, i);
	return list;
}

void approvals_get(struct request *r)
{
	static const char *const names[] = { "state", "cell", NULL };
	bool bad = false;
	char *state = NULL, *cell = NULL;
	struct cell *c = NULL;
	struct err f = { 0 };

	if (!request_query_only(r, names))
		return;
	state = request_query(r, "state", &bad);
	cell = bad ? NULL : request_query(r, "cell", &bad);
	if (cell && !bad)
		c = r->rights.family ? family_find(r->d, r->rights.cell, cell, &f)
				     : cell_find(r->d, cell, &f);
	if (bad)
		;
	else if (cell && !c)
		reply_err(r, &f);
	else if (state && strcmp(state, "pending") && strcmp(state, "all"))
		reply_error(r, ERR_INVALID, "'state' is pending or all");
	else
		reply_json(r, 200,
			   json_pack("{s:o}", "approvals",
				     seen_only(r, approvals_list(r->d, c ? c->id : "",
								 state && !strcmp(state, "all")))));
	free(state);
	free(cell);
}

void approval_get_one(struct request *r)
{
	int64_t id = id_of(r);
	json_t *o = id ? approval_get(r->d, id) : NULL;

	if (o && !is_seen(r, o)) {
		json_decref(o);
		o = NULL;
	}
	if (o)
		reply_json(r, 200, o);
	else if (id)
		reply_error(r, ERR_NOT_FOUND,
			    "there is no approval %lld" REMEDY "'viv approvals' lists them",
			    (long long)id);
}

/* An answer that also becomes a rule. */
struct rule_add {
	struct op op;
	int64_t id;
	bool allow;
	char by[48];
};

static const char *who(const struct request *r)
{
	return *r->rights.token ? r->rights.token : "owner";
}

/* The rule is in force, or it cannot be. */
static void rule_added(void *arg, struct cell *c, const struct err *f)
{
	struct rule_add *x = arg;
	struct request *r = op_end(&x->op);
	struct daemon *d = c ? c->d : NULL;
	struct err e = { 0 };

	if (f)
		e = *f;
	/* The rule answers the call as well, and its question may be gone by now. */
	if (c && approval_answer(d, x->id, x->allow, x->by, &e) < 0 && e.kind == ERR_CONFLICT)
		e.kind = ERR_NONE;
	if (r && (!c || e.kind))
		reply_err(r, &e);
	else if (r)
		reply_json(r, 200, approval_get(d, x->id));
	free(x);
}

static int answer_always(struct request *r, int64_t id, bool allow, struct err *f)
{
	json_t *a = approval_get(r->d, id), *rules = NULL, *spec = NULL;
	const char *state = a ? json_text(a, "state") : NULL;
	struct cell *c = a ? cell_by_id(r->d, json_text(a, "cell")) : NULL;
	char *rule = a ? approval_rule(a, allow) : NULL;
	struct rule_add *x;

	if (!a)
		err_note(f, ERR_NOT_FOUND, "there is no approval %lld", (long long)id);
	else if (strcmp(state, "pending") || !c)
		err_note(f, ERR_CONFLICT, "approval %lld is %s already", (long long)id, state);
	else if (!rule)
		err_note(f, ERR_UNSUPPORTED,
			 "no rule can say this" REMEDY "answer it once, or change the policy");
	else
		spec = policy_spec(c, rules = json_pack("[s]", rule), true, f);
	json_decref(rules);
	json_decref(a);
	free(rule);
	if (!spec)
		return -1;
	x = xalloc(sizeof(*x));
	x->id = id;
	x->allow = allow;
	snprintf(x->by, sizeof(x->by), "%s", who(r));
	op_begin(r, &x->op);
	cell_change(c, spec, 0, rule_added, x);
	return 0;
}

/* An agent's own question, which has options of its own instead of rules. */
static bool is_of_agent(struct daemon *d, int64_t id)
{
	json_t *o = approval_get(d, id);
	const char *scope = o ? json_text(o, "scope") : NULL;
	bool is = scope && !strcmp(scope, "agent");

	json_decref(o);
	return is;
}

/* 1: answered, 0: it will be. */
static int answer(struct request *r, int64_t id, const json_t *o, struct err *f)
{
	const char *text = json_text(o, "answer"), *option = json_text(o, "option");
	struct answer a = { .allow = text && !strcmp(text, "allow"),
			    .always = json_is_true(json_object_get(o, "always")) };

	if (!text && !option)
		return err_set(f, ERR_MISSING_FIELD, "'answer' is missing");
	if (text && !a.allow && strcmp(text, "deny"))
		return err_set(f, ERR_INVALID, "'answer' is allow or deny");
	if (option && (!is_of_agent(r->d, id) || !*option || strlen(option) >= sizeof(a.option)))
		return err_set(f, ERR_INVALID, "this question has no option '%.80s'", option);
	if (a.always && !is_of_agent(r->d, id))
		return answer_always(r, id, a.allow, f);
	if (option)
		strcpy(a.option, option);
	return approval_answer_by(r->d, id, a, who(r), f) < 0 ? -1 : 1;
}

void approval_post(struct request *r)
{
	static const struct field fields[] = { { "answer", FIELD_TEXT, false },
					       { "always", FIELD_BOOL, false },
					       { "option", FIELD_TEXT, false } };
	int64_t id = id_of(r);
	json_t *o = id ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct err f = { 0 };
	int ret;

	if (!o)
		return;
	ret = answer(r, id, o, &f);
	if (ret < 0)
		reply_err(r, &f);
	else if (ret)
		reply_json(r, 200, approval_get(r->d, id));
	json_decref(o);
}
