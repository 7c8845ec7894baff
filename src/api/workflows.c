/* /v1/workflows: runs of workflow files and of programs (docs/workflows.md). */
#include "daemon/workflows/workflows.h"

#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/defs.h"
#include "daemon/workflows/inputs.h"

#define LIST_DEFAULT 100
#define LEASE_DEFAULT 60.0
#define LEASE_MAX 86400.0

static const char *who(const struct request *r)
{
	return *r->rights.token ? r->rights.token : "owner";
}

/* The document that a request means. NULL: answered. */
static json_t *doc_of(struct request *r, const json_t *o)
{
	struct err e = { 0 };
	json_t *doc = workflow_doc(r->d, o, &e);

	if (!doc)
		reply_err(r, &e);
	return doc;
}

static void run_reply(struct request *r, unsigned status, const char *id, bool steps)
{
	struct err e = { 0 };
	json_t *o = workflow_json(r->d, id, steps, &e);

	if (o)
		reply_json(r, status, o);
	else
		reply_err(r, &e);
}

void workflows_get(struct request *r)
{
	static const char *const names[] = { "state", "name", "limit", NULL };
	static const char *const states[] = { "running", "rollback", "done", "failed",
					      "cancelled" };
	uint64_t limit = LIST_DEFAULT;
	char *state, *name = NULL;
	bool bad = false, known = false;

	if (!request_query_only(r, names) || !request_query_number(r, "limit", 1000, &limit))
		return;
	state = request_query(r, "state", &bad);
	if (!bad)
		name = request_query(r, "name", &bad);
	for (unsigned i = 0; state && i < ARRAY_LEN(states); i++)
		known |= !strcmp(state, states[i]);
	if (bad)
		;
	else if (state && !known)
		reply_error(r, ERR_INVALID,
			    "'state' is one of running, rollback, done, failed and cancelled");
	else
		reply_json(r, 200,
			   json_pack("{s:o}", "runs",
				     workflows_list(r->d, state, name, (unsigned)limit)));
	free(state);
	free(name);
}

void workflows_post(struct request *r)
{
	static const struct field fields[] = {
		{ "yaml", FIELD_TEXT, false },	   { "name", FIELD_TEXT, false },
		{ "file", FIELD_TEXT, false },	   { "dir", FIELD_TEXT, false },
		{ "inputs", FIELD_OBJECT, false }, { "arguments", FIELD_MAP, false }
	};
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	json_t *doc = o ? doc_of(r, o) : NULL, *inputs;
	struct err e = { 0 };
	char id[17] = "";

	inputs = doc ? inputs_given(doc, o, &e) : NULL;
	if (doc && !inputs)
		json_decref(doc);
	if (e.kind || (inputs && workflow_start(r->d, doc, inputs, who(r), id, &e) < 0))
		reply_err(r, &e);
	else if (doc)
		run_reply(r, 201, id, false);
	json_decref(o);
}

