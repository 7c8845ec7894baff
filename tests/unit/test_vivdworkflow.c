/* The engine of workflows, driven by a fake executor: random workflows are compared with a model,
 * and killed after every single commit. The store is a list of rows as text; a kill throws
 * everything away but those. What is done must never be begun again, and every run must end as it
 * would have without the kill. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/engine.h"
#include "daemon/workflows/expr.h"
#include "tap.h"

/* ---- random numbers ---- */

static uint64_t seed;

static unsigned rnd(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

/* How often a leaf fails before it succeeds; 100: always. By its name, so that the model knows. */
static unsigned failures(const json_t *def)
{
	return (unsigned)json_integer_value(json_object_get(def, "fails"));
}

/* ---- random workflows ---- */

static unsigned made, fail_rate;

static json_t *steps_make(unsigned depth);

static json_t *step_make(unsigned depth, const char *before)
{
	char name[24], text[80];
	unsigned kind = depth ? rnd(10) : rnd(4);
	json_t *o = json_object();

	snprintf(name, sizeof(name), "s%u", ++made);
	json_object_set_new(o, "name", json_string(name));
	if (kind < 4) {
		/* Of what was done before, by a path or by a process. */
		snprintf(text, sizeof(text), "${{ %s.steps.%s.output }}", rnd(2) ? "jq " : "",
			 before ? before : "none");
		json_object_set_new(o, "kind", json_string("run"));
		json_object_set_new(o, "args", json_pack("{s:s}", "given", text));
		if (rnd(100) < fail_rate)
			json_object_set_new(o, "fails", json_integer(rnd(3) ? 1 + rnd(2) : 100));
		if (rnd(2))
			json_object_set_new(o, "retry", json_pack("{s:i}", "count", (int)rnd(3)));
	} else if (kind == 4) {
		json_object_set_new(o, "kind", json_string("sleep"));
		json_object_set_new(o, "args", json_pack("{s:i}", "sleep", (int)rnd(3)));
	} else if (kind < 7) {
		json_object_set_new(o, "kind", json_string("parallel"));
		json_object_set_new(o, "steps", steps_make(depth - 1));
		if (rnd(2))
			json_object_set_new(o, "max", json_integer(1 + rnd(3)));
	} else if (kind < 8) {
		json_object_set_new(o, "kind", json_string("foreach"));
		json_object_set_new(o, "args",
				    json_pack("{s:s}", "foreach",
					      rnd(2) ? "${{ .inputs.items }}"
						     : "${{ jq .inputs.items }}"));
		json_object_set_new(o, "steps", steps_make(depth - 1));
		if (rnd(2))
			json_object_set_new(o, "max", json_integer(1 + rnd(3)));
	} else if (kind < 9) {
		json_object_set_new(o, "kind", json_string("if"));
		json_object_set_new(o, "if", json_string(rnd(2) ? ".inputs.yes" : "jq .inputs.no"));
		json_object_set_new(o, "then", steps_make(depth - 1));
		if (rnd(2))
			json_object_set_new(o, "else", steps_make(depth - 1));
	} else {
		json_object_set_new(o, "kind", json_string("workflow"));
		json_object_set_new(o, "workflow", json_string("w"));
		json_object_set_new(o, "args",
				    json_pack("{s:{s:s}}", "with", "items",
					      "${{ .inputs.items }}"));
	}
	if (kind >= 4 && kind < 9 && !rnd(4))
		json_object_set_new(o, "if", json_string(rnd(2) ? ".inputs.yes" : ".inputs.no"));
	if (!rnd(4))
		json_object_set_new(o, "rollback",
				    json_pack("[{s:s,s:s,s:{s:s}}]", "name", "undo", "kind", "run",
					      "args", "given", "${{ .run.id }}"));
	return o;
}

static json_t *steps_make(unsigned depth)
{
	json_t *list = json_array();
	const char *before = NULL;
	unsigned n = 1 + rnd(3);

	for (unsigned i = 0; i < n; i++) {
		json_t *step = step_make(depth, before);

		before = json_text(step, "name");
		json_array_append_new(list, step);
	}
	return list;
}

static json_t *doc_make(void)
{
	json_t *doc = json_object(), *w = json_object();

	made = 0;
	fail_rate = rnd(3) ? 0 : 12;
	json_object_set_new(w, "w",
			    json_pack("{s:{s:{s:s}},s:o,s:s}", "inputs", "items", "type", "array",
				      "steps", steps_make(0), "outputs",
				      "${{ jq .inputs.items }}"));
	json_object_set_new(doc, "workflows", w);
	json_object_set_new(doc, "main",
			    json_pack("{s:s,s:o}", "name", "random", "steps", steps_make(3)));
	return doc;
}

/* ---- the model ---- */

static bool model_steps(const json_t *doc, const json_t *steps, bool par, json_t **ret);

/* Whether it succeeds, and its output. */
static bool model_step(const json_t *doc, const json_t *def, json_t **ret)
{
	const char *kind = json_text(def, "kind"), *cond = json_text(def, "if");
	bool yes = !cond || strstr(cond, "yes"), good = true;

	*ret = json_null();
	if (cond && !yes && strcmp(kind, "if"))
		return true;
	if (!strcmp(kind, "run")) {
		*ret = json_string(json_text(def, "name"));
		return failures(def) <=
		       (unsigned)json_integer_value(
			       json_object_get(json_object_get(def, "retry"), "count"));
	}
	if (!strcmp(kind, "parallel"))
		return model_steps(doc, json_object_get(def, "steps"), true, ret);
	if (!strcmp(kind, "foreach")) {
		*ret = json_array();
		for (int i = 0; i < 3; i++) {
			json_t *v;

			good &= model_steps(doc, json_object_get(def, "steps"), false, &v);
			json_array_append_new(*ret, v);
		}
		return good;
	}
	if (!strcmp(kind, "if"))
		return model_steps(doc, json_object_get(def, yes ? "then" : "else"), false, ret);
	if (!strcmp(kind, "workflow")) {
		const json_t *w = json_object_get(json_object_get(doc, "workflows"), "w");

		good = model_steps(doc, json_object_get(w, "steps"), false, ret);
		json_decref(*ret);
		*ret = json_pack("[i,i,i]", 1, 2, 3);
	}
	return good;
}

static bool model_steps(const json_t *doc, const json_t *steps, bool par, json_t **ret)
{
	const json_t *def;
	bool good = true;
	json_t *v;
	size_t i;

	*ret = par ? json_object() : json_null();
	json_array_foreach(steps, i, def) {
		good &= model_step(doc, def, &v);
		if (par) {
			json_object_set_new(*ret, json_text(def, "name"), v);
		} else {
			json_decref(*ret);
			*ret = v;
		}
	}
	return good;
}

/* ---- the store ---- */

struct row {
	char path[256];
	struct wf_row r;
	char *live, *result, *error;
};

static struct store {
	struct row rows[4096];
	unsigned n;
	enum wf_run_state state;
	bool undone;
	unsigned commits, kill_at; /* 0: never */
	bool dead;
} stored, pending;

static char *dump(const json_t *v)
{
	return v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
}

static json_t *undump(const char *s)
{
	return s ? json_loads(s, JSON_DECODE_ANY, NULL) : NULL;
}

static unsigned violations;
static char why[400];

#define WRONG(...)                                               \
	do {                                                     \
		if (!violations++)                               \
			snprintf(why, sizeof(why), __VA_ARGS__); \
	} while (0)

static struct row *row_find(struct store *s, const char *path)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->rows[i].path, path))
			return &s->rows[i];
	return NULL;
}

