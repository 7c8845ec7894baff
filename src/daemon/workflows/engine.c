/* See engine.h: the transitions.
 *
 * Nodes with something to decide are in the run's list of work; each is taken out, moved by one
 * step, and puts others in: its parent when it is over, its children when it begins. So nothing
 * recurses, and after WF_ROUND of them the transaction ends and the rest is done in the next one.
 * What a killed vivd leaves in between is found by wf_resume: whatever runs and has no child that
 * does is looked at again. */
#include "daemon/workflows/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/expr.h"
#include "daemon/workflows/inputs.h"
#include "daemon/workflows/tree.h"

static void work_add(struct wf_node *n)
{
	if (list_is_empty(&n->work))
		list_append(&n->run->work, &n->work);
}

static void effect_add(struct wf_node *n, bool stop)
{
	n->stop = stop;
	if (list_is_empty(&n->effect))
		list_append(&n->run->effects, &n->effect);
}

/* What a step says about itself; an item of a foreach, or what undoes a step, says nothing. */
static const json_t *own_def(const struct wf_node *n)
{
	return !n->parent || n->parent->kind == WF_FOREACH || n->parent->kind == WF_ROLLBACK
		       ? NULL
		       : n->def;
}

static int64_t seconds_ns(double s)
{
	return s > 0 && s < 4e8 ? (int64_t)(s * (double)NSEC_PER_SEC) : 0;
}

/* ---- the end of a node ---- */

static void node_over(struct wf_node *n, enum wf_state state)
{
	struct wf_run *r = n->run;
	bool was_active = !wf_is_over(n);

	n->state = state;
	n->ended = r->ops->now(r);
	n->over_n = ++r->nover;
	n->due = 0;
	n->ending = false;
	node_set(&n->args, NULL);
	r->ops->save(n);
	if (wf_is_leaf(n) && state != WF_SKIPPED)
		r->ops->attempt(n);
	if (own_def(n))
		r->ops->told(r, n, "step");
	if (n->timer)
		r->ops->timer(n, 0);
	if (!n->parent) {
		work_add(n);
		return;
	}
	if (was_active)
		n->parent->nactive--;
	if (state == WF_FAILED)
		n->parent->failed = n;
	work_add(n->parent);
}

static void node_fail(struct wf_node *n, const struct err *e, bool final)
{
	const json_t *retry = json_object_get(own_def(n), "retry");
	unsigned count = (unsigned)def_number(retry, "count");
	double wait = def_number(retry, "backoff"), most = def_number(retry, "max");

	node_set(&n->error, json_err(e));
	if (final || n->attempt > count) {
		node_over(n, WF_FAILED);
		return;
	}
	wait = MIN(wait * exp2((double)MIN(n->attempt - 1, 30u)), most > 0 ? most : 3600.0);
	n->state = WF_RETRY;
	n->ending = false;
	n->ended = n->run->ops->now(n->run);
	n->due = n->ended + seconds_ns(wait);
	node_set(&n->args, NULL);
	if (wf_is_leaf(n)) {
		n->run->ops->attempt(n);
		node_set(&n->live, json_object());
	}
	n->run->ops->save(n);
	effect_add(n, false);
}

static void node_done(struct wf_node *n, json_t *result)
{
	size_t bytes = json_dumpb(result, NULL, 0, JSON_COMPACT);
	struct err e;

	if (bytes > WF_RESULT_MAX || n->run->bytes + bytes > WF_RUN_BYTES) {
		json_decref(result);
		if (bytes > WF_RESULT_MAX)
			err_note(&e, ERR_TOO_LARGE, "the result has more than %u bytes",
				 WF_RESULT_MAX);
		else
			err_note(&e, ERR_TOO_LARGE,
				 "the results of all steps have more than %u bytes", WF_RUN_BYTES);
		node_fail(n, &e, true);
		return;
	}
	n->run->bytes += bytes;
	node_set(&n->result, result);
	node_set(&n->error, NULL);
	node_over(n, WF_DONE);
}

