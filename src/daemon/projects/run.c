/* See run.h. Every event of vivd makes the run look at all of its actions again, in the next round
 * of the loop. Cells are looked up by their names each time: others may remove them meanwhile. */
#include "daemon/projects/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/change.h"
#include "daemon/cells/fileswrite.h"
#include "daemon/cells/health.h"
#include "daemon/cells/life.h"
#include "daemon/cells/make.h"
#include "daemon/projects/volumes.h"

#define ACTIVE_MAX 32
/* Looking at all actions takes longer the more there are, and is done less often then. */
#define LOOK_MS(n) ((n) / 20)

enum step {
	STEP_WAIT, /* for others */
	STEP_STOP, /* it is being stopped */
	STEP_CHANGE, /* its keeper is told */
	STEP_REMOVE, /* a thread removes it */
	STEP_MAKE, /* a thread makes its disk */
	STEP_FILES, /* its files are written */
	STEP_UP, /* it is being started */
	STEP_DONE,
	STEP_FAILED,
};

struct run_action {
	struct project_run *r;
	struct plan_action *plan;
	enum step step;
	bool told; /* that it waits */
	bool started; /* by us */
};

struct project_run {
	struct list link;
	struct daemon *d;
	struct plan plan;
	struct run_action *actions;
	struct run_action **of_cell; /* of the file's cells, in their order; NULL: none */
	/* of the file's groups, for each condition: it holds for all of their cells, in this
	 * round */
	int *holds;
	unsigned active, changed, failed;
	unsigned threads; /* that work for it */
	bool volumes_done, volumes_begun;
	bool left, over; /* nobody reads; all is done */
	struct event_watch watch;
	uv_timer_t tick;
	struct buf out;
	size_t out_at;
	void (*news)(void *arg);
	void *arg;
};

static void on_tick(uv_timer_t *t);

/* ---- telling ---- */

/* Takes o. */
static void tell(struct project_run *r, json_t *o)
{
	char *line = o ? json_dumps(o, JSON_COMPACT) : NULL;

	json_decref(o);
	if (line && !r->left) {
		buf_add_text(&r->out, line);
		buf_add(&r->out, "\n", 1);
		r->news(r->arg);
	}
	free(line);
}

static void tell_step(struct run_action *a, const char *step)
{
	tell(a->r, json_pack("{s:s,s:s,s:s}", "type", "step", "cell", a->plan->cell, "step", step));
}

static void look_again(struct project_run *r)
{
	if (!r->over && !uv_is_active((uv_handle_t *)&r->tick))
		uv_timer_start(&r->tick, on_tick, LOOK_MS(r->plan.n), 0);
}

static void action_end(struct run_action *a, enum step how)
{
	a->step = how;
	a->r->active--;
	look_again(a->r);
}

static void action_fail(struct run_action *a, const struct err *f)
{
	json_t *o = json_pack("{s:s,s:s}", "type", "failed", "cell", a->plan->cell);

	json_object_update_new(o, json_err(f));
	tell(a->r, o);
	a->r->failed++;
	action_end(a, STEP_FAILED);
}

static void action_done(struct run_action *a)
{
	a->r->changed++;
	action_end(a, STEP_DONE);
}

static struct cell *cell_of(const struct run_action *a)
{
	return cell_by_name(a->r->d, a->plan->cell);
}

/* ---- what an action waits for ---- */

static bool is_ended(const struct run_action *a)
{
	return a->step >= STEP_DONE;
}

/* A cell that another depends on: 1 when the condition holds, 0: not yet, -1: it never will. */
static int condition_holds(struct daemon *d, const char *name, enum dep_condition condition,
			   struct err *f)
{
	const struct cell *c = cell_by_name(d, name);