static void op_begin(struct wf_run *r)
{
	(void)r;
}

static int op_end(struct wf_run *r)
{
	(void)r;
	if (stored.dead)
		return 0;
	/* Texts belong to whoever is newer; they are never freed in this test. */
	memcpy(stored.rows, pending.rows, pending.n * sizeof(pending.rows[0]));
	stored.n = pending.n;
	stored.state = pending.state;
	stored.undone = pending.undone;
	stored.commits++;
	if (stored.kill_at && stored.commits == stored.kill_at)
		stored.dead = true;
	return 0;
}

static void op_save(struct wf_node *n)
{
	struct row *row = row_find(&pending, n->path);

	if (stored.dead)
		return;
	if (!row) {
		row = &pending.rows[pending.n++];
		snprintf(row->path, sizeof(row->path), "%s", n->path);
	}
	row->r = (struct wf_row){ .n = n->n,
				  .over_n = n->over_n,
				  .index = n->index,
				  .started = n->started,
				  .ended = n->ended,
				  .due = n->due,
				  .attempt = n->attempt,
				  .kind = n->kind,
				  .state = n->state };
	row->live = dump(n->live);
	row->result = dump(n->result);
	row->error = dump(n->error);
}

static void op_save_run(struct wf_run *r)
{
	pending.state = r->state;
	pending.undone = r->undone;
}

