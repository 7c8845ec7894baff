/* See tree.h. Paths are names separated by '/': "deploy/3/push" is the step push of item 3 of the
 * foreach deploy. The root's is "", that of what is undone begins with "~". */
#include "daemon/workflows/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/state/fields.h"

static const char *const kind_names[WF_KINDS] = {
	[WF_RUN] = "run",	    [WF_PROMPT] = "prompt",	[WF_CELL] = "cell",
	[WF_APPROVE] = "approve",   [WF_SLEEP] = "sleep",	[WF_WORKFLOW] = "workflow",
	[WF_PARALLEL] = "parallel", [WF_FOREACH] = "foreach",	[WF_IF] = "if",
	[WF_STEPS] = "steps",	    [WF_ROLLBACK] = "rollback", [WF_CODE] = "code",
};
static const char *const state_names[WF_STATES] = {
	[WF_READY] = "ready",	      [WF_RUNNING] = "running", [WF_RETRY] = "retry",
	[WF_DONE] = "done",	      [WF_SKIPPED] = "skipped", [WF_FAILED] = "failed",
	[WF_CANCELLED] = "cancelled",
};
static const char *const run_state_names[WF_RUN_STATES] = {
	[WF_RUN_RUNNING] = "running", [WF_RUN_ROLLBACK] = "rollback",	[WF_RUN_DONE] = "done",
	[WF_RUN_FAILED] = "failed",   [WF_RUN_CANCELLED] = "cancelled",
};

const char *wf_kind_name(enum wf_kind k)
{
	return kind_names[k];
}

const char *wf_state_name(enum wf_state s)
{
	return state_names[s];
}

const char *wf_run_state_name(enum wf_run_state s)
{
	return run_state_names[s];
}

bool wf_run_is_over(const struct wf_run *r)
{
	return r->state >= WF_RUN_DONE;
}

bool wf_is_over(const struct wf_node *n)
{
	return n->state >= WF_DONE;
}

bool wf_is_leaf(const struct wf_node *n)
{
	return n->kind <= WF_SLEEP;
}

void node_set(json_t **to, json_t *v)
{
	json_decref(*to);
	*to = v;
}

double def_number(const json_t *def, const char *key)
{
	return json_number_value(json_object_get(def, key));
}

const json_t *workflow_def(const struct wf_run *r, const char *key)
{
	return key ? json_object_get(json_object_get(r->doc, "workflows"), key)
		   : json_object_get(r->doc, "main");
}

static enum wf_kind kind_of(const json_t *def)
{
	const char *name = json_text(def, "kind");

	for (unsigned i = 0; name && i < WF_KINDS; i++)
		if (!strcmp(kind_names[i], name))
			return (enum wf_kind)i;
	return WF_STEPS;
}

/* ---- making them ---- */

struct wf_run *wf_run_new(const struct wf_ops *ops, void *arg, const char *name, json_t *doc,
			  json_t *inputs)
{
	struct wf_run *r = xalloc(sizeof(*r));

	r->ops = ops;
	r->arg = arg;
	r->name = xstrndup(name, strlen(name));
	r->doc = doc;
	r->inputs = inputs;
	r->live = json_object();
	list_init(&r->link);
	list_init(&r->nodes);
	list_init(&r->work);
	list_init(&r->effects);
	return r;
}

static void node_free(struct wf_node *n)
{
	list_remove(&n->link);
	list_remove(&n->all);
	list_remove(&n->work);
	list_remove(&n->effect);
	json_decref(n->live);
	json_decref(n->args);
	json_decref(n->result);
	json_decref(n->error);
	free(n->path);
	free(n);
}

void wf_run_free(struct wf_run *r)
{
	struct wf_node *n;

	list_for_each(n, &r->nodes, all) {
		if (n->work_of)
			r->ops->stop(n);
		if (n->timer)
			r->ops->timer(n, 0);
	}
	/* Children are younger than what they are in. */
	while (!list_is_empty(&r->nodes))
		node_free(list_last(&r->nodes, struct wf_node, all));
	list_remove(&r->link);
	json_decref(r->doc);
	json_decref(r->inputs);
	json_decref(r->live);
	json_decref(r->error);
	free(r->undo);
	free(r->name);
	free(r);
}

void node_steps(struct wf_node *n)
{
	const char *branch = json_text(n->live, "branch");

	if (n->kind == WF_WORKFLOW)
		n->steps = json_object_get(workflow_def(n->run, json_text(n->def, "workflow")),
					   "steps");
	else if (n->kind == WF_IF)
		n->steps = branch ? json_object_get(n->def, branch) : NULL;
	else if (n->kind != WF_ROLLBACK)
		n->steps = json_object_get(n->def, "steps");
}

static struct wf_node *node_alloc(struct wf_run *r, struct wf_node *parent, const char *path,
				  enum wf_kind kind, const json_t *def, int64_t index)
{
	struct wf_node *n = xalloc(sizeof(*n));

