/* What an action of a run waits for (runaction.h): the cells that its own depends on or, when it
 * removes one, those that depend on it. */
#include "daemon/cells/cellspec.h"
#include "daemon/cells/health.h"
#include "daemon/projects/runaction.h"

/* A cell that another depends on: 1 when the condition holds, 0: not yet, -1: it never will. */
static int condition_holds(struct daemon *d, const char *name, enum dep_condition condition,
			   struct err *f)
{
	const struct cell *c = cell_by_name(d, name);

	if (!c)
		return err_set(f, ERR_DEPENDENCY, "it depends on '%s', which is not there", name);
	if (condition == DEP_STARTED)
		return cell_state_is_live(c->state) || c->restart_at || cell_is_over(c) ||
				       c->state == CELL_STOPPED || c->state == CELL_COMPLETED ||
				       c->state == CELL_SLEEPING
			       ? 1
			       : err_set(f, ERR_DEPENDENCY, "it depends on '%s', which is %s", name,
					 cell_state_name(c->state));
	if (condition == DEP_EXITED && cell_is_over(c))
		return 1;
	if (condition == DEP_HEALTHY && (health_is_good(c) || c->state == CELL_SLEEPING))
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
	return a && a->step < STEP_SETTLE ? 0 : condition_holds(r->d, name, condition, f);
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

int action_deps_hold(struct run_action *a, const char **ret_for, struct err *f)
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

bool action_dependents_gone(struct run_action *a)
{
	struct project_run *r = a->r;

	for (unsigned i = 0; i < r->plan.n && a->plan->group >= 0; i++) {
		struct run_action *other = &r->actions[i];

		if (other->plan->kind == PLAN_REMOVE && !action_is_ended(other) &&
		    depends(&r->plan.file, other->plan->group, a->plan->group))
			return false;
	}
	return true;
}