	if (!c)
		return err_set(f, ERR_DEPENDENCY, "it depends on '%s', which is not there", name);
	if (condition == DEP_STARTED)
		return cell_state_is_live(c->state) || c->restart_at || cell_is_over(c) ||
				       c->state == CELL_STOPPED
			       ? 1
			       : err_set(f, ERR_DEPENDENCY, "it depends on '%s', which is %s", name,
					 cell_state_name(c->state));
	if (condition == DEP_EXITED && cell_is_over(c))
		return 1;
	if (condition == DEP_HEALTHY && health_is_good(c))
		return 1;
	/* Nobody starts it again. */
	if (condition == DEP_HEALTHY && health_is_bad(c) &&
	    cellspec_restart(c->spec).policy == RESTART_NO)
		return err_set(f, ERR_DEPENDENCY, "it depends on '%s', which is unhealthy", name);
	if (cell_state_is_live(c->state) || c->restart_at)
		return 0;
	return err_set(f, ERR_DEPENDENCY, "it depends on '%s', which ended with status %d", name,
		       c->status);
}

/* Of one cell of a dependency. */
static int dep_holds(struct project_run *r, unsigned cell, enum dep_condition condition,
		     struct err *f)
{
	const struct run_action *a = r->of_cell[cell];
	const char *name = r->plan.file.cells[cell].name;

	if (a && a->step == STEP_FAILED)
		return err_set(f, ERR_DEPENDENCY, "it depends on '%s', which failed", name);
	return a && !is_ended(a) ? 0 : condition_holds(r->d, name, condition, f);
}

/* Of all of its cells; looked at once in each round. */
static int group_holds(struct project_run *r, const struct project_dep *dep, unsigned *ret_cell,
		       struct err *f)
{
	const struct project_group *g = &r->plan.file.groups[dep->group];
	int *known = &r->holds[dep->group * DEP_CONDITIONS + dep->condition];

	if (*known)
		return 1;
	for (*ret_cell = g->first; *ret_cell < g->first + g->ncells; ++*ret_cell) {
		int holds = dep_holds(r, *ret_cell, dep->condition, f);

		if (holds <= 0)
			return holds;
	}
	*known = 1;
	return 1;
}

/* 1: go on; 0: wait; -1: an error. */
static int deps_hold(struct run_action *a, const char **ret_for, struct err *f)
{
	const struct project_file *file = &a->r->plan.file;
	const struct project_group *g = &file->groups[a->plan->group];
	unsigned cell;

	for (unsigned i = 0; i < g->ndeps; i++) {
		int holds = group_holds(a->r, &g->deps[i], &cell, f);

		if (holds <= 0) {
			*ret_for = file->cells[cell].name;
			return holds;
		}
	}
	return 1;
}

static bool depends(const struct project_file *file, int group, int on)
{
	const struct project_group *g = group >= 0 ? &file->groups[group] : NULL;

	for (unsigned i = 0; g && i < g->ndeps; i++)
		if ((int)g->deps[i].group == on)
			return true;
	return false;
}

/* What depends on a cell goes before it does. */
static bool dependents_gone(struct run_action *a)
{
	struct project_run *r = a->r;

	for (unsigned i = 0; i < r->plan.n && a->plan->group >= 0; i++) {
		struct run_action *other = &r->actions[i];

		if (other->plan->kind == PLAN_REMOVE && !is_ended(other) &&
		    depends(&r->plan.file, other->plan->group, a->plan->group))
			return false;
	}
	return true;
}

/* ---- steps ---- */

static void start_begin(struct run_action *a)
{
	struct cell *c = cell_of(a);
	struct err f = { 0 };

	a->step = STEP_UP;
	if (!c)
		err_note(&f, ERR_DEPENDENCY, "the cell was removed meanwhile");
	else if (cell_state_is_live(c->state) && c->state != CELL_STOPPING)
		look_again(a->r);
	else
		a->started = cell_start(c, &f) == 0;
	if (f.kind)
		action_fail(a, &f);
	else
		tell_step(a, "starting");
}

/* The cell runs no more, and is changed. */
static bool respec(struct run_action *a)
{
	struct cell *c = cell_of(a);
	struct err f = { 0 };

	if (!c)
		err_note(&f, ERR_DEPENDENCY, "the cell was removed meanwhile");
	else if (cell_respec(c, json_deep_copy(a->plan->spec), 0, &f) == 0)
		return true;
	action_fail(a, &f);
	return false;
}

