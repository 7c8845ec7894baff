/* See workflows.h: the runs that are in memory, and what the engine needs of vivd: timers,
 * processes for expressions, leaves, and what remains to be done after the end of a run. */
#include "daemon/workflows/workflows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "daemon/cells/life.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/inputs.h"
#include "daemon/workflows/jq.h"
#include "daemon/workflows/private.h"

#define LOST_MS 1000 /* until a run that could not be written is read again */
#define TIMER_MS 60000 /* at most, so that changes of the clock are seen */

static struct list runs = LIST_INIT(runs); /* struct wf_run */
static struct list waits = LIST_INIT(waits); /* struct workflow_wait */
static struct list told = LIST_INIT(told); /* the same, that are being told */
static const struct wf_ops ops;

/* ---- timers ---- */

struct node_timer {
	uv_timer_t t;
	struct wf_node *n; /* NULL: it is off */
	int64_t at;
};

static void on_closed(uv_handle_t *h)
{
	free(h->data);
}

static void timer_arm(struct node_timer *x);

static void on_timer(uv_timer_t *t)
{
	struct node_timer *x = t->data;
	struct wf_node *n = x->n;

	if (!n)
		return;
	if (x->at > time_now()) {
		timer_arm(x);
		return;
	}
	n->timer = NULL;
	x->n = NULL;
	uv_close((uv_handle_t *)t, on_closed);
	wf_timer(n);
}

static void timer_arm(struct node_timer *x)
{
	int64_t ms = (x->at - time_now() + 999999) / 1000000;

	uv_update_time(x->t.loop);
	uv_timer_start(&x->t, on_timer, (uint64_t)MIN(MAX(ms, 0), (int64_t)TIMER_MS), 0);
}

static void node_timer(struct wf_node *n, int64_t at)
{
	struct node_timer *x = n->timer;

	if (x) {
		x->n = NULL;
		n->timer = NULL;
		uv_close((uv_handle_t *)&x->t, on_closed);
	}
	if (!at)
		return;
	x = xalloc(sizeof(*x));
	x->n = n;
	x->at = at;
	x->t.data = x;
	n->timer = x;
	uv_timer_init(&run_daemon(n->run)->loop, &x->t);
	timer_arm(x);
}

/* ---- expressions, and what is told later ---- */

struct telling {
	struct leaf_work work;
	struct wf_node *n;
	uv_timer_t t;
	json_t *result;
	struct err e;
	bool final;
};

static void telling_closed(uv_handle_t *h)
{
	struct telling *x = h->data;

	json_decref(x->result);
	free(x);
}

static void telling_stop(struct leaf_work *w)
{
	struct telling *x = (struct telling *)(void *)w;

	x->n->work_of = NULL;
	x->n = NULL;
	uv_close((uv_handle_t *)&x->t, telling_closed);
}

static void on_tell(uv_timer_t *t)
{
	struct telling *x = t->data;
	struct wf_node *n = x->n;
	json_t *result = x->result;
	struct err e = x->e;
	bool final = x->final;

	x->result = NULL;
	telling_stop(&x->work);
	if (e.kind)
		wf_failed(n, result, &e, final);
	else
		wf_finished(n, result);
}

static void tell_later(struct wf_node *n, json_t *result, const struct err *e, bool final)
{
	struct telling *x = xalloc(sizeof(*x));

	x->work.stop = telling_stop;
	x->n = n;
	x->result = result;
	if (e)
		x->e = *e;
	x->final = final;
	x->t.data = x;
	n->work_of = x;
	uv_timer_init(&run_daemon(n->run)->loop, &x->t);
	uv_timer_start(&x->t, on_tell, 0, 0);
}

void leaf_fail(struct wf_node *n, const struct err *e, bool final)
{
	tell_later(n, NULL, e, final);
}

void leaf_done(struct wf_node *n, json_t *result)
{
	tell_later(n, result, NULL, false);
}

struct evaluating {
	struct leaf_work work;
	struct wf_node *n;
	struct evaluation *x;
};

static void evaluating_stop(struct leaf_work *w)
{
	struct evaluating *v = (struct evaluating *)(void *)w;

	v->n->work_of = NULL;
	evaluation_cancel(v->x);
	free(v);
}

static void on_evaluated(void *arg, json_t *values, const struct err *e)
{
	struct evaluating *v = arg;
	struct wf_node *n = v->n;

	n->work_of = NULL;
	free(v);
	wf_evaluated(n, values, e);
}

static void node_stop(struct wf_node *n)
{
	struct leaf_work *w = n->work_of;

	if (w)
		w->stop(w);
}