/* Everything in it that is not over, and itself with self. */
static void subtree_cancel(struct wf_node *top, bool self)
{
	struct wf_run *r = top->run;
	struct wf_node *n;

	list_for_each(n, &r->nodes, all) {
		const struct wf_node *up = n;

		while (up && up != top)
			up = up->parent;
		if (!up || (n == top && !self) || wf_is_over(n))
			continue;
		if (n->work_of || n->timer || (wf_is_leaf(n) && n->state == WF_RUNNING))
			effect_add(n, true);
		node_over(n, WF_CANCELLED);
	}
}

/* ---- expressions ---- */

/* The values of what are paths only, now; NULL: a process has to evaluate them. */
static json_t *paths_evaluate(const json_t *exprs, const json_t *context)
{
	json_t *values = json_array(), *v;
	const json_t *expr;
	size_t i;

	json_array_foreach(exprs, i, expr) {
		v = expr_path(json_string_value(expr), context);
		if (!v) {
			json_decref(values);
			return NULL;
		}
		json_array_append_new(values, v);
	}
	return values;
}

/* What is to be evaluated of a step: its condition, then its own texts. */
static json_t *exprs_of(const struct wf_node *n)
{
	const char *cond = json_text(own_def(n), "if"), *bad;
	json_t *list = json_array();

	if (n->ending)
		(void)!expr_collect(json_object_get(workflow_def(n->run,
								 json_text(n->def, "workflow")),
						    "outputs"),
				    list, &bad);
	else if (cond)
		json_array_append_new(list, json_string(cond));
	if (!n->ending && own_def(n))
		(void)!expr_collect(json_object_get(n->def, "args"), list, &bad);
	return list;
}

static void node_begin(struct wf_node *n, const json_t *values);
static void outputs_take(struct wf_node *n, const json_t *values);

static void node_evaluate(struct wf_node *n)
{
	json_t *exprs = exprs_of(n), *context, *values;

	context = json_array_size(exprs) ? wf_context(n, n->ending) : NULL;
	values = paths_evaluate(exprs, context);
	if (!values)
		effect_add(n, false);
	else if (n->ending)
		outputs_take(n, values);
	else
		node_begin(n, values);
	json_decref(values);
	json_decref(context);
	json_decref(exprs);
}

/* ---- the beginning ---- */

static void deadline_set(struct wf_node *n)
{
	int64_t ns = seconds_ns(def_number(own_def(n), "timeout"));

	/* A command is ended by its cell's keeper; this is for what comes before it. */
	if (ns)
		n->due = n->started + ns + (n->kind == WF_RUN ? 5 * NSEC_PER_SEC : 0);
}

static int sleep_begin(struct wf_node *n, struct err *e)
{
	const json_t *v = json_object_get(n->args, "sleep");

	if (!json_is_number(v) || !(json_number_value(v) >= 0) || json_number_value(v) > 3.2e8)
		return err_set(e, ERR_INVALID, "'sleep' is a number of seconds");
	n->due = n->started + seconds_ns(json_number_value(v));
	return 0;
}

static int foreach_begin(struct wf_node *n, struct err *e)
{
	json_t *items = json_object_get(n->args, "foreach");

	if (!json_is_array(items))
		return err_set(e, ERR_INVALID, "'foreach' is not a list");
	if (json_array_size(items) > WF_ITEMS_MAX)
		return err_set(e, ERR_TOO_MANY, "'foreach' has %zu items, more than %d",
			       json_array_size(items), WF_ITEMS_MAX);
	if (json_dumpb(items, NULL, 0, JSON_COMPACT) > WF_RESULT_MAX)
		return err_set(e, ERR_TOO_LARGE, "the items of 'foreach' have more than %u bytes",
			       WF_RESULT_MAX);
	json_object_set(n->live, "items", items);
	return 0;
}