static void op_attempt(struct wf_node *n)
{
	(void)n;
}

static void op_told(struct wf_run *r, const struct wf_node *n, const char *what)
{
	(void)r;
	(void)n;
	(void)what;
}

/* ---- the executor ---- */

enum event_kind { EVENT_EVAL, EVENT_LEAF, EVENT_TIMER, EVENT_LATER };
struct event {
	enum event_kind kind;
	struct wf_node *n;
	struct wf_run *r;
	json_t *context, *exprs;
};
static struct event events[4096];
static unsigned nevents, nleaves, most_leaves;
static int64_t now;

static struct event *event_add(enum event_kind kind, struct wf_node *n, struct wf_run *r)
{
	struct event *e = &events[nevents++];

	*e = (struct event){ .kind = kind, .n = n, .r = r };
	return e;
}

static void events_drop(struct wf_node *n, bool timers)
{
	for (unsigned i = 0; i < nevents; i++)
		if (events[i].n == n && (events[i].kind == EVENT_TIMER) == timers) {
			nleaves -= events[i].kind == EVENT_LEAF;
			json_decref(events[i].context);
			json_decref(events[i].exprs);
			events[i--] = events[--nevents];
		}
}

static void op_evaluate(struct wf_node *n, json_t *context, json_t *exprs)
{
	struct event *e = event_add(EVENT_EVAL, n, n->run);

	n->work_of = n;
	e->context = context;
	e->exprs = exprs;
}

/* What it was given is the output of the step before, which is in the rows. */
static void args_check(const struct wf_node *n)
{
	const json_t *given = json_object_get(n->args, "given");
	const char *text = json_text(json_object_get(n->def, "args"), "given"), *at;
	const struct wf_node *before;
	char want[64];

	if (!n->args || !given) {
		WRONG("'%s' has no arguments", n->path);
		return;
	}
	at = text ? strstr(text, ".steps.") : NULL;
	if (!at || !strncmp(at, ".steps.none", 11))
		return;
	sscanf(at + 7, "%63[^.]", want);
	/* Groups have the output of what is in them. */
	list_for_each(before, &n->scope->children, link)
		if (!strcmp(before->name, want) && before->kind != WF_RUN)
			return;
	if (n->scope->kind == WF_PARALLEL
		    ? !json_is_null(given)
		    : !json_is_string(given) || strcmp(json_string_value(given), want))
		WRONG("'%s' was given %s and not %s", n->path,
		      json_is_string(given) ? json_string_value(given) : "nothing", want);
}

static void op_start(struct wf_node *n)
{
	struct row *row = row_find(&stored, n->path);

	if (stored.dead)
		return;
	if (n->work_of)
		return;
	if (!row || row->r.state != WF_RUNNING)
		WRONG("'%s' was started, but its row does not say so", n->path);
	if (row && row->r.state >= WF_DONE)
		WRONG("'%s' was started again", n->path);
	args_check(n);
	n->work_of = n;
	nleaves++;
	most_leaves = MAX(most_leaves, nleaves);
	event_add(EVENT_LEAF, n, n->run);
}

static void op_stop(struct wf_node *n)
{
	events_drop(n, false);
	n->work_of = NULL;
}

static void op_timer(struct wf_node *n, int64_t at)
{
	events_drop(n, true);
	n->timer = NULL;
	if (at) {
		n->timer = n;
		event_add(EVENT_TIMER, n, n->run);
	}
}

static bool over, later;

static void op_later(struct wf_run *r)
{
	(void)r;
	later = true;
}

static void op_over(struct wf_run *r)
{
	(void)r;
	over = true;
}

static int64_t op_now(struct wf_run *r)
{
	(void)r;
	return ++now;
}

static const struct wf_ops ops = { .begin = op_begin,
				   .end = op_end,
				   .save = op_save,
				   .save_run = op_save_run,
				   .attempt = op_attempt,
				   .told = op_told,
				   .evaluate = op_evaluate,
				   .start = op_start,
				   .stop = op_stop,
				   .timer = op_timer,
				   .later = op_later,
				   .over = op_over,
				   .now = op_now };