static void node_evaluate(struct wf_node *n, json_t *context, json_t *exprs)
{
	struct evaluating *v;

	node_stop(n); /* one at a time */
	v = xalloc(sizeof(*v));
	v->work.stop = evaluating_stop;
	v->n = n;
	n->work_of = v;
	v->x = evaluation_new(run_daemon(n->run), context, exprs, on_evaluated, v);
}

/* ---- leaves ---- */

static void node_start(struct wf_node *n)
{
	static void (*const start[])(struct wf_node * n) = {
		[WF_RUN] = command_start,
		[WF_PROMPT] = prompt_start,
		[WF_CELL] = cell_step_start,
		[WF_APPROVE] = approve_start,
	};

	/* One that is under way already, of a group that is tried again. */
	if (!n->work_of)
		start[n->kind](n);
}

static int64_t run_now(struct wf_run *r)
{
	(void)r;
	return time_now();
}

/* ---- the end of a run ---- */

void workflow_wait_add(struct workflow_wait *w, const char *id, void (*fn)(struct workflow_wait *w))
{
	snprintf(w->id, sizeof(w->id), "%s", id);
	w->fn = fn;
	list_init(&w->link);
	list_append(&waits, &w->link);
}

void workflow_wait_remove(struct workflow_wait *w)
{
	list_remove(&w->link);
}

void waits_tell(const char *id)
{
	struct workflow_wait *w, *tmp;

	list_for_each_safe(w, tmp, &waits, link)
		if (!strcmp(w->id, id)) {
			list_remove(&w->link);
			list_append(&told, &w->link);
		}
	while (!list_is_empty(&told)) {
		w = list_first(&told, struct workflow_wait, link);
		list_remove(&w->link);
		w->fn(w);
	}
}

void run_cell_note(struct wf_run *r, const char *name)
{
	json_t *cells = json_object_get(r->live, "cells"), *v;
	size_t i;

	json_array_foreach(cells, i, v)
		if (!strcmp(json_string_value(v), name))
			return;
	if (!cells) {
		cells = json_array();
		json_object_set_new(r->live, "cells", cells);
	}
	json_array_append_new(cells, json_string(name));
	rows_begin(r);
	rows_save_run(r);
	(void)!rows_end(r);
}

/* Cells of a run that is over: one after the other is stopped and removed. */
struct cleaning {
	struct list link;
	struct daemon *d;
	char id[WF_ID_LEN + 1], cell[CELL_ID_LEN + 1];
	json_t *names;
	struct cell_wait wait;
};

static struct list cleanings = LIST_INIT(cleanings);

static bool is_cleaned(const char *id)
{
	const struct cleaning *x;

	list_for_each(x, &cleanings, link)
		if (!strcmp(x->id, id))
			return false;
	return true;
}

static void cleaning_next(struct cleaning *x);

static void on_removed(void *arg, const struct err *f)
{
	(void)f;
	cleaning_next(arg);
}

static void on_stopped(struct cell_wait *w, struct cell *c, bool gone)
{
	struct cleaning *x = container_of(w, struct cleaning, wait);

	if (!gone && (cell_state_is_live(c->state) || c->busy))
		return;
	cell_wait_remove(w);
	if (gone)
		cleaning_next(x);
	else
		cell_remove(c, on_removed, x);
}

static void cleaning_next(struct cleaning *x)
{
	struct cell *c = NULL;
	struct err e = { 0 };

	while (!c && json_array_size(x->names)) {
		c = cell_by_name(x->d, json_string_value(json_array_get(x->names, 0)));
		json_array_remove(x->names, 0);
	}
	if (!c) {
		db_run(&x->d->db, NULL, "UPDATE workflow_runs SET live='{}' WHERE id=?", "t",
		       x->id);
		runs_trim(x->d);
		list_remove(&x->link);
		waits_tell(x->id);
		json_decref(x->names);
		free(x);
		return;
	}
	if (cell_state_is_live(c->state))
		(void)!cell_stop(c, 0, &e);
	cell_wait_add(c, &x->wait, on_stopped);
	cell_changed_soon(c);
}

static void cleaning_begin(struct daemon *d, const char *id, json_t *names)
{
	struct cleaning *x = xalloc(sizeof(*x));

	x->d = d;
	snprintf(x->id, sizeof(x->id), "%s", id);
	x->names = names ? json_deep_copy(names) : json_array();
	list_init(&x->wait.link);
	list_init(&x->link);
	list_append(&cleanings, &x->link);
	cleaning_next(x);
}