	n->run = r;
	n->parent = n->scope = parent;
	n->kind = kind;
	n->def = def;
	n->index = index;
	n->path = xstrndup(path, strlen(path));
	n->name = strrchr(n->path, '/') ? strrchr(n->path, '/') + 1 : n->path;
	n->live = json_object();
	list_init(&n->link);
	list_init(&n->all);
	list_init(&n->work);
	list_init(&n->effect);
	list_init(&n->children);
	if (parent) {
		list_append(&parent->children, &n->link);
		parent->nactive++;
		parent->next = MAX(parent->next, index + 1);
	}
	list_append(&r->nodes, &n->all);
	node_steps(n);
	return n;
}

struct wf_node *node_new(struct wf_run *r, struct wf_node *parent, const char *path,
			 enum wf_kind kind, const json_t *def, int64_t index)
{
	struct wf_node *n;

	if (r->nnodes >= WF_STEPS_MAX)
		return NULL;
	n = node_alloc(r, parent, path, kind, def, index);
	n->n = ++r->nnodes;
	return n;
}

/* The definition of a child; *kind is what it is. NULL: there is none. */
static const json_t *child_def(const struct wf_node *n, int64_t index, enum wf_kind *kind)
{
	const json_t *def;

	if (n->kind == WF_FOREACH) {
		*kind = WF_STEPS;
		return n->def;
	}
	if (n->kind == WF_ROLLBACK) {
		*kind = WF_STEPS;
		return index >= 0 && (size_t)index < n->run->nundo ? n->run->undo[index]->def
								   : NULL;
	}
	def = index < 0 ? NULL : json_array_get(n->steps, (size_t)index);
	if (def)
		*kind = kind_of(def);
	return def;
}

static void scope_set(struct wf_node *n)
{
	struct wf_run *r = n->run;

	if (n->parent && n->parent->kind == WF_ROLLBACK && (size_t)n->index < r->nundo) {
		n->scope = r->undo[n->index];
		n->steps = json_object_get(n->def, "rollback");
	}
}

struct wf_node *node_child(struct wf_node *n, int64_t index)
{
	enum wf_kind kind;
	const json_t *def = child_def(n, index, &kind);
	const char *name = json_text(def, "name");
	struct wf_node *child;
	char path[1024], number[24];

	if (!def)
		return NULL;
	if (n->kind == WF_FOREACH || n->kind == WF_ROLLBACK) {
		snprintf(number, sizeof(number), "%lld", (long long)index);
		name = number;
	}
	if (snprintf(path, sizeof(path), "%s%s%s", n->path, *n->path ? "/" : "", name) >=
	    (int)sizeof(path))
		return NULL;
	child = node_new(n->run, n, path, kind, def, index);
	if (child)
		scope_set(child);
	if (child && n->kind == WF_ROLLBACK)
		json_object_set_new(child->live, "of", json_string(n->run->undo[index]->path));
	return child;
}

int64_t node_total(const struct wf_node *n)
{
	if (n->kind == WF_FOREACH)
		return (int64_t)json_array_size(json_object_get(n->live, "items"));
	if (n->kind == WF_ROLLBACK)
		return (int64_t)n->run->nundo;
	return (int64_t)json_array_size(n->steps);
}

struct wf_node *wf_find(struct wf_run *r, const char *path)
{
	struct wf_node *n;

	list_for_each(n, &r->nodes, all)
		if (!strcmp(n->path, path))
			return n;
	return NULL;
}

/* ---- what was done ---- */

static int undo_compare(const void *a, const void *b)
{
	const struct wf_node *x = *(struct wf_node *const *)a, *y = *(struct wf_node *const *)b;

	return x->over_n < y->over_n ? 1 : x->over_n > y->over_n ? -1 : 0;
}

void undo_collect(struct wf_run *r)
{
	struct buf b = { 0 };
	struct wf_node *n;

	list_for_each(n, &r->nodes, all)
		if (n->state == WF_DONE && n->path[0] != '~' &&
		    json_array_size(json_object_get(n->def, "rollback")) &&
		    !(n->parent && n->parent->kind == WF_FOREACH))
			buf_add(&b, &n, sizeof(n));
	free(r->undo);
	r->nundo = BUF_COUNT(&b, struct wf_node *);
	r->undo = (struct wf_node **)(void *)b.p;
	if (r->nundo)
		qsort(r->undo, r->nundo, sizeof(n), undo_compare);
}

/* ---- reading ---- */

struct wf_node *wf_load(struct wf_run *r, struct wf_row *row)
{
	const char *slash = strrchr(row->path, '/');
	struct wf_node *parent = NULL, *n = NULL;
	const json_t *def = NULL;
	enum wf_kind kind = row->kind;