static void event_do(struct event e)
{
	struct wf_node *n = e.n;
	struct err err;

	if (e.kind == EVENT_TIMER) {
		n->timer = NULL;
		now = MAX(now, n->due) + 1;
		wf_timer(n);
	} else if (e.kind == EVENT_EVAL) {
		json_t *values = json_array(), *expr;
		size_t i;

		n->work_of = NULL;
		json_array_foreach(e.exprs, i, expr) {
			const char *text = json_string_value(expr);

			json_array_append_new(values,
					      expr_path(strstr(text, "jq ") ? text + 3 : text,
							e.context));
		}
		json_decref(e.context);
		json_decref(e.exprs);
		wf_evaluated(n, values, NULL);
	} else {
		nleaves--;
		n->work_of = NULL;
		if (n->attempt <= failures(n->def)) {
			err_note(&err, ERR_FAILED, "as it should");
			wf_failed(n, NULL, &err, false);
		} else {
			wf_finished(n, json_pack("{s:s}", "output", n->name));
		}
	}
}

static struct wf_run *run_make(json_t *doc)
{
	struct wf_run *r =
		wf_run_new(&ops, NULL, "random", json_incref(doc),
			   json_pack("{s:[i,i,i],s:b,s:b}", "items", 1, 2, 3, "yes", 1, "no", 0));

	strcpy(r->id, "0123456789abcdef");
	return r;
}

static struct wf_run *run_again(json_t *doc)
{
	struct wf_run *r = run_make(doc);

	/* Nothing of the killed process is left. */
	memcpy(pending.rows, stored.rows, stored.n * sizeof(stored.rows[0]));
	pending.n = stored.n;
	pending.state = stored.state;
	pending.undone = stored.undone;
	stored.dead = false;
	stored.kill_at = 0;
	r->state = stored.state;
	r->undone = stored.undone;
	for (int64_t n = 1; n <= (int64_t)stored.n; n++)
		for (unsigned i = 0; i < stored.n; i++) {
			struct row *row = &stored.rows[i];

			if (row->r.n != n)
				continue;
			row->r.path = row->path;
			row->r.live = undump(row->live);
			row->r.result = undump(row->result);
			row->r.error = undump(row->error);
			if (!wf_load(r, &row->r))
				WRONG("'%s' cannot be read", row->path);
		}
	wf_resume(r);
	return r;
}

/* The rollback of every step that is done ran, the last step's first. */
static void undo_check(struct wf_run *r)
{
	struct wf_node *n;
	int64_t last = INT64_MAX;
	unsigned want = 0, got = 0;

	list_for_each(n, &r->nodes, all)
		if (n->state == WF_DONE && n->path[0] != '~' &&
		    json_object_get(n->def, "rollback") &&
		    !(n->parent && n->parent->kind == WF_FOREACH))
			want++;
	if (r->rollback)
		list_for_each(n, &r->rollback->children, link) {
			if (n->scope->over_n > last)
				WRONG("'%s' was undone too late", n->scope->path);
			last = n->scope->over_n;
			got += n->state == WF_DONE;
		}
	if (got != want)
		WRONG("%u steps of %u were undone", got, want);
}

/* Runs it to its end; kill_at: killed after so many commits. */
static void world_run(json_t *doc, unsigned kill_at, uint64_t order)
{
	json_t *want = NULL;
	bool good;
	struct wf_run *r;

	stored.n = pending.n = 0;
	stored.state = pending.state = WF_RUN_RUNNING;
	stored.undone = pending.undone = false;
	stored.commits = 0;
	stored.kill_at = kill_at;
	stored.dead = false;
	nevents = nleaves = 0;
	over = later = false;
	seed = order;
	r = run_make(doc);
	wf_begin(r);
	for (unsigned i = 0; i < 100000; i++) {
		struct event e;
		unsigned k;

		if (stored.dead) {
			/* What ran in cells is found again or begun again: both are a start here.
			 */
			nevents = nleaves = 0;
			over = later = false;
			struct wf_node *n;

			list_for_each(n, &r->nodes, all)
				n->work_of = n->timer = NULL;
			wf_run_free(r);
			r = run_again(doc);
			continue;
		}
		if (over)
			break;
		if (later && !rnd(2)) {
			later = false;
			wf_go_on(r);
			continue;
		}
		if (!nevents && later)
			continue;
		if (!nevents) {
			WRONG("nothing is left to do, but the run is %s",
			      wf_run_state_name(r->state));
			break;
		}
		k = rnd(nevents);
		e = events[k];
		events[k] = events[--nevents];
		event_do(e);
	}
	good = model_steps(doc, json_object_get(json_object_get(doc, "main"), "steps"), false,
			   &want);
	if (!over)
		WRONG("it never ends");
	else if (r->state != (good ? WF_RUN_DONE : WF_RUN_FAILED))
		WRONG("it is %s, and should be %s", wf_run_state_name(r->state),
		      good ? "done" : "failed");
	else if (good && !json_equal(json_object_get(r->root->result, "output"), want)) {
		char *a = dump(json_object_get(r->root->result, "output")), *b = dump(want);

		WRONG("its output is %.150s and not %.150s", a ? a : "none", b);
		free(a);
		free(b);
	}
	if (over && !good)
		undo_check(r);
	if (nleaves)
		WRONG("%u leaves still run", nleaves);
	json_decref(want);
	struct wf_node *n;

	list_for_each(n, &r->nodes, all)
		n->work_of = n->timer = NULL;
	wf_run_free(r);
}