static int workflow_begin(struct wf_node *n, struct err *e)
{
	const json_t *def = workflow_def(n->run, json_text(n->def, "workflow"));
	json_t *inputs;

	if (!n->parent)
		return 0;
	inputs = inputs_make(json_object_get(def, "inputs"), json_object_get(n->args, "with"), e);
	if (!inputs)
		return -1;
	json_object_set_new(n->live, "inputs", inputs);
	return 0;
}

static int kind_begin(struct wf_node *n, struct err *e)
{
	switch (n->kind) {
	case WF_SLEEP:
		return sleep_begin(n, e);
	case WF_FOREACH:
		return foreach_begin(n, e);
	case WF_WORKFLOW:
		return workflow_begin(n, e);
	default:
		return 0;
	}
}

static bool is_true(const json_t *v)
{
	return v && !json_is_null(v) && !json_is_false(v);
}

/* Its expressions have these values. */
static void node_begin(struct wf_node *n, const json_t *values)
{
	const json_t *def = own_def(n);
	bool has_cond = json_text(def, "if"), cond = true;
	size_t at = 0;
	struct err e = { 0 };

	if (has_cond)
		cond = is_true(json_array_get(values, at++));
	if (!cond && n->kind != WF_IF) {
		node_over(n, WF_SKIPPED);
		return;
	}
	if (n->kind == WF_IF) {
		json_object_set_new(n->live, "branch", json_string(cond ? "then" : "else"));
		node_steps(n);
	}
	node_set(&n->args, def && json_object_get(def, "args")
				   ? expr_fill(json_object_get(def, "args"), values, &at)
				   : json_object());
	n->state = WF_RUNNING;
	n->attempt++;
	n->started = n->run->ops->now(n->run);
	n->ended = n->due = 0;
	deadline_set(n);
	if (kind_begin(n, &e) < 0) {
		node_fail(n, &e, true);
		return;
	}
	n->run->ops->save(n);
	if (wf_is_leaf(n) || n->due)
		effect_add(n, false);
	if (!wf_is_leaf(n))
		work_add(n);
}

/* ---- what has steps in it ---- */

static void outputs_take(struct wf_node *n, const json_t *values)
{
	const json_t *outputs =
		json_object_get(workflow_def(n->run, json_text(n->def, "workflow")), "outputs");
	size_t at = 0;

	n->ending = false;
	node_done(n, json_pack("{s:o}", "output", expr_fill(outputs, values, &at)));
}

static void group_done(struct wf_node *n)
{
	json_t *output;
	struct err e;

	if (n->kind == WF_WORKFLOW &&
	    json_object_get(workflow_def(n->run, json_text(n->def, "workflow")), "outputs")) {
		n->ending = true;
		node_evaluate(n);
		return;
	}
	output = node_output(n);
	if (output) {
		node_done(n, json_pack("{s:o}", "output", output));
		return;
	}
	err_note(&e, ERR_TOO_LARGE, "the outputs of its steps have more than %u bytes",
		 WF_RESULT_MAX);
	node_fail(n, &e, true);
}

static void group_failed(struct wf_node *n)
{
	struct err e = { 0 };

	json_err_get(n->failed->error, &e);
	/* The message of an item or a branch is that of the step in it. */
	if (n->failed->kind != WF_STEPS || own_def(n->failed))
		if (wf_is_leaf(n->failed))
			err_wrap(&e, "step '%s' failed", n->failed->path);
	subtree_cancel(n, false);
	node_fail(n, &e, false);
}

static unsigned at_once(const struct wf_node *n)
{
	double max = def_number(n->def, "max");

	if (n->kind == WF_PARALLEL)
		return max > 0 ? (unsigned)max : WF_PARALLEL_MAX;
	return n->kind == WF_FOREACH && max > 0 ? (unsigned)max : 1;
}