/* What is done in the next round: a run goes on, is read again, or is freed. */
struct round {
	uv_timer_t t;
	struct daemon *d;
	struct wf_run *r; /* NULL: only its id is left */
	char id[WF_ID_LEN + 1];
};

static void run_load(struct daemon *d, const char *id)
{
	struct wf_run *r = run_read(d, id, &ops);

	if (!r)
		return;
	list_append(&runs, &r->link);
	wf_resume(r);
}

static void on_round(uv_timer_t *t)
{
	struct round *x = t->data;
	struct wf_run *r = x->r;
	struct daemon *d = x->d;
	char id[WF_ID_LEN + 1];
	bool lost;
	json_t *names;

	strcpy(id, x->id);
	uv_close((uv_handle_t *)t, on_closed);
	if (d->ending)
		return;
	lost = !r || r->lost;
	if (r)
		r->round = NULL;
	if (r && !lost && !wf_run_is_over(r)) {
		wf_go_on(r);
		return;
	}
	if (r && lost) {
		struct round *again = xalloc(sizeof(*again));

		wf_run_free(r);
		again->d = d;
		strcpy(again->id, id);
		again->t.data = again;
		uv_timer_init(&d->loop, &again->t);
		uv_timer_start(&again->t, on_round, LOST_MS, 0);
		return;
	}
	if (!r) {
		run_load(d, id);
		return;
	}
	names = json_incref(json_object_get(r->live, "cells"));
	wf_run_free(r);
	cleaning_begin(d, id, names);
	json_decref(names);
}

static void run_round(struct wf_run *r)
{
	struct round *x;

	/* Once for all that happens before it. */
	if (r->round)
		return;
	x = xalloc(sizeof(*x));
	r->round = x;
	x->d = run_daemon(r);
	x->r = r;
	strcpy(x->id, r->id);
	x->t.data = x;
	uv_timer_init(&x->d->loop, &x->t);
	uv_timer_start(&x->t, on_round, 0, 0);
}

static const struct wf_ops ops = {
	.begin = rows_begin,
	.end = rows_end,
	.save = rows_save,
	.save_run = rows_save_run,
	.attempt = rows_attempt,
	.told = rows_told,
	.evaluate = node_evaluate,
	.start = node_start,
	.stop = node_stop,
	.timer = node_timer,
	.later = run_round,
	.over = run_round,
	.now = run_now,
};

/* ---- what clients ask ---- */

static struct wf_run *run_active(const char *id)
{
	struct wf_run *r;

	list_for_each(r, &runs, link)
		if (!strcmp(r->id, id))
			return r;
	return NULL;
}

static bool run_exists(struct daemon *d, const char *id)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT 1 FROM workflow_runs WHERE id=?", "t", id);
	bool found = db_next(q);

	db_done(q);
	return found;
}

int runs_room(struct daemon *d, struct err *e)
{
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT count(*) FROM workflow_runs WHERE code=1 AND state<?", "i",
			 (int64_t)WF_RUN_DONE);
	int64_t n = db_next(q) ? db_int(q, 0) : 0;
	const struct wf_run *r;

	db_done(q);
	list_for_each(r, &runs, link)
		n++;
	if (n < WF_RUNS_ACTIVE)
		return 0;
	return err_set(e, ERR_TOO_MANY,
		       "there are %d runs of workflows that are not over" REMEDY
		       "wait for some to end, or end them with 'viv workflow cancel'",
		       WF_RUNS_ACTIVE);
}

int workflow_start(struct daemon *d, json_t *doc, json_t *inputs, const char *by, char id[17],
		   struct err *e)
{
	const json_t *def = json_object_get(doc, "main");
	const char *name = json_text(def, "name");
	json_t *given = inputs_make(json_object_get(def, "inputs"), inputs, e);
	struct wf_run *r;

	json_decref(inputs);
	if (given && id[0] && run_exists(d, id)) {
		json_decref(doc);
		json_decref(given);
		return 0;
	}
	if (given && runs_room(d, e) == 0 && json_dumpb(doc, NULL, 0, JSON_COMPACT) > WF_DOC_BYTES)
		err_note(e, ERR_TOO_LARGE, "the workflow has more than %u bytes", WF_DOC_BYTES);
	if (!given || e->kind) {
		json_decref(doc);
		json_decref(given);
		return -1;
	}
	r = wf_run_new(&ops, d, name ? name : "workflow", doc, given);
	if (!id[0])
		random_hex(id, WF_ID_LEN / 2);
	strcpy(r->id, id);
	r->created = time_now();
	db_begin(&d->db);
	if (run_insert(r, false, by, e) < 0) {
		db_end(&d->db, NULL);
		wf_run_free(r);
		return -1;
	}
	list_append(&runs, &r->link);
	/* Its row and its first steps are one change. */
	r->depth = 0;
	if (db_end(&d->db, e) < 0) {
		wf_run_free(r);
		return -1;
	}
	wf_begin(r);
	return 0;
}

