/* A run that waits (struct project_wait) for a cell that is up (runaction.h): until it has done its
 * work, its agent has answered, or it is healthy. */
#include "daemon/cells/cellspec.h"
#include "daemon/cells/health.h"
#include "daemon/cells/result.h"
#include "daemon/projects/agent.h"
#include "daemon/projects/runaction.h"

void action_unwatch(struct run_action *a)
{
	if (a->watching)
		session_watch_remove(&a->watch);
	a->watching = false;
}

static void on_session(struct session_watch *w, bool gone)
{
	struct run_action *a = container_of(w, struct run_action, watch);

	if (gone)
		a->watching = false;
	run_look_again(a->r);
}

/* Its agent: 1 when it has done what it was asked to; 0: not yet; -1: it will not. */
static int agent_settled(struct run_action *a, struct cell *c, struct err *f)
{
	struct session *s = group_session(a->r->d, action_group(a), c);
	int rest;

	if (!s)
		return err_set(f, ERR_DEPENDENCY, "its session was removed meanwhile");
	rest = session_rest(s, f);
	if (rest == 2 && !a->told)
		action_tell(a, "waiting for an answer to its question ('viv approvals')");
	a->told = rest == 2;
	if ((rest == 0 || rest == 2) && !a->watching) {
		session_watch_add(s, &a->watch, on_session);
		a->watching = true;
	}
	return rest == 2 ? 0 : rest;
}

/* 1 when it is what it is to be: it has done its work, or is healthy, or runs and has no health
 * check; *how says which. */
static int cell_settled(struct run_action *a, const char **how, struct err *f)
{
	struct cell *c = action_cell_find(a);

	if (!c)
		return err_set(f, ERR_DEPENDENCY, "the cell was removed meanwhile");
	if (action_group(a)->prompt) {
		*how = "answered";
		return agent_settled(a, c, f);
	}
	*how = cell_is_over(c) ? "completed" : NULL;
	/* One that sleeps starts when somebody uses it. */
	if (cell_is_over(c) || c->state == CELL_SLEEPING)
		return 1;
	if (!cell_state_is_live(c->state) && !c->restart_at)
		return err_set(f, ERR_DEPENDENCY, "it ended with status %d" REMEDY "'viv logs %s'",
			       c->status, a->plan->cell);
	if (!json_object_get(c->spec, "health"))
		return c->state == CELL_RUNNING || c->state == CELL_PAUSED;
	*how = "healthy";
	if (health_is_good(c))
		return 1;
	return health_is_bad(c) && cellspec_restart(c->spec).policy == RESTART_NO
		       ? err_set(f, ERR_DEPENDENCY, "it is unhealthy" REMEDY "'viv inspect %s'",
				 a->plan->cell)
		       : 0;
}

/* With what its work left, if it is done. */
static void settled_tell(struct run_action *a, const char *how)
{
	const struct cell *c = action_cell_find(a);
	json_t *o = json_pack("{s:s,s:s,s:s}", "type", "step", "cell", a->plan->cell, "step", how);

	if (c && c->state == CELL_COMPLETED) {
		json_object_set_new(o, "exit_code", json_integer(c->status));
		cell_result_set(c, o);
	}
	run_tell(a->r, o);
}

void action_settle(struct run_action *a)
{
	struct project_run *r = a->r;
	const char *how = NULL;
	struct err f = { 0 };
	int settled = cell_settled(a, &how, &f);

	if (!settled && r->until && (int64_t)uv_now(&r->d->loop) >= r->until)
		settled = err_set(&f, ERR_DEPENDENCY, "it is not ready yet, and the time is up");
	if (!settled)
		return;
	action_unwatch(a);
	a->step = STEP_DONE;
	if (settled > 0) {
		if (how)
			settled_tell(a, how);
		return;
	}
	r->active++; /* which action_fail takes back */
	action_fail(a, &f);
}