static void group_step(struct wf_node *n)
{
	int64_t total = node_total(n);
	struct err e;

	if (n->failed && n->kind != WF_ROLLBACK) {
		group_failed(n);
		return;
	}
	while (n->nactive < at_once(n) && n->next < total) {
		struct wf_node *child = node_child(n, n->next);

		if (!child) {
			err_note(&e, ERR_TOO_MANY, "the workflow has more than %d steps",
				 WF_STEPS_MAX);
			subtree_cancel(n, false);
			node_fail(n, &e, true);
			return;
		}
		child->state = WF_READY;
		n->run->ops->save(child);
		work_add(child);
	}
	if (!n->nactive && n->next >= total && !n->ending)
		group_done(n);
}

/* ---- the end of a run ---- */

static void run_over(struct wf_run *r, enum wf_run_state state)
{
	r->state = state;
	r->ended = r->ops->now(r);
	r->ops->save_run(r);
	r->ops->told(r, NULL, wf_run_state_name(state));
}

static void rollback_begin(struct wf_run *r)
{
	r->rollback = node_new(r, NULL, "~", WF_ROLLBACK, NULL, 0);
	if (!r->rollback) {
		run_over(r, r->cancelled ? WF_RUN_CANCELLED : WF_RUN_FAILED);
		return;
	}
	r->state = WF_RUN_ROLLBACK;
	r->undone = true;
	r->ops->save_run(r);
	r->rollback->state = WF_RUNNING;
	r->rollback->attempt = 1;
	r->rollback->started = r->ops->now(r);
	r->ops->save(r->rollback);
	work_add(r->rollback);
}

static void root_over(struct wf_node *n)
{
	struct wf_run *r = n->run;

	if (wf_run_is_over(r) || (r->rollback && n != r->rollback))
		return;
	if (n == r->rollback) {
		run_over(r, r->cancelled ? WF_RUN_CANCELLED : WF_RUN_FAILED);
		return;
	}
	node_set(&r->error, json_incref(n->error));
	if (n->state == WF_DONE) {
		run_over(r, WF_RUN_DONE);
		return;
	}
	undo_collect(r);
	if (r->nundo)
		rollback_begin(r);
	else
		run_over(r, WF_RUN_FAILED);
}

/* ---- transactions ---- */

static void work_do(struct wf_node *n)
{
	if (wf_is_over(n)) {
		if (!n->parent)
			root_over(n);
	} else if (n->state == WF_READY) {
		node_evaluate(n);
	} else if (n->state == WF_RUNNING && !wf_is_leaf(n)) {
		group_step(n);
	}
}

/* Of a leaf that runs since before this process. False: a process evaluates them, and wf_evaluated
 * follows. */
static bool args_again(struct wf_node *n)
{
	json_t *exprs = exprs_of(n), *context = wf_context(n, false);
	json_t *values = paths_evaluate(exprs, context);
	size_t at = json_text(own_def(n), "if") ? 1 : 0;

	if (values) {
		node_set(&n->args, expr_fill(json_object_get(n->def, "args"), values, &at));
		json_decref(exprs);
		json_decref(context);
		json_decref(values);
		return true;
	}
	n->run->ops->evaluate(n, context, exprs);
	return false;
}

static void effect_do(struct wf_node *n)
{
	const struct wf_ops *ops = n->run->ops;
	json_t *exprs;

	if (n->stop || wf_is_over(n)) {
		n->stop = false;
		ops->stop(n);
		ops->timer(n, 0);
		/* Tried again meanwhile: by the transaction that this follows. */
		if (wf_is_over(n))
			return;
	}
	if (n->due && n->state != WF_READY)
		ops->timer(n, n->due);
	if (n->state == WF_READY || n->ending) {
		exprs = exprs_of(n);
		ops->evaluate(n, wf_context(n, n->ending), exprs);
	} else if (n->state == WF_RUNNING && wf_is_leaf(n) && n->kind != WF_SLEEP) {
		if (n->args || args_again(n))
			ops->start(n);
	}
}

