/* The step 'cell': a new cell from a spec, running; with 'wait', one that has done its work. Its
 * name is the spec's, or one of the run and the step, so that a step that is begun again finds the
 * cell that it made. It goes with the run, unless 'keep' is set.
 *
 * With 'wait' each attempt is a run of the cell. One that began since the attempt did is that of
 * the attempt, whichever vivd started it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/life.h"
#include "daemon/cells/make.h"
#include "daemon/cells/result.h"
#include "daemon/cells/sleep.h"
#include "daemon/state/fields.h"
#include "daemon/workflows/private.h"
#include "keeper/run.h"

struct making {
	struct leaf_work work; /* first */
	struct wf_node *n; /* NULL: nobody wants it any more */
	struct cell_need *need;
	/* with 'wait' */
	bool made; /* cell_make has answered */
	struct cell_wait wait;
	char cell[CELL_ID_LEN + 1];
};

static void making_free(struct making *x)
{
	cell_wait_remove(&x->wait);
	if (x->need)
		cell_need_drop(x->need);
	free(x);
}

static void making_stop(struct leaf_work *w)
{
	struct making *x = (struct making *)(void *)w;
	struct cell *c = x->cell[0] ? cell_by_id(run_daemon(x->n->run), x->cell) : NULL;

	if (c && !run_is_left(x->n->run) && cell_state_is_live(c->state))
		(void)cell_stop(c, cell_grace(c), NULL);
	x->n->work_of = NULL;
	x->n = NULL;
	if (x->need || x->made)
		making_free(x);
}

static json_t *cell_output(const struct cell *c)
{
	return json_pack("{s:{s:s,s:s}}", "output", "id", c->id, "name", c->name);
}

static void on_ready(void *arg, struct cell *c, const struct err *e)
{
	struct making *x = arg;
	struct wf_node *n = x->n;

	x->need = NULL;
	n->work_of = NULL;
	making_free(x);
	if (c)
		wf_finished(n, cell_output(c));
	else
		wf_failed(n, NULL, e, false);
}

/* ---- with 'wait' ---- */

static void waited_fail(struct making *x, const struct err *e)
{
	struct wf_node *n = x->n;

	n->work_of = NULL;
	making_free(x);
	leaf_fail(n, e, false);
}

static bool is_over(const struct cell *c)
{
	return !cell_state_is_live(c->state) && c->state != CELL_SLEEPING && !c->restart_at &&
	       !c->busy;
}

static void waited_end(struct making *x, const struct cell *c)
{
	struct wf_node *n = x->n;
	json_t *result = cell_output(c), *output = json_object_get(result, "output");
	struct err e = { 0 };

	json_object_set_new(output, "exit_code", json_integer(c->status));
	cell_result_set(c, output);
	json_object_set_new(result, "exit_code", json_integer(c->status));
	if (c->state == CELL_FAILED)
		cell_start_error(c, "the cell broke down", &e);
	else if (c->state != CELL_COMPLETED)
		err_note(&e, ERR_FAILED, "the cell ended with status %d (%s)", c->status,
			 cell_reason_name(c->reason));
	n->work_of = NULL;
	making_free(x);
	if (e.kind)
		wf_failed(n, result, &e, false);
	else
		wf_finished(n, result);
}

static void on_change(struct cell_wait *w, struct cell *c, bool gone)
{
	struct making *x = container_of(w, struct making, wait);
	struct err e = { 0 };

	if (gone) {
		err_note(&e, ERR_NOT_FOUND, "the cell was removed");
		waited_fail(x, &e);
	} else if (is_over(c)) {
		waited_end(x, c);
	}
}

static void on_made(void *arg, struct cell *c, bool existed, const struct err *f)
{
	struct making *x = arg;
	struct err e = { 0 };

	(void)existed;
	x->made = true;
	if (!x->n) {
		making_free(x);
		return;
	}
	if (!c) {
		waited_fail(x, f);
		return;
	}
	snprintf(x->cell, sizeof(x->cell), "%s", c->id);
	/* Another run of it than this attempt's, or none yet. */
	if (is_over(c) && c->started < x->n->started && cell_wake_begin(c, "workflow", &e) < 0) {
		waited_fail(x, &e);
		return;
	}
	cell_wait_add(c, &x->wait, on_change);
	cell_changed_soon(c);
}

static void waited_begin(struct making *x, const char *name, json_t *spec, bool keep)
{
	struct daemon *d = run_daemon(x->n->run);
	struct cell *c = cell_by_name(d, name);

	/* Noted before it is there, so that it goes with the run in any case. */
	if (!keep)
		run_cell_note(x->n->run, name);
	if (c) {
		json_decref(spec);
		on_made(x, c, true, NULL);
	} else {
		cell_make(d, name, spec, MAKE_GET, on_made, x);
	}
}

void cell_step_start(struct wf_node *n)
{
	json_t *spec = json_deep_copy(json_object_get(n->args, "cell"));
	bool keep = json_is_true(json_object_get(n->args, "keep"));
	const char *given = json_text(spec, "name");
	char name[CELL_NAME_LEN + 1], key[65];
	struct making *x;
	struct err e = { 0 };

	step_key(n, key);
	if (given)
		snprintf(name, sizeof(name), "%s", given);
	else
		snprintf(name, sizeof(name), "wf-%s-%.12s", n->run->id, key);
	json_object_del(spec, "name");
	if (!cell_name_is_valid(name))
		err_note(&e, ERR_INVALID, "'%.80s' is not a name for a cell", name);
	/* Its expressions have values now. */
	if (e.kind || cellspec_check(spec, &e) < 0) {
		json_decref(spec);
		leaf_fail(n, &e, true);
		return;
	}
	x = xalloc(sizeof(*x));
	x->work.stop = making_stop;
	x->n = n;
	list_init(&x->wait.link);
	n->work_of = x;
	if (json_is_true(json_object_get(n->args, "wait")))
		waited_begin(x, name, spec, keep);
	else
		x->need = cell_need_made(n->run, name, spec, keep, on_ready, x);
}
