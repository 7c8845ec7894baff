/* A run of a workflow (docs/workflows.md): one that a project declares, by its name, or a file. The
 * text of the file is part of the schedule; files that it names are read at each run.
 *
 * The id of the workflow's run (live: run) is written before it is started: a vivd that comes later
 * finds it, or starts it under the same id. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/schedules/private.h"
#include "daemon/workflows/defs.h"
#include "daemon/workflows/inputs.h"
#include "daemon/workflows/workflows.h"

static const struct field workflow_fields[] = {
	{ "yaml", FIELD_TEXT, false },	   { "name", FIELD_TEXT, false },
	{ "file", FIELD_TEXT, false },	   { "dir", FIELD_TEXT, false },
	{ "inputs", FIELD_OBJECT, false }, { "arguments", FIELD_MAP, false }
};

struct run_wait {
	struct workflow_wait w; /* first */
	struct cron_run *r;
};

static int workflow_check(struct daemon *d, json_t *spec, struct schedule *s, struct err *e)
{
	static const char *const others[] = { "cell", "session", "env", "workdir", "user" };
	const json_t *o = json_object_get(spec, "workflow");
	json_t *doc, *given = NULL, *inputs = NULL;

	(void)s;
	for (unsigned i = 0; i < ARRAY_LEN(others); i++)
		if (json_object_get(spec, others[i]))
			return err_set(e, ERR_INVALID, "'%s' cannot be given with 'workflow'",
				       others[i]);
	if (fields_check(o, workflow_fields, ARRAY_LEN(workflow_fields), "workflow.", e) < 0)
		return -1;
	doc = workflow_doc(d, o, e);
	if (doc)
		given = inputs_given(doc, o, e);
	if (given)
		inputs = inputs_make(json_object_get(json_object_get(doc, "main"), "inputs"), given,
				     e);
	json_decref(given);
	json_decref(doc);
	json_decref(inputs);
	return inputs ? 0 : -1;
}

static const char *id_of(const struct cron_run *r)
{
	return json_text(r->live, "run");
}

/* It is over; or it is gone. */
static void over(struct cron_run *r)
{
	struct err e = { 0 };
	json_t *o = workflow_json(r->d, id_of(r), false, &e);
	const char *state = json_text(o, "state");
	bool done = state && !strcmp(state, "done");
	const json_t *output = json_object_get(o, "output");
	char *text = NULL;

	if (json_is_string(output))
		run_output(r, json_string_value(output), json_string_length(output));
	else if (output && !json_is_null(output))
		text = json_dumps(output, JSON_COMPACT | JSON_ENCODE_ANY);
	if (text)
		run_output(r, text, strlen(text));
	free(text);
	if (o && !done) {
		if (json_object_get(o, "error"))
			json_err_get(json_object_get(o, "error"), &e);
		else
			err_note(&e, ERR_FAILED, "the workflow was %s", state);
	}
	json_decref(o);
	run_end(r, r->timed_out ? 124 : done ? 0 : 1, e.kind ? &e : NULL);
}

static void on_over(struct workflow_wait *w)
{
	struct run_wait *x = (struct run_wait *)(void *)w;
	struct cron_run *r = x->r;

	r->workflow = NULL;
	free(x);
	over(r);
}

/* -1: it ended, or is tried again later. */
static int begin(struct cron_run *r)
{
	char id[17];
	struct err e = { 0 };
	json_t *doc, *inputs;

	if (!id_of(r)) {
		random_hex(id, 8);
		json_object_set_new(r->live, "run", json_string(id));
		if (run_save(r, RUN_STARTING) < 0) {
			json_object_clear(r->live);
			run_later(r);
			return -1;
		}
	}
	snprintf(id, sizeof(id), "%s", id_of(r));
	doc = workflow_doc(r->d, json_object_get(r->spec, "workflow"), &e);
	inputs = doc ? inputs_given(doc, json_object_get(r->spec, "workflow"), &e) : NULL;
	if (doc && !inputs)
		json_decref(doc);
	if (inputs && workflow_start(r->d, doc, inputs, "cron", id, &e) == 0)
		return 0;
	if (e.kind == ERR_STORAGE)
		run_later(r);
	else
		run_end(r, -1, &e);
	return -1;
}

static void workflow_step(struct cron_run *r)
{
	struct run_wait *x;

	if (r->workflow || (r->state != RUN_RUNNING && begin(r) < 0))
		return;
	if (r->state != RUN_RUNNING)
		(void)!run_save(r, RUN_RUNNING);
	if (workflow_is_settled(r->d, id_of(r))) {
		over(r);
		return;
	}
	x = xalloc(sizeof(*x));
	x->r = r;
	r->workflow = x;
	workflow_wait_add(&x->w, id_of(r), on_over);
}

static void workflow_end(struct cron_run *r)
{
	struct err e = { 0 };

	if (id_of(r) && workflow_cancel(r->d, id_of(r), true, &e) == 0)
		return;
	if (!r->workflow)
		run_end(r, -1, &e);
}

static void workflow_unfollow(struct cron_run *r)
{
	struct run_wait *x = r->workflow;

	if (x)
		workflow_wait_remove(&x->w);
	r->workflow = NULL;
	free(x);
}

const struct action action_workflow = { .field = "workflow",
					.check = workflow_check,
					.step = workflow_step,
					.stop = workflow_end,
					.forget = workflow_unfollow };
