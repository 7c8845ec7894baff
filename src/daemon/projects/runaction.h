/* The inside of a run (run.h), which these files share:
 *   run.c        the run: its lines of JSON, its rounds, volumes and automation
 *   runsteps.c   what is done for an action, one step after the other
 *   rundeps.c    what an action waits for before it begins
 *   runsettle.c  waiting for a cell that is up to be what it is to be
 *
 * An action borrows its run and its part of the plan; both live until the run is freed, which
 * happens when its reader has left, no action is active and no thread works for it. */
#ifndef VIV_DAEMON_PROJECTS_RUNACTION_H
#define VIV_DAEMON_PROJECTS_RUNACTION_H

#include "base/buf.h"
#include "daemon/projects/run.h"
#include "daemon/sessions/sessions.h"
#include "daemon/state/events.h"

enum step {
	STEP_WAIT, /* for others */
	STEP_STOP, /* it is being stopped */
	STEP_CHANGE, /* its keeper is told */
	STEP_REMOVE, /* a thread removes it */
	STEP_MAKE, /* a thread makes its disk */
	STEP_FILES, /* its files are written */
	STEP_UP, /* it is being started */
	STEP_SETTLE, /* it is up, and waited for */
	STEP_DONE,
	STEP_FAILED,
};

struct run_action {
	struct project_run *r;
	struct plan_action *plan;
	enum step step;
	bool told; /* that it waits */
	bool started; /* by us */
	bool watching; /* its session */
	struct session_watch watch;
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
	bool volumes_done, volumes_begun, automated;
	bool left, over; /* nobody reads; all is done */
	bool wait; /* for cells that are up to settle ... */
	int64_t until; /* ... no longer than this, by uv_now(); 0: for ever */
	bool lazy; /* tick is for that time */
	struct event_watch watch;
	uv_timer_t tick;
	struct buf out;
	size_t out_at;
	void (*news)(void *arg);
	void *arg;
};

/* ---- run.c ---- */

/* A line for the reader. Takes o. */
void run_tell(struct project_run *r, json_t *o);
/* In the next round of the loop, at all of its actions. */
void run_look_again(struct project_run *r);

/* ---- runsteps.c ---- */

static inline bool action_is_ended(const struct run_action *a)
{
	return a->step >= STEP_DONE;
}
/* What its cell is called in lines for the reader. */
struct family_name action_shown(const struct run_action *a);
/* Borrows; NULL: it is not there (any more). */
struct cell *action_cell_find(const struct run_action *a);
/* Of the file, borrowed; NULL: none. */
struct project_group *action_group(const struct run_action *a);
void action_tell(struct run_action *a, const char *step);
/* Of one that is active. */
void action_fail(struct run_action *a, const struct err *f);
/* Goes on with it, if what it waits for is there. */
void action_look(struct run_action *a);

/* ---- rundeps.c ---- */

/* Its group's dependencies. 1: go on; 0: wait, for the cell *ret_for; -1: an error. */
int action_deps_hold(struct run_action *a, const char **ret_for, struct err *f);
/* What depends on a cell goes before it does. */
bool action_dependents_gone(struct run_action *a);

/* ---- runsettle.c ---- */

/* STEP_SETTLE: looks whether it is over. */
void action_settle(struct run_action *a);
/* Its session is not watched any more. */
void action_unwatch(struct run_action *a);

#endif