/* They are written, and the cell says so: killed before that, they are written again. */
static bool files_note(struct run_action *a)
{
	struct project_group *g = &a->r->plan.file.groups[a->plan->group];

	json_object_set_new(json_object_get(a->plan->spec, "labels"), LABEL_FILES,
			    json_string(group_files_hash(a->r->d, g)));
	return respec(a);
}

static void written(void *arg, const struct err *f)
{
	struct run_action *a = arg;

	a->r->threads--;
	if (f) {
		action_fail(a, f);
	} else if (files_note(a)) {
		tell_step(a, "files written");
		start_begin(a);
	}
}

/* Before it is started, what it is to have. */
static void files_begin(struct run_action *a)
{
	struct cell *c = a->plan->files ? cell_of(a) : NULL;

	if (!c) {
		start_begin(a);
		return;
	}
	a->step = STEP_FILES;
	a->r->threads++;
	cell_files_write(c, a->r->plan.file.groups[a->plan->group].files, written, a);
}

static void made(void *arg, struct cell *c, bool existed, const struct err *f)
{
	struct run_action *a = arg;

	(void)existed;
	a->r->threads--;
	if (!c) {
		action_fail(a, f);
		return;
	}
	tell_step(a, "created");
	files_begin(a);
}

static void make_begin(struct run_action *a)
{
	a->step = STEP_MAKE;
	a->r->threads++;
	cell_make(a->r->d, a->plan->cell, json_deep_copy(a->plan->spec), 0, made, a);
}

static void removed(void *arg, const struct err *f)
{
	struct run_action *a = arg;

	a->r->threads--;
	if (f) {
		action_fail(a, f);
		return;
	}
	tell_step(a, "removed");
	if (a->plan->kind == PLAN_RECREATE)
		make_begin(a);
	else
		action_done(a);
}

/* It runs no more: what it was stopped for. */
static void stopped(struct run_action *a)
{
	struct cell *c = cell_of(a);

	switch (a->plan->kind) {
	case PLAN_REMOVE:
	case PLAN_RECREATE:
		a->step = STEP_REMOVE;
		a->r->threads++;
		if (c)
			cell_remove(c, removed, a);
		else
			removed(a, NULL);
		break;
	case PLAN_RESTART:
		if (respec(a)) {
			tell_step(a, "changed");
			files_begin(a);
		}
		break;
	default:
		start_begin(a);
		break;
	}
}

static void stop_begin(struct run_action *a)
{
	struct cell *c = cell_of(a);
	struct err f = { 0 };

	a->step = STEP_STOP;
	if (c && (cell_state_is_live(c->state) || c->restart_at)) {
		if (c->state != CELL_STOPPING && cell_stop(c, cell_grace(c), &f) < 0) {
			action_fail(a, &f);
			return;
		}
		if (cell_state_is_live(c->state)) {
			tell_step(a, "stopping");
			return;
		}
	}
	stopped(a);
}

/* It is not stopped for this; one that is about to end is waited for. */
static void start_when_stopped(struct run_action *a)
{
	const struct cell *c = cell_of(a);

	if (c && c->state == CELL_STOPPING)
		a->step = STEP_STOP;
	else
		start_begin(a);
}

static void changed(void *arg, struct cell *c, const struct err *f)
{
	struct run_action *a = arg;

	a->r->threads--;
	if (!c) {
		action_fail(a, f);
		return;
	}
	tell_step(a, "changed");
	if (a->plan->start)
		start_when_stopped(a);
	else
		action_done(a);
}

/* Without a restart. */
static void change_begin(struct run_action *a)
{
	struct cell *c = cell_of(a);
	struct err f = { 0 };

	a->step = STEP_CHANGE;
	a->r->threads++;
	if (c)
		cell_change(c, json_deep_copy(a->plan->spec), 0, changed, a);
	else {
		err_note(&f, ERR_DEPENDENCY, "the cell was removed meanwhile");
		changed(a, NULL, &f);
	}
}

