/* See run.h. Every event of vivd makes the run look at all of its actions again, in the next round
 * of the loop. What is done for one is in runsteps.c. */
#include "daemon/projects/run.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/projects/automation.h"
#include "daemon/projects/runaction.h"
#include "daemon/projects/volumes.h"

/* Looking at all actions takes longer the more there are, and is done less often then. */
#define LOOK_MS(n) ((n) / 20)

static void on_tick(uv_timer_t *t);

/* ---- telling ---- */

void run_tell(struct project_run *r, json_t *o)
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

void run_look_again(struct project_run *r)
{
	if (r->over || (uv_is_active((uv_handle_t *)&r->tick) && !r->lazy))
		return;
	r->lazy = false;
	uv_timer_start(&r->tick, on_tick, LOOK_MS(r->plan.n), 0);
}

/* ---- volumes ---- */

static void volumes_told(void *arg, const char *volume, const struct err *f)
{
	struct project_run *r = arg;
	json_t *o;

	if (!volume) {
		r->threads--;
		r->volumes_done = true;
		run_look_again(r);
		return;
	}
	if (!f) {
		r->changed++;
		run_tell(r, json_pack("{s:s,s:s,s:s}", "type", "step", "volume", volume, "step",
				      r->plan.down ? "removed" : "created"));
		return;
	}
	r->failed++;
	o = json_pack("{s:s,s:s}", "type", "failed", "volume", volume);
	json_object_update_new(o, json_err(f));
	run_tell(r, o);
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
	for (unsigned i = 0; i < r->plan.n; i++)
		action_unwatch(&r->actions[i]);
	event_watch_remove(&r->watch);
	list_remove(&r->link);
	uv_close((uv_handle_t *)&r->tick, tick_closed);
}

static void run_end(struct project_run *r)
{
	unsigned same = 0;
	const json_t *a;
	size_t i;

	for (unsigned k = 0; k < r->plan.n; k++)
		same += r->plan.actions[k].kind == PLAN_KEEP;
	json_array_foreach(r->plan.automation, i, a)
		same += !strcmp(json_text(a, "action"), "keep");
	r->over = true;
	run_tell(r, json_pack("{s:s,s:i,s:i,s:i}", "type", "end", "changed", (int)r->changed,
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
		all &= action_is_ended(a) ||
		       (r->left && (a->step == STEP_WAIT || a->step == STEP_SETTLE));
	}
	return all && !r->active;
}

static void automation_told(void *arg, json_t *o)
{
	run_tell(arg, o);
}

/* Schedules need their cells: with down, they go first. */
static void automate(struct project_run *r)
{
	bool up = r->plan.automation && !r->automated && !r->left;

	for (unsigned i = 0; up && !r->plan.down && i < r->plan.n; i++)
		up = action_is_ended(&r->actions[i]) || r->actions[i].step == STEP_SETTLE;
	if (!up)
		return;
	r->automated = true;
	automation_do(r->d, &r->plan, automation_told, r, &r->changed, &r->failed);
}

static void on_tick(uv_timer_t *t)
{
	struct project_run *r = t->data;
	bool over;

	if (r->over)
		return;
	if (r->plan.down)
		automate(r);
	if (r->left && !r->active && !r->threads)
		over = true;
	else if (r->plan.down)
		over = actions_look(r) && (r->left || volumes_ready(r));
	else
		over = volumes_ready(r) && actions_look(r);
	if (!r->plan.down && r->volumes_done)
		automate(r);
	if (over && !r->threads) {
		run_end(r);
	} else if (r->until && !uv_is_active((uv_handle_t *)t)) {
		uint64_t now = uv_now(&r->d->loop);

		r->lazy = true;
		uv_timer_start(t, on_tick,
			       (uint64_t)r->until > now ? (uint64_t)r->until - now : 1000, 0);
	}
}

static void on_event(struct event_watch *w)
{
	run_look_again(container_of(w, struct project_run, watch));
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

/* Where an action begins. */
static enum step first_step(const struct project_run *r, const struct plan_action *a)
{
	if (plan_does(a))
		return STEP_WAIT;
	return r->wait && a->kind == PLAN_KEEP ? STEP_SETTLE : STEP_DONE;
}

struct project_run *project_run_new(struct daemon *d, struct plan *plan,
				    const struct project_wait *wait, bool dry,
				    void (*news)(void *arg), void *arg)
{
	struct project_run *r = xalloc(sizeof(*r));

	r->d = d;
	r->plan = *plan;
	*plan = (struct plan){ 0 };
	r->news = news;
	r->arg = arg;
	r->wait = wait->on;
	if (wait->on && wait->ms)
		r->until = (int64_t)uv_now(&d->loop) + wait->ms;
	r->actions = xalloc((r->plan.n + 1) * sizeof(*r->actions));
	for (unsigned i = 0; i < r->plan.n; i++)
		r->actions[i] = (struct run_action){
			.r = r,
			.plan = &r->plan.actions[i],
			.step = first_step(r, &r->plan.actions[i]),
		};
	cells_index(r);
	uv_timer_init(&d->loop, &r->tick);
	r->tick.data = r;
	event_watch_add(d, &r->watch, on_event);
	list_append(&d->projects, &r->link);
	run_tell(r, plan_json(&r->plan));
	if (dry || r->plan.refused)
		run_end(r);
	else
		run_look_again(r);
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
		run_look_again(r);
}

enum project_busy project_busy(struct daemon *d, const char *parent, const char *project)
{
	enum project_busy busy = PROJECT_FREE;
	struct project_run *r;

	list_for_each(r, &d->projects, link)
		if (!r->over && !strcmp(r->plan.project, project) &&
		    !strcmp(r->plan.family.parent, parent))
			busy = MAX(busy, r->left ? PROJECT_ENDING : PROJECT_BUSY);
	return busy;
}
