/* The steps of an action of a run (runaction.h): stop, change, remove, make, write files, start,
 * prompt. A step ends with a callback, or is looked at in each round. Cells are looked up by their
 * names each time: others may remove them meanwhile. */
#include "daemon/cells/change.h"
#include "daemon/cells/fileswrite.h"
#include "daemon/cells/life.h"
#include "daemon/cells/make.h"
#include "daemon/projects/agent.h"
#include "daemon/projects/runaction.h"

#define ACTIVE_MAX 32

struct family_name action_shown(const struct run_action *a)
{
	return plan_shown(&a->r->plan, a->plan->cell);
}

void action_tell(struct run_action *a, const char *step)
{
	run_tell(a->r, json_pack("{s:s,s:s,s:s}", "type", "step", "cell", action_shown(a).str,
				 "step", step));
}

static void action_end(struct run_action *a, enum step how)
{
	a->step = how;
	a->r->active--;
	run_look_again(a->r);
}

void action_fail(struct run_action *a, const struct err *f)
{
	json_t *o = json_pack("{s:s,s:s}", "type", "failed", "cell", action_shown(a).str);

	json_object_update_new(o, json_err(f));
	run_tell(a->r, o);
	a->r->failed++;
	action_end(a, STEP_FAILED);
}

static void action_done(struct run_action *a)
{
	a->r->changed++;
	action_end(a, STEP_DONE);
}

struct cell *action_cell_find(const struct run_action *a)
{
	return cell_by_name(a->r->d, a->plan->cell);
}

struct project_group *action_group(const struct run_action *a)
{
	return a->plan->group < 0 ? NULL : &a->r->plan.file.groups[a->plan->group];
}

/* The cell is as it is to be: its agent gets its prompt. */
static void up_done(struct run_action *a)
{
	struct cell *c = action_cell_find(a);
	struct err f = { 0 };

	if (!c && a->plan->prompt)
		err_note(&f, ERR_DEPENDENCY, "the cell was removed meanwhile");
	else if (a->plan->prompt && group_prompt(a->r->d, action_group(a), c, &f) == 0)
		action_tell(a, "prompted");
	if (f.kind) {
		action_fail(a, &f);
		return;
	}
	action_done(a);
	if (a->r->wait)
		a->step = STEP_SETTLE;
}

/* ---- steps ---- */

static void start_begin(struct run_action *a)
{
	struct cell *c = action_cell_find(a);
	struct err f = { 0 };

	a->step = STEP_UP;
	if (!c)
		err_note(&f, ERR_DEPENDENCY, "the cell was removed meanwhile");
	else if (cell_state_is_live(c->state) && c->state != CELL_STOPPING)
		run_look_again(a->r);
	else
		a->started = cell_start(c, &f) == 0;
	if (f.kind)
		action_fail(a, &f);
	else
		action_tell(a, "starting");
}

/* The cell runs no more, and is changed. */
static bool respec(struct run_action *a, const json_t *spec)
{
	struct cell *c = action_cell_find(a);
	struct err f = { 0 };

	if (!c)
		err_note(&f, ERR_DEPENDENCY, "the cell was removed meanwhile");
	else if (cell_respec(c, json_deep_copy(spec), 0, &f) == 0)
		return true;
	action_fail(a, &f);
	return false;
}

/* They are written, and the cell says so: killed before that, they are written again. */
static bool files_note(struct run_action *a)
{
	struct project_group *g = &a->r->plan.file.groups[a->plan->group];
	const struct cell *c = action_cell_find(a);
	/* A child's settings are those that it got. */
	json_t *spec = a->r->plan.family.parent[0] && c ? json_deep_copy(c->spec)
							: json_incref(a->plan->spec);
	bool ok;

	json_object_set_new(json_object_get(spec, "labels"), LABEL_FILES,
			    json_string(group_files_hash(a->r->d, g)));
	ok = respec(a, spec);
	json_decref(spec);
	return ok;
}