static void action_begin(struct run_action *a)
{
	a->r->active++;
	switch (a->plan->kind) {
	case PLAN_CREATE:
		tell_step(a, "creating");
		make_begin(a);
		break;
	case PLAN_CHANGE:
	case PLAN_LATER:
		change_begin(a);
		break;
	case PLAN_START:
		start_when_stopped(a);
		break;
	default:
		stop_begin(a);
		break;
	}
}

static void up_look(struct run_action *a)
{
	struct cell *c = cell_of(a);
	struct err f = { 0 };

	if (c && c->state == CELL_STARTING)
		return;
	if (!c) {
		err_note(&f, ERR_DEPENDENCY, "the cell was removed meanwhile");
		action_fail(a, &f);
	} else if (c->state == CELL_FAILED && !a->started) {
		start_begin(a);
	} else if (c->state == CELL_FAILED) {
		cell_start_error(c, "the cell could not start", &f);
		action_fail(a, &f);
	} else {
		if (c->state == CELL_STOPPED)
			tell(a->r,
			     json_pack("{s:s,s:s,s:s,s:i}", "type", "step", "cell", a->plan->cell,
				       "step", "exited", "exit_code", c->status));
		else
			tell_step(a, cell_state_name(c->state));
		action_done(a);
	}
}

static void wait_look(struct run_action *a)
{
	const char *whom = NULL;
	struct err f = { 0 };
	int holds = 1;

	if (a->r->left || (a->r->active >= ACTIVE_MAX))
		return;
	if (a->plan->kind == PLAN_REMOVE)
		holds = dependents_gone(a);
	else if (a->plan->kind != PLAN_CHANGE && a->plan->kind != PLAN_LATER)
		holds = deps_hold(a, &whom, &f);
	if (holds > 0) {
		action_begin(a);
	} else if (holds < 0) {
		a->r->active++;
		action_fail(a, &f);
	} else if (whom && !a->told) {
		a->told = true;
		tell(a->r, json_pack("{s:s,s:s,s:s,s:s}", "type", "step", "cell", a->plan->cell,
				     "step", "waiting", "for", whom));
	}
}

static void action_look(struct run_action *a)
{
	struct cell *c;

	switch (a->step) {
	case STEP_WAIT:
		wait_look(a);
		break;
	case STEP_STOP:
		c = cell_of(a);
		if (!c || !cell_state_is_live(c->state))
			stopped(a);
		break;
	case STEP_UP:
		up_look(a);
		break;
	default:
		break;
	}
}

/* ---- volumes ---- */

static void volumes_told(void *arg, const char *volume, const struct err *f)
{
	struct project_run *r = arg;
	json_t *o;

	if (!volume) {
		r->threads--;
		r->volumes_done = true;
		look_again(r);
		return;
	}
	if (!f) {
		r->changed++;
		tell(r, json_pack("{s:s,s:s,s:s}", "type", "step", "volume", volume, "step",
				  r->plan.down ? "removed" : "created"));
		return;
	}
	r->failed++;
	o = json_pack("{s:s,s:s}", "type", "failed", "volume", volume);
	json_object_update_new(o, json_err(f));
	tell(r, o);
}

/* Before the cells, or after them. */
static bool volumes_ready(struct project_run *r)
{
	if (!r->volumes_begun) {
		r->volumes_begun = true;
		r->threads++;
		project_volumes_change(r->d, r->plan.project, r->plan.volumes, r->plan.down,
				       volumes_told, r);
	}
	return r->volumes_done;
}

/* ---- the run ---- */

static void tick_closed(uv_handle_t *h)
{
	struct project_run *r = h->data;

	plan_free(&r->plan);
	free(r->actions);
	free(r->of_cell);
	free(r->holds);
	buf_free(&r->out);
	free(r);
}

static void run_free(struct project_run *r)
{
	event_watch_remove(&r->watch);
	list_remove(&r->link);
	uv_close((uv_handle_t *)&r->tick, tick_closed);
}