void workflows_check_post(struct request *r)
{
	static const struct field fields[] = { { "yaml", FIELD_TEXT, true },
					       { "file", FIELD_TEXT, false },
					       { "dir", FIELD_TEXT, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	json_t *doc = o ? doc_of(r, o) : NULL;
	const json_t *def = json_object_get(doc, "main");
	const char *name = json_text(def, "name");

	if (doc)
		reply_json(r, 200,
			   json_pack("{s:s,s:O*,s:I,s:I}", "name", name ? name : "workflow",
				     "inputs", json_object_get(def, "inputs"), "steps",
				     (json_int_t)json_array_size(json_object_get(def, "steps")),
				     "workflows",
				     (json_int_t)json_object_size(
					     json_object_get(doc, "workflows"))));
	json_decref(doc);
	json_decref(o);
}

void workflows_defined_get(struct request *r)
{
	reply_json(r, 200, json_pack("{s:o}", "workflows", workflow_defs(r->d)));
}

void workflow_get(struct request *r)
{
	static const char *const names[] = { "outputs", "step", NULL };
	uint64_t outputs = 1;
	bool bad = false;
	char *step;
	struct err e = { 0 };
	json_t *o;

	if (!request_query_only(r, names) || !request_query_number(r, "outputs", 1, &outputs))
		return;
	step = request_query(r, "step", &bad);
	if (bad)
		return;
	o = workflow_json(r->d, r->param[0], false, &e);
	if (o)
		json_object_set_new(o, "steps",
				    workflow_steps(r->d, json_text(o, "id"), outputs, step));
	if (!outputs)
		json_object_del(o, "output");
	if (o)
		reply_json(r, 200, o);
	else
		reply_err(r, &e);
	free(step);
}

void workflow_delete(struct request *r)
{
	struct err e = { 0 };

	if (workflow_remove(r->d, r->param[0], &e) < 0)
		reply_err(r, &e);
	else
		reply_nothing(r);
}

void workflow_cancel_post(struct request *r)
{
	static const char *const names[] = { "rollback", NULL };
	uint64_t undo = 1;
	struct err e = { 0 };

	if (!request_query_only(r, names) || !request_query_number(r, "rollback", 1, &undo))
		return;
	if (workflow_cancel(r->d, r->param[0], undo, &e) < 0)
		reply_err(r, &e);
	else
		run_reply(r, 200, r->param[0], false);
}

/* ---- waiting ---- */

struct waiting {
	struct op op; /* first */
	struct workflow_wait wait;
	void (*then)(struct request *r, const char *id);
};

static void wait_over(struct workflow_wait *w)
{
	struct waiting *x = container_of(w, struct waiting, wait);
	struct request *r = op_end(&x->op);

	if (r)
		x->then(r, x->wait.id);
	free(x);
}

static void wait_gone(struct op *op)
{
	struct waiting *x = container_of(op, struct waiting, op);

	workflow_wait_remove(&x->wait);
	free(x);
}

/* When the run is over, and the cells that were made for it are gone. */
static void when_settled(struct request *r, void (*then)(struct request *r, const char *id))
{
	struct err e = { 0 };
	json_t *o = workflow_json(r->d, r->param[0], false, &e);
	struct waiting *x;

	if (!o) {
		reply_err(r, &e);
		return;
	}
	if (workflow_is_settled(r->d, json_text(o, "id"))) {
		then(r, json_text(o, "id"));
	} else {
		x = xalloc(sizeof(*x));
		x->op.gone = wait_gone;
		x->then = then;
		workflow_wait_add(&x->wait, json_text(o, "id"), wait_over);
		op_begin(r, &x->op);
	}
	json_decref(o);
}

static void wait_reply(struct request *r, const char *id)
{
	run_reply(r, 200, id, false);
}

void workflow_wait_get(struct request *r)
{
	when_settled(r, wait_reply);
}

static void retry_begin(struct request *r, const char *id)
{
	struct err e = { 0 };

	if (workflow_retry(r->d, id, &e) < 0)
		reply_err(r, &e);
	else
		run_reply(r, 200, id, false);
}

void workflow_retry_post(struct request *r)
{
	struct err e = { 0 };
	json_t *o = workflow_json(r->d, r->param[0], false, &e);

	if (!o)
		reply_err(r, &e);
	else if (!workflow_is_over(r->d, json_text(o, "id")))
		reply_error(r, ERR_WRONG_STATE, "the run is not over");
	else
		when_settled(r, retry_begin);
	json_decref(o);
}

/* ---- programs ---- */

void workflow_code_post(struct request *r)
{
	static const struct field fields[] = { { "name", FIELD_TEXT, true },
					       { "id", FIELD_TEXT, false },
					       { "inputs", FIELD_OBJECT, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	struct err e = { 0 };
	char id[17];

	if (!o)
		return;
	if (code_start(r->d, json_text(o, "id"), json_text(o, "name"),
		       json_incref(json_object_get(o, "inputs")), id, &e) < 0)
		reply_err(r, &e);
	else
		run_reply(r, 200, id, false);
	json_decref(o);
}

static double lease_of(const json_t *o)
{
	double s = json_number_value(json_object_get(o, "lease_seconds"));

	return s > 0 ? MIN(s, LEASE_MAX) : LEASE_DEFAULT;
}

void workflow_claim_post(struct request *r)
{
	static const struct field fields[] = { { "step", FIELD_TEXT, true },
					       { "lease_seconds", FIELD_NUMBER, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields)), *claim;
	struct err e = { 0 };

	if (!o)
		return;
	claim = code_claim(r->d, r->param[0], json_text(o, "step"), lease_of(o), &e);
	if (claim)
		reply_json(r, 200, claim);
	else
		reply_err(r, &e);
	json_decref(o);
}

void workflow_renew_post(struct request *r)
{
	static const struct field fields[] = { { "step", FIELD_TEXT, true },
					       { "lease", FIELD_TEXT, true },
					       { "lease_seconds", FIELD_NUMBER, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	struct err e = { 0 };

	if (!o)
		return;
	if (code_renew(r->d, r->param[0], json_text(o, "step"), json_text(o, "lease"), lease_of(o),
		       &e) < 0)
		reply_err(r, &e);
	else
		reply_nothing(r);
	json_decref(o);
}

/* A member that may be of any type is not in a table of fields. The caller's. */
static json_t *any_take(json_t *o, const char *name)
{
	json_t *v = json_incref(json_object_get(o, name));

	json_object_del(o, name);
	return v;
}

/* Of a step, or (without one) of the run. */
void workflow_finish_post(struct request *r)
{
	static const struct field fields[] = { { "step", FIELD_TEXT, false },
					       { "lease", FIELD_TEXT, false },
					       { "error", FIELD_TEXT, false },
					       { "again", FIELD_BOOL, false } };
	json_t *o = request_object(r), *output;
	const char *step, *error;
	struct err e = { 0 };
	int err;

	if (!o)
		return;
	output = any_take(o, "output");
	if (fields_check(o, fields, ARRAY_LEN(fields), "", &e) < 0) {
		json_decref(output);
		json_decref(o);
		reply_err(r, &e);
		return;
	}
	step = json_text(o, "step");
	error = json_text(o, "error");
	if (step)
		err = code_finish(r->d, r->param[0], step, json_text(o, "lease"), output, error,
				  json_is_true(json_object_get(o, "again")), &e);
	else
		err = code_over(r->d, r->param[0], output, error, &e);
	if (err < 0)
		reply_err(r, &e);
	else
		reply_nothing(r);
	json_decref(o);
}