	if (!*row->path) {
		def = workflow_def(r, NULL);
		kind = WF_WORKFLOW;
	} else if (!strcmp(row->path, "~")) {
		undo_collect(r);
		kind = WF_ROLLBACK;
	} else {
		char *above = xstrndup(row->path, slash ? (size_t)(slash - row->path) : 0);

		/* Most often the one that was read last. */
		if (!list_is_empty(&r->nodes)) {
			struct wf_node *last = list_last(&r->nodes, struct wf_node, all);

			for (; last && !parent; last = last->parent)
				if (!strcmp(last->path, above))
					parent = last;
		}
		/* Or a recent one. */
		for (struct list *l = r->nodes.prev; !parent && l != &r->nodes; l = l->prev)
			if (!strcmp(list_entry(l, struct wf_node, all)->path, above))
				parent = list_entry(l, struct wf_node, all);
		free(above);
		def = parent ? child_def(parent, row->index, &kind) : NULL;
	}
	if ((def || kind == WF_ROLLBACK) && row->state < WF_STATES) {
		n = node_alloc(r, parent, row->path, kind, def, row->index);
		n->n = row->n;
		n->over_n = row->over_n;
		n->attempt = row->attempt;
		n->state = row->state;
		n->started = row->started;
		n->ended = row->ended;
		n->due = row->due;
		n->result = row->result;
		n->error = row->error;
		if (json_is_object(row->live))
			node_set(&n->live, json_incref(row->live));
		node_steps(n);
		scope_set(n);
		r->nnodes = MAX(r->nnodes, n->n);
		r->nover = MAX(r->nover, n->over_n);
		if (wf_is_over(n) && parent)
			parent->nactive--;
		if (n->state == WF_FAILED && parent)
			parent->failed = n;
		if (!parent)
			*(kind == WF_ROLLBACK ? &r->rollback : &r->root) = n;
	} else {
		json_decref(row->result);
		json_decref(row->error);
	}
	json_decref(row->live);
	return n;
}

/* ---- what expressions see ---- */

static json_t *step_context(const struct wf_node *n)
{
	json_t *o = n->result ? json_copy(n->result) : json_object();

	if (!json_object_get(o, "output"))
		json_object_set_new(o, "output", json_null());
	json_object_set_new(o, "state", json_string(state_names[n->state]));
	return o;
}

json_t *wf_context(const struct wf_node *n, bool inside)
{
	const struct wf_node *at, *up, *child;
	json_t *o = json_object(), *steps = json_object();
	const json_t *inputs = n->run->inputs;

	for (at = inside ? NULL : n, up = inside ? n : n->scope; up; at = up, up = at->scope) {
		/* What was done before, in the list that it is in. What it undoes, itself. */
		if (up->kind != WF_PARALLEL && up->kind != WF_FOREACH)
			list_for_each(child, &up->children, link)
				if (wf_is_over(child) && !json_object_get(steps, child->name))
					json_object_set_new(steps, child->name,
							    step_context(child));
		if (at && at->parent != up && wf_is_over(up) && *up->name)
			json_object_set_new(steps, up->name, step_context(up));
		if (at && up->kind == WF_FOREACH && !json_object_get(o, "item")) {
			json_t *item = json_array_get(json_object_get(up->live, "items"),
						      (size_t)at->index);

			json_object_set(o, "item", item ? item : json_null());
			json_object_set_new(o, "index", json_integer(at->index));
		}
		/* A step that names a workflow is itself evaluated outside of it. */
		if (up->kind == WF_WORKFLOW) {
			if (up->parent)
				inputs = json_object_get(up->live, "inputs");
			break;
		}
	}
	json_object_set(o, "inputs", (json_t *)(uintptr_t)inputs);
	json_object_set_new(o, "steps", steps);
	json_object_set_new(o, "run",
			    json_pack("{s:s,s:s}", "id", n->run->id, "name", n->run->name));
	if (n->path[0] == '~')
		json_object_set(o, "error", n->run->error ? n->run->error : json_null());
	return o;
}

static json_t *output_of(const struct wf_node *n)
{
	json_t *v = json_object_get(n->result, "output");

	return v ? v : json_null();
}

json_t *node_output(const struct wf_node *n)
{
	const struct wf_node *child;
	json_t *ret = NULL;
	size_t bytes = 0;

	if (n->kind != WF_FOREACH && n->kind != WF_PARALLEL)
		return json_incref(
			list_is_empty(&n->children)
				? json_null()
				: output_of(list_last(&n->children, struct wf_node, link)));
	ret = n->kind == WF_FOREACH ? json_array() : json_object();
	list_for_each(child, &n->children, link) {
		json_t *v = output_of(child);

		bytes += json_dumpb(v, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY) + 8;
		if (bytes > WF_RESULT_MAX) {
			json_decref(ret);
			return NULL;
		}
		if (json_is_object(ret))
			json_object_set(ret, child->name, v);
		else
			json_array_append(ret, v);
	}
	return ret;
}