static void random_test(unsigned first, unsigned count)
{
	unsigned runs = 0, nodes = 0;

	violations = 0;
	for (unsigned i = first; i < first + count && !violations; i++) {
		unsigned commits;
		json_t *doc;

		seed = i * 7919u + 1;
		doc = doc_make();
		world_run(doc, 0, i);
		commits = stored.commits;
		nodes += stored.n;
		for (unsigned k = 1; k <= commits && !violations; k++, runs++)
			world_run(doc, k, i);
		if (violations)
			printf("# workflow %u: %s\n", i, why);
		json_decref(doc);
	}
	printf("# %u workflows of %u nodes, killed %u times\n", count, nodes, runs);
	ok(!violations, "random workflows end as the model says, killed after every commit");
	ok(most_leaves > 1, "steps ran at the same time");
}

/* ---- single cases ---- */

static struct wf_run *text_run(const char *text)
{
	json_t *main_ = json_loads(text, 0, NULL),
	       *doc = json_pack("{s:o,s:{}}", "main", main_, "workflows");
	struct wf_run *r;

	stored.n = pending.n = 0;
	stored.dead = false;
	stored.kill_at = 0;
	nevents = nleaves = 0;
	over = later = false;
	violations = 0;
	r = run_make(doc);
	json_decref(doc);
	wf_begin(r);
	return r;
}

static void run_out(struct wf_run *r)
{
	for (unsigned i = 0; i < 200000 && !over; i++) {
		struct event e;

		if (later) {
			later = false;
			wf_go_on(r);
			continue;
		}
		if (!nevents)
			break;
		e = events[--nevents];
		event_do(e);
	}
}

static void bounds_test(void)
{
	struct buf b = { 0 };
	struct wf_run *r;

	/* 10,001 items. */
	buf_add_text(&b,
		     "{\"steps\":[{\"name\":\"f\",\"kind\":\"foreach\",\"args\":{\"foreach\":[");
	for (int i = 0; i < WF_ITEMS_MAX + 1; i++)
		buf_add_text(&b, i ? ",1" : "1");
	buf_add_text(&b, "]},\"steps\":[{\"name\":\"a\",\"kind\":\"run\",\"args\":{}}]}]}");
	r = text_run((char *)b.p);
	run_out(r);
	ok(over && r->state == WF_RUN_FAILED &&
		   strstr(json_text(r->error, "message"), "10001 items"),
	   "a foreach with too many items fails");
	wf_run_free(r);
	buf_free(&b);
	/* Items of items: 200 times 200 is more than a run holds. */
	b = (struct buf){ 0 };
	buf_add_text(&b, "{\"steps\":[{\"name\":\"f\",\"kind\":\"foreach\",\"if\":\".inputs.yes\","
			 "\"args\":{\"foreach\":[");
	for (int i = 0; i < 200; i++)
		buf_add_text(&b, i ? ",1" : "1");
	buf_add_text(&b,
		     "]},\"steps\":[{\"name\":\"g\",\"kind\":\"foreach\",\"args\":{\"foreach\":[");
	for (int i = 0; i < 200; i++)
		buf_add_text(&b, i ? ",1" : "1");
	buf_add_text(&b, "]},\"steps\":[{\"name\":\"a\",\"kind\":\"run\",\"if\":\".inputs.no\","
			 "\"args\":{}}]}]}]}");
	/* The rows of this test are fewer. */
	stored.dead = true;
	{
		json_t *main_ = json_loads((char *)b.p, 0, NULL);
		json_t *doc = json_pack("{s:o,s:{}}", "main", main_, "workflows");

		nevents = nleaves = 0;
		over = later = false;
		r = run_make(doc);
		json_decref(doc);
		wf_begin(r);
	}
	run_out(r);
	ok(over && r->state == WF_RUN_FAILED && r->nnodes == WF_STEPS_MAX,
	   "a run with too many steps fails");
	wf_run_free(r);
	buf_free(&b);
}