static void run_end(struct project_run *r)
{
	unsigned same = 0;

	for (unsigned i = 0; i < r->plan.n; i++)
		same += r->plan.actions[i].kind == PLAN_KEEP;
	r->over = true;
	tell(r, json_pack("{s:s,s:i,s:i,s:i}", "type", "end", "changed", (int)r->changed,
			  "unchanged", (int)same, "failed", (int)r->failed));
	if (r->left)
		run_free(r);
}

static bool actions_look(struct project_run *r)
{
	bool all = true;

	memset(r->holds, 0, r->plan.file.ngroups * DEP_CONDITIONS * sizeof(*r->holds));
	for (unsigned i = 0; i < r->plan.n; i++) {
		struct run_action *a = &r->actions[i];

		action_look(a);
		/* What was not begun is not, when nobody asks for it any more. */
		all &= is_ended(a) || (r->left && a->step == STEP_WAIT);
	}
	return all && !r->active;
}

static void on_tick(uv_timer_t *t)
{
	struct project_run *r = t->data;
	bool over;

	if (r->over)
		return;
	if (r->left && !r->active && !r->threads)
		over = true;
	else if (r->plan.down)
		over = actions_look(r) && (r->left || volumes_ready(r));
	else
		over = volumes_ready(r) && actions_look(r);
	if (over && !r->threads)
		run_end(r);
}

static void on_event(struct event_watch *w)
{
	look_again(container_of(w, struct project_run, watch));
}

/* Which action is for which cell of the file. */
static void cells_index(struct project_run *r)
{
	const struct project_file *file = &r->plan.file;

	r->of_cell = xalloc((file->ncells + 1) * sizeof(*r->of_cell));
	r->holds = xalloc((file->ngroups + 1) * DEP_CONDITIONS * sizeof(*r->holds));
	for (unsigned i = 0; i < r->plan.n; i++) {
		const struct project_group *g = r->plan.actions[i].group < 0
							? NULL
							: &file->groups[r->plan.actions[i].group];

		for (unsigned k = 0; g && k < g->ncells; k++)
			if (!strcmp(file->cells[g->first + k].name, r->plan.actions[i].cell))
				r->of_cell[g->first + k] = &r->actions[i];
	}
}

struct project_run *project_run_new(struct daemon *d, struct plan *plan, bool dry,
				    void (*news)(void *arg), void *arg)
{
	struct project_run *r = xalloc(sizeof(*r));

	r->d = d;
	r->plan = *plan;
	*plan = (struct plan){ 0 };
	r->news = news;
	r->arg = arg;
	r->actions = xalloc((r->plan.n + 1) * sizeof(*r->actions));
	for (unsigned i = 0; i < r->plan.n; i++)
		r->actions[i] = (struct run_action){
			.r = r,
			.plan = &r->plan.actions[i],
			.step = plan_does(&r->plan.actions[i]) ? STEP_WAIT : STEP_DONE,
		};
	cells_index(r);
	uv_timer_init(&d->loop, &r->tick);
	r->tick.data = r;
	event_watch_add(d, &r->watch, on_event);
	list_append(&d->projects, &r->link);
	tell(r, plan_json(&r->plan));
	if (dry || r->plan.refused)
		run_end(r);
	else
		look_again(r);
	return r;
}

ssize_t project_run_read(struct project_run *r, char *buf, size_t size)
{
	size_t n = MIN(size, r->out.len - r->out_at);

	memcpy(buf, r->out.p + r->out_at, n);
	r->out_at += n;
	if (r->out_at == r->out.len)
		r->out.len = r->out_at = 0;
	return n || !r->over ? (ssize_t)n : -1;
}

void project_run_leave(struct project_run *r)
{
	r->left = true;
	if (r->over)
		run_free(r);
	else
		look_again(r);
}

enum project_busy project_busy(struct daemon *d, const char *project)
{
	enum project_busy busy = PROJECT_FREE;
	struct project_run *r;

	list_for_each(r, &d->projects, link)
		if (!r->over && !strcmp(r->plan.project, project))
			busy = MAX(busy, r->left ? PROJECT_ENDING : PROJECT_BUSY);
	return busy;
}
