/* The engine of workflows: a state machine that decides what runs next, and nothing else.
 *
 * A run is a tree of nodes. Its root is the workflow; a node is one step of it, or a part of a
 * step: one item of a foreach, the steps that undo a step. Leaves (run, prompt, cell, approve) are
 * work of an executor; sleep and everything that has steps in it is the engine's.
 *
 *   ready ──▶ running ──▶ done
 *     │          │  ▲
 *     ▼          ▼  │
 *   skipped    retry        failed, cancelled from each of them
 *
 * ready: its expressions are evaluated. Whatever changes is one transaction: that a step is done,
 * and that the next one is ready or running, are written together. Effects (an evaluation, a start,
 * a stop, a timer) follow when they are written. So the rows of a run say at each moment all that
 * has to be done: a run that is read again goes on as if nothing had happened, leaves that run are
 * given to the executor once more, and what is done is never begun again.
 *
 * Nothing here reads a clock, a file or a database: those are the calls of struct wf_ops. No call
 * recurses over the nodes of a run, and a transaction takes a bounded number of steps. */
#ifndef VIV_DAEMON_WORKFLOWS_ENGINE_H
#define VIV_DAEMON_WORKFLOWS_ENGINE_H

#include <jansson.h>

#include "base/err.h"
#include "base/list.h"
#include "daemon/workflows/limits.h"

#define WF_ID_LEN 16

enum wf_kind {
	WF_RUN,
	WF_PROMPT,
	WF_CELL,
	WF_APPROVE,
	WF_SLEEP,
	WF_WORKFLOW,
	WF_PARALLEL,
	WF_FOREACH,
	WF_IF,
	WF_STEPS, /* one after the other */
	WF_ROLLBACK, /* of a run that failed: what undoes its steps */
	WF_CODE, /* a step of a program outside (code.c); never the engine's */
	WF_KINDS,
};

enum wf_state {
	WF_READY,
	WF_RUNNING,
	WF_RETRY,
	WF_DONE,
	WF_SKIPPED,
	WF_FAILED,
	WF_CANCELLED,
	WF_STATES,
};

enum wf_run_state {
	WF_RUN_RUNNING,
	WF_RUN_ROLLBACK,
	WF_RUN_DONE,
	WF_RUN_FAILED,
	WF_RUN_CANCELLED,
	WF_RUN_STATES,
};

struct wf_run;

struct wf_node {
	struct list link; /* in the parent's children */
	struct list all; /* of the run, oldest first */
	struct list work; /* what is to be done in this transaction */
	struct list effect; /* what follows it */
	struct wf_run *run;
	struct wf_node *parent; /* NULL: a root */
	struct wf_node
		*scope; /* where names are looked up: the parent, or what a rollback undoes */
	struct list children;
	const json_t *def; /* the step; borrowed from the run's document */
	const json_t *steps; /* in it; NULL: none */
	char *path;
	const char *name; /* the end of path */
	enum wf_kind kind;
	enum wf_state state;
	int64_t n; /* its number in the run, from 1 */
	int64_t over_n; /* the same of its end; 0: not yet */
	int64_t index; /* in its parent */
	unsigned attempt; /* from 1; 0: not begun */
	int64_t started, ended, due; /* nanoseconds since 1970; 0: none */
	json_t *live; /* an object, what has to be kept while it is not over */
	json_t *args; /* as evaluated; not kept: NULL until it begins in this process */
	json_t *result; /* {output, exit_code, ...}; NULL: none */
	json_t *error; /* NULL: none */
	int64_t next; /* of its steps or items; those before were begun */
	unsigned nactive; /* children that are not over */
	struct wf_node *failed; /* a child */
	bool ending; /* its outputs are being evaluated */
	bool stop; /* effect: not a start but the opposite */
	void *work_of; /* the executor's; NULL: nothing is under way */
	void *timer; /* the same for its timer */
};