static void written(void *arg, const struct err *f)
{
	struct run_action *a = arg;

	a->r->threads--;
	if (f) {
		action_fail(a, f);
	} else if (files_note(a)) {
		action_tell(a, "files written");
		start_begin(a);
	}
}

/* Before it is started, what it is to have. */
static void files_begin(struct run_action *a)
{
	struct cell *c = a->plan->files ? action_cell_find(a) : NULL;

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
	action_tell(a, "created");
	files_begin(a);
}

static void make_begin(struct run_action *a)
{
	const struct plan_family *family = &a->r->plan.family;

	a->step = STEP_MAKE;
	a->r->threads++;
	if (family->parent[0]) {
		family->make(a->r->d, family->parent, action_shown(a).str,
			     json_deep_copy(a->plan->spec), made, a);
		return;
	}
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
	action_tell(a, "removed");
	if (a->plan->kind == PLAN_RECREATE)
		make_begin(a);
	else
		action_done(a);
}

/* It runs no more: what it was stopped for. */
static void stopped(struct run_action *a)
{
	struct cell *c = action_cell_find(a);

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
		if (respec(a, a->plan->spec)) {
			action_tell(a, "changed");
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
	struct cell *c = action_cell_find(a);
	struct err f = { 0 };

	a->step = STEP_STOP;
	if (c && (cell_state_is_live(c->state) || c->state == CELL_SLEEPING || c->restart_at)) {
		if (c->state != CELL_STOPPING && cell_stop(c, cell_grace(c), &f) < 0) {
			action_fail(a, &f);
			return;
		}
		if (cell_state_is_live(c->state)) {
			action_tell(a, "stopping");
			return;
		}
	}
	stopped(a);
}

/* It is not stopped for this; one that is about to end is waited for. */
static void start_when_stopped(struct run_action *a)
{
	const struct cell *c = action_cell_find(a);

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
	action_tell(a, "changed");
	if (a->plan->start)
		start_when_stopped(a);
	else
		up_done(a);
}

/* Without a restart. */
static void change_begin(struct run_action *a)
{
	struct cell *c = action_cell_find(a);
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
		action_tell(a, "creating");
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
	struct cell *c = action_cell_find(a);
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
		if (c->state == CELL_STOPPED || c->state == CELL_COMPLETED)
			run_tell(a->r, json_pack("{s:s,s:s,s:s,s:i}", "type", "step", "cell",
						 action_shown(a).str, "step", "exited", "exit_code",
						 c->status));
		else
			action_tell(a, cell_state_name(c->state));
		up_done(a);
	}
}

/* ---- rounds ---- */

static void wait_look(struct run_action *a)
{
	const char *whom = NULL;
	struct err f = { 0 };
	int holds = 1;

	if (a->r->left || (a->r->active >= ACTIVE_MAX))
		return;
	if (a->plan->kind == PLAN_REMOVE)
		holds = action_dependents_gone(a);
	else if (a->plan->kind != PLAN_CHANGE && a->plan->kind != PLAN_LATER)
		holds = action_deps_hold(a, &whom, &f);
	if (holds > 0) {
		action_begin(a);
	} else if (holds < 0) {
		a->r->active++;
		action_fail(a, &f);
	} else if (whom && !a->told) {
		a->told = true;
		run_tell(a->r,
			 json_pack("{s:s,s:s,s:s,s:s}", "type", "step", "cell", action_shown(a).str,
				   "step", "waiting", "for", plan_shown(&a->r->plan, whom).str));
	}
}

void action_look(struct run_action *a)
{
	struct cell *c;

	switch (a->step) {
	case STEP_WAIT:
		wait_look(a);
		break;
	case STEP_STOP:
		c = action_cell_find(a);
		if (!c || !cell_state_is_live(c->state))
			stopped(a);
		break;
	case STEP_UP:
		up_look(a);
		break;
	case STEP_SETTLE:
		action_settle(a);
		break;
	default:
		break;
	}
}