json_t *workflow_json(struct daemon *d, const char *id, bool steps, struct err *e)
{
	char whole[WF_ID_LEN + 1];
	json_t *o;

	if (run_id_find(d, id, whole, e) < 0)
		return NULL;
	o = run_json(d, whole, steps);
	if (!o)
		err_note(e, ERR_NOT_FOUND, "there is no workflow run '%s'", whole);
	return o;
}

bool workflow_is_over(struct daemon *d, const char *id)
{
	sqlite3_stmt *q = db_query(&d->db, "SELECT state FROM workflow_runs WHERE id=?", "t", id);
	bool over = !db_next(q) || db_int(q, 0) >= WF_RUN_DONE;

	db_done(q);
	return over;
}

bool workflow_is_settled(struct daemon *d, const char *id)
{
	return !run_active(id) && workflow_is_over(d, id) && is_cleaned(id);
}

int workflow_cancel(struct daemon *d, const char *id, bool undo, struct err *e)
{
	char whole[WF_ID_LEN + 1];
	struct wf_run *r;

	if (run_id_find(d, id, whole, e) < 0)
		return -1;
	r = run_active(whole);
	if (r && !wf_run_is_over(r)) {
		wf_cancel(r, undo);
		return 0;
	}
	if (workflow_is_over(d, whole))
		return err_set(e, ERR_WRONG_STATE, "the run is over");
	/* Of a program. */
	db_begin(&d->db);
	db_run(&d->db, e, "UPDATE workflow_runs SET state=?,ended=? WHERE id=?", "iit",
	       (int64_t)WF_RUN_CANCELLED, time_now(), whole);
	event_add(d, "workflow.cancelled", NULL, json_pack("{s:s}", "run", whole));
	if (db_end(&d->db, e) < 0)
		return -1;
	waits_tell(whole);
	return 0;
}

int workflow_retry(struct daemon *d, const char *id, struct err *e)
{
	char whole[WF_ID_LEN + 1];
	struct wf_run *r;

	if (run_id_find(d, id, whole, e) < 0)
		return -1;
	if (run_active(whole))
		return err_set(e, ERR_WRONG_STATE, "the run is not over");
	r = run_read(d, whole, &ops);
	if (!r)
		return err_set(e, ERR_WRONG_STATE,
			       "the run is a program's" REMEDY "start the program again");
	list_append(&runs, &r->link);
	if (wf_retry(r, e) < 0) {
		wf_run_free(r);
		return -1;
	}
	return 0;
}

int workflow_remove(struct daemon *d, const char *id, struct err *e)
{
	char whole[WF_ID_LEN + 1];

	if (run_id_find(d, id, whole, e) < 0)
		return -1;
	if (run_active(whole) || !workflow_is_over(d, whole))
		return err_set(e, ERR_WRONG_STATE,
			       "the run is not over" REMEDY "'viv workflow cancel %s' ends it",
			       whole);
	run_delete(d, whole, e);
	return e->kind ? -1 : 0;
}

/* ---- with vivd ---- */

void workflows_open(struct daemon *d)
{
	(void)d;
	approve_open();
}

void workflows_begin(struct daemon *d)
{
	struct buf ids = { 0 }, dirty = { 0 };
	sqlite3_stmt *q =
		db_query(&d->db,
			 "SELECT id,state FROM workflow_runs WHERE code=0 AND (state<? OR "
			 "live<>'{}') ORDER BY row",
			 "i", (int64_t)WF_RUN_DONE);

	while (db_next(q))
		buf_add(db_int(q, 1) < WF_RUN_DONE ? &ids : &dirty, db_text(q, 0), WF_ID_LEN + 1);
	db_done(q);
	for (size_t i = 0; i < ids.len; i += WF_ID_LEN + 1)
		run_load(d, (char *)ids.p + i);
	for (size_t i = 0; i < dirty.len; i += WF_ID_LEN + 1) {
		struct wf_run *r = run_read(d, (char *)dirty.p + i, &ops);

		if (!r)
			continue;
		cleaning_begin(d, r->id, json_object_get(r->live, "cells"));
		wf_run_free(r);
	}
	buf_free(&ids);
	buf_free(&dirty);
}

void workflows_close(struct daemon *d)
{
	struct wf_run *r, *tmp;

	(void)d;
	list_for_each_safe(r, tmp, &runs, link)
		wf_run_free(r);
}