static void cancel_test(void)
{
	struct wf_run *r =
		text_run("{\"steps\":[{\"name\":\"p\",\"kind\":\"parallel\",\"steps\":["
			 "{\"name\":\"a\",\"kind\":\"run\",\"args\":{\"given\":1}},"
			 "{\"name\":\"b\",\"kind\":\"sleep\",\"args\":{\"sleep\":1000}}]},"
			 "{\"name\":\"c\",\"kind\":\"run\",\"args\":{\"given\":1}}]}");
	struct err e = { 0 };

	ok(nleaves == 1 && nevents == 2, "a leaf and a timer are under way");
	wf_cancel(r, true);
	ok(over && r->state == WF_RUN_CANCELLED && !nevents, "cancelled, nothing is under way");
	over = false;
	ok(wf_retry(r, &e) == 0 && nleaves == 1, "it goes on where it was");
	run_out(r);
	ok(over && r->state == WF_RUN_DONE, "and ends");
	ok(wf_retry(r, &e) < 0, "one that is done cannot go on");
	wf_run_free(r);
}

/* A cancelled run undoes what is done; cancelled once more, or told not to, it does not. */
static void cancel_undo_test(void)
{
	static const char text[] =
		"{\"steps\":[{\"name\":\"a\",\"kind\":\"run\",\"args\":{\"given\":1},"
		"\"rollback\":[{\"name\":\"u\",\"kind\":\"run\",\"args\":{\"given\":1}}]},"
		"{\"name\":\"b\",\"kind\":\"run\",\"args\":{\"given\":1}}]}";
	struct wf_run *r;

	for (unsigned how = 0; how < 3; how++) {
		struct event e;

		r = text_run(text);
		e = events[--nevents];
		event_do(e);
		ok(!over && wf_find(r, "a")->state == WF_DONE && nleaves == 1, "a is done, b runs");
		wf_cancel(r, how != 1);
		ok(how == 1 ? over : !over && r->state == WF_RUN_ROLLBACK && nleaves == 1,
		   how == 1 ? "left as it is" : "b is ended, and a is undone");
		if (how == 0)
			run_out(r);
		else if (how == 2)
			wf_cancel(r, true);
		ok(over && r->state == WF_RUN_CANCELLED && r->undone == (how != 1) && !nevents,
		   "cancelled");
		wf_run_free(r);
	}
}

static void timeout_test(void)
{
	struct wf_run *r =
		text_run("{\"steps\":[{\"name\":\"g\",\"kind\":\"steps\",\"timeout\":5,\"steps\":["
			 "{\"name\":\"a\",\"kind\":\"run\",\"args\":{\"given\":1}}]}]}");
	struct wf_node *g = wf_find(r, "g");

	ok(g && g->due, "a group has a deadline");
	for (unsigned i = 0; i < nevents; i++)
		if (events[i].kind == EVENT_TIMER) {
			struct event e = events[i];

			events[i] = events[--nevents];
			event_do(e);
			break;
		}
	ok(over && r->state == WF_RUN_FAILED && !nleaves &&
		   strstr(json_text(r->error, "message"), "longer than 5 s"),
	   "it ends what is in it");
	wf_run_free(r);
}

static void retry_test(void)
{
	/* The first step of the group is done; only the second is tried again. */
	struct wf_run *r = text_run(
		"{\"steps\":[{\"name\":\"g\",\"kind\":\"steps\",\"retry\":{\"count\":2,\"backoff\":"
		"4},"
		"\"steps\":[{\"name\":\"a\",\"kind\":\"run\",\"args\":{\"given\":1}},"
		"{\"name\":\"b\",\"kind\":\"run\",\"fails\":100,\"args\":{\"given\":1}}]}]}");

	run_out(r);
	ok(over && r->state == WF_RUN_FAILED && !violations, "a group that always fails");
	ok(wf_find(r, "g")->attempt == 3, "was tried three times");
	ok(wf_find(r, "g/a")->state == WF_DONE && wf_find(r, "g/a")->attempt == 1,
	   "and what is done in it once");
	wf_run_free(r);
}

int main(int argc, char **argv)
{
	random_test(1, argc > 1 ? (unsigned)atoi(argv[1]) : 250);
	cancel_test();
	cancel_undo_test();
	timeout_test();
	retry_test();
	bounds_test();
	return tap_end();
}
