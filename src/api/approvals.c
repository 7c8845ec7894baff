/* /v1/approvals: questions of cells, and their answers. */
#include "daemon/approvals/approvals.h"

#include <stdlib.h>
#include <string.h>

#include "api/routes.h"

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
		c = cell_find(r->d, cell, &f);
	if (bad)
		;
	else if (cell && !c)
		reply_err(r, &f);
	else if (state && strcmp(state, "pending") && strcmp(state, "all"))
		reply_error(r, ERR_INVALID, "'state' is pending or all");
	else
		reply_json(r, 200,
			   json_pack("{s:o}", "approvals",
				     approvals_list(r->d, c ? c->id : "",
						    state && !strcmp(state, "all"))));
	free(state);
	free(cell);
}

void approval_get_one(struct request *r)
{
	int64_t id = id_of(r);
	json_t *o = id ? approval_get(r->d, id) : NULL;

	if (o)
		reply_json(r, 200, o);
	else if (id)
		reply_error(r, ERR_NOT_FOUND,
			    "there is no approval %lld" REMEDY "'viv approvals' lists them",
			    (long long)id);
}

static int answer(struct request *r, int64_t id, const json_t *o, struct err *f)
{
	const char *text = json_text(o, "answer");
	bool allow = !strcmp(text, "allow");

	if (!allow && strcmp(text, "deny"))
		return err_set(f, ERR_INVALID, "'answer' is allow or deny");
	if (json_is_true(json_object_get(o, "always")))
		return err_set(f, ERR_UNSUPPORTED,
			       "rules cannot be added to a running cell yet" REMEDY
			       "answer without 'always'");
	return approval_answer(r->d, id, allow, *r->rights.token ? r->rights.token : "owner", f);
}

void approval_post(struct request *r)
{
	static const struct field fields[] = { { "answer", FIELD_TEXT, true },
					       { "always", FIELD_BOOL, false } };
	int64_t id = id_of(r);
	json_t *o = id ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	struct err f = { 0 };

	if (!o)
		return;
	if (answer(r, id, o, &f) < 0)
		reply_err(r, &f);
	else
		reply_json(r, 200, approval_get(r->d, id));
	json_decref(o);
}