static void run_begin(struct wf_run *r)
{
	r->depth++;
	r->ops->begin(r);
}

static void run_end(struct wf_run *r)
{
	bool over;

	for (unsigned i = 0; i < WF_ROUND && !list_is_empty(&r->work); i++) {
		struct wf_node *n = list_first(&r->work, struct wf_node, work);

		list_remove(&n->work);
		work_do(n);
	}
	over = wf_run_is_over(r);
	r->depth--;
	if (r->ops->end(r) < 0)
		r->lost = true;
	while (!r->lost && !list_is_empty(&r->effects)) {
		struct wf_node *n = list_first(&r->effects, struct wf_node, effect);

		list_remove(&n->effect);
		effect_do(n);
	}
	if (!r->lost && !list_is_empty(&r->work))
		r->ops->later(r);
	else if (over || r->lost)
		r->ops->over(r);
}

void wf_begin(struct wf_run *r)
{
	run_begin(r);
	r->root = node_new(r, NULL, "", WF_WORKFLOW, workflow_def(r, NULL), 0);
	r->root->state = WF_READY;
	r->ops->save(r->root);
	r->ops->told(r, NULL, "started");
	work_add(r->root);
	run_end(r);
}

void wf_go_on(struct wf_run *r)
{
	if (r->lost)
		return;
	run_begin(r);
	run_end(r);
}

void wf_resume(struct wf_run *r)
{
	struct wf_node *n;

	if (!r->root) { /* it was written, and nothing else */
		wf_begin(r);
		return;
	}
	run_begin(r);
	list_for_each(n, &r->nodes, all) {
		r->bytes += n->result ? json_dumpb(n->result, NULL, 0, JSON_COMPACT) : 0;
		if (wf_is_over(n)) {
			if (!n->parent)
				work_add(n);
			continue;
		}
		if (n->state == WF_READY || (n->state == WF_RUNNING && !wf_is_leaf(n)))
			work_add(n);
		if (n->state == WF_RETRY || n->due || (n->state == WF_RUNNING && wf_is_leaf(n)))
			effect_add(n, false);
	}
	run_end(r);
}

/* ---- what ops tell ---- */

void wf_evaluated(struct wf_node *n, json_t *values, const struct err *e)
{
	struct wf_run *r = n->run;

	if (r->lost) {
		json_decref(values);
		return;
	}
	run_begin(r);
	if (!values)
		node_fail(n, e, true);
	else if (n->ending)
		outputs_take(n, values);
	else if (n->state == WF_READY)
		node_begin(n, values);
	else if (n->state == WF_RUNNING && wf_is_leaf(n)) {
		/* It runs since before this process: only its arguments were missing. */
		size_t at = json_text(own_def(n), "if") ? 1 : 0;

		node_set(&n->args, expr_fill(json_object_get(n->def, "args"), values, &at));
		effect_add(n, false);
	}
	json_decref(values);
	run_end(r);
}

void wf_finished(struct wf_node *n, json_t *result)
{
	struct wf_run *r = n->run;

	if (r->lost) {
		json_decref(result);
		return;
	}
	run_begin(r);
	if (n->state == WF_RUNNING)
		node_done(n, result);
	else
		json_decref(result);
	run_end(r);
}

void wf_failed(struct wf_node *n, json_t *result, const struct err *e, bool final)
{
	struct wf_run *r = n->run;
	size_t bytes = result ? json_dumpb(result, NULL, 0, JSON_COMPACT) : 0;

	/* What a step printed before it failed is kept if there is room. */
	if (r->lost || r->bytes + bytes > WF_RUN_BYTES) {
		json_decref(result);
		result = NULL;
	}
	if (r->lost)
		return;
	run_begin(r);
	if (result) {
		r->bytes += bytes;
		node_set(&n->result, result);
	}
	if (n->state == WF_RUNNING)
		node_fail(n, e, final);
	run_end(r);
}