struct wf_ops {
	/* A transaction. end: -1: nothing was written; the run is lost and to be read again. */
	void (*begin)(struct wf_run *r);
	int (*end)(struct wf_run *r);
	void (*save)(struct wf_node *n);
	void (*save_run)(struct wf_run *r);
	/* An attempt is over. */
	void (*attempt)(struct wf_node *n);
	/* Something happened that others want to know: "started", "step", ... */
	void (*told)(struct wf_run *r, const struct wf_node *n, const char *what);
	/* After a transaction: evaluates a list of expressions, and calls wf_evaluated(), later. */
	void (*evaluate)(struct wf_node *n, json_t *context, json_t *exprs);
	/* Begins a leaf with n->args, or goes on with it (n->live); wf_finished() or wf_failed()
	 * follow, later. */
	void (*start)(struct wf_node *n);
	/* Nobody wants it any more: an evaluation or a leaf. It is forgotten at once. */
	void (*stop)(struct wf_node *n);
	/* Calls wf_timer() then; at 0: never. */
	void (*timer)(struct wf_node *n, int64_t at);
	/* Calls wf_go_on() soon. */
	void (*later)(struct wf_run *r);
	/* The run is over. */
	void (*over)(struct wf_run *r);
	int64_t (*now)(struct wf_run *r);
};

struct wf_run {
	struct list link; /* the owner's */
	const struct wf_ops *ops;
	void *arg; /* the owner's */
	int64_t row;
	char id[WF_ID_LEN + 1];
	char *name;
	json_t *doc; /* {main, workflows} as def.h makes it */
	json_t *inputs;
	json_t *live; /* an object of the owner's */
	enum wf_run_state state;
	int64_t created, ended;
	int64_t nnodes, nover; /* numbers that were given */
	uint64_t bytes; /* of results */
	json_t *error; /* NULL: none */
	bool undone; /* steps were rolled back */
	bool cancelled; /* somebody ended it; it may be rolled back still */
	struct wf_node *root, *rollback;
	struct list nodes; /* all */
	struct list work, effects;
	struct wf_node **undo; /* what is to be undone, in this order */
	size_t nundo;
	unsigned depth; /* of transactions */
	bool lost;
	void *round; /* the owner's: what is to be done in the next round of its loop */
};

/* ---- for the owner ---- */

/* A new run; takes doc and inputs, which were checked. Not begun. */
struct wf_run *wf_run_new(const struct wf_ops *ops, void *arg, const char *name, json_t *doc,
			  json_t *inputs);
void wf_run_free(struct wf_run *r);
void wf_begin(struct wf_run *r);
/* A row of a node, in the order of their numbers. NULL: it cannot belong to this run. */
struct wf_row {
	const char *path;
	int64_t n, over_n, index, started, ended, due;
	unsigned attempt;
	enum wf_kind kind;
	enum wf_state state;
	json_t *live, *result, *error; /* taken */
};
struct wf_node *wf_load(struct wf_run *r, struct wf_row *row);
/* All of them were read: goes on. */
void wf_resume(struct wf_run *r);
void wf_cancel(struct wf_run *r, bool undo);
/* One that failed or was cancelled goes on: what is not done is tried again. -1: it cannot. */
int wf_retry(struct wf_run *r, struct err *e);

/* ---- what ops tell ---- */

/* values: taken; NULL: e. */
void wf_evaluated(struct wf_node *n, json_t *values, const struct err *e);
/* result: {output, ...}; taken. */
void wf_finished(struct wf_node *n, json_t *result);
/* result: the same, of one that failed nevertheless; may be NULL; taken. final: it is not tried
 * again. */
void wf_failed(struct wf_node *n, json_t *result, const struct err *e, bool final);
/* What has to be kept of a leaf that runs; taken. -1: it could not be. */
int wf_live(struct wf_node *n, json_t *live);
void wf_timer(struct wf_node *n);
void wf_go_on(struct wf_run *r);

/* ---- about nodes ---- */

bool wf_is_over(const struct wf_node *n);
bool wf_is_leaf(const struct wf_node *n);
/* What expressions of this step see: inputs, steps, item, index, run. inside: those in it. The
 * caller's. */
json_t *wf_context(const struct wf_node *n, bool inside);
struct wf_node *wf_find(struct wf_run *r, const char *path);
const char *wf_kind_name(enum wf_kind k);
const char *wf_state_name(enum wf_state s);
const char *wf_run_state_name(enum wf_run_state s);
bool wf_run_is_over(const struct wf_run *r);

#endif