int wf_live(struct wf_node *n, json_t *live)
{
	struct wf_run *r = n->run;
	int ret;

	r->ops->begin(r);
	node_set(&n->live, live);
	r->ops->save(n);
	ret = r->ops->end(r);
	if (ret < 0)
		r->lost = true;
	if (ret < 0 && !r->depth)
		r->ops->over(r);
	return ret;
}

/* A failed group is tried again: what is done in it stays so. */
static void subtree_reset(struct wf_node *top)
{
	struct wf_run *r = top->run;
	struct wf_node *n;

	list_for_each(n, &r->nodes, all) {
		const struct wf_node *up = n;

		while (up && up != top)
			up = up->parent;
		if (!up || (n != top && n->state != WF_FAILED && n->state != WF_CANCELLED))
			continue;
		if (n->parent && n != top)
			n->parent->nactive++;
		n->failed = NULL;
		n->ending = false;
		n->over_n = n->due = n->ended = 0;
		if (n != top)
			n->attempt = 0;
		node_set(&n->error, NULL);
		if (wf_is_leaf(n))
			node_set(&n->live, json_object());
		/* A group whose items are known goes on with them. */
		n->state = !wf_is_leaf(n) && n->started ? WF_RUNNING : WF_READY;
		if (n->state == WF_RUNNING && n != top) {
			n->attempt = 1;
			n->started = r->ops->now(r);
			deadline_set(n);
			if (n->due)
				effect_add(n, false);
		}
		r->ops->save(n);
		work_add(n);
	}
}

static void node_retry(struct wf_node *n)
{
	if (wf_is_leaf(n)) {
		n->state = WF_READY;
		n->due = 0;
		n->run->ops->save(n);
		work_add(n);
		return;
	}
	subtree_reset(n);
	n->attempt++;
	n->state = WF_RUNNING;
	n->started = n->run->ops->now(n->run);
	deadline_set(n);
	n->run->ops->save(n);
	if (n->due)
		effect_add(n, false);
}

void wf_timer(struct wf_node *n)
{
	struct wf_run *r = n->run;
	struct err e;

	if (wf_is_over(n) || !n->due || r->lost)
		return;
	run_begin(r);
	if (n->state == WF_RETRY) {
		node_retry(n);
	} else if (n->kind == WF_SLEEP && n->state == WF_RUNNING) {
		node_done(n, json_pack("{s:n}", "output"));
	} else if (n->state == WF_RUNNING) {
		err_note(&e, ERR_FAILED, "it took longer than %g s",
			 def_number(own_def(n), "timeout"));
		if (!wf_is_leaf(n))
			subtree_cancel(n, false);
		node_fail(n, &e, false);
		effect_add(n, true);
	}
	run_end(r);
}

void wf_cancel(struct wf_run *r, bool undo)
{
	if (wf_run_is_over(r) || r->lost)
		return;
	run_begin(r);
	subtree_cancel(r->root, true);
	r->cancelled = true;
	if (r->rollback)
		subtree_cancel(r->rollback, true);
	else if (undo)
		undo_collect(r);
	if (!r->rollback && r->nundo)
		rollback_begin(r);
	else
		run_over(r, WF_RUN_CANCELLED);
	run_end(r);
}

int wf_retry(struct wf_run *r, struct err *e)
{
	if (r->state != WF_RUN_FAILED && r->state != WF_RUN_CANCELLED)
		return err_set(e, ERR_WRONG_STATE, "the run is %s", wf_run_state_name(r->state));
	if (r->undone || !r->root)
		return err_set(e, ERR_WRONG_STATE,
			       "steps of the run were rolled back" REMEDY "start a new run");
	run_begin(r);
	r->state = WF_RUN_RUNNING;
	r->cancelled = false;
	r->ended = 0;
	node_set(&r->error, NULL);
	subtree_reset(r->root);
	r->ops->save_run(r);
	r->ops->told(r, NULL, "started");
	run_end(r);
	return 0;
}
