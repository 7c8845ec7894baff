/* Between the parts of workflows. */
#ifndef VIV_DAEMON_WORKFLOWS_PRIVATE_H
#define VIV_DAEMON_WORKFLOWS_PRIVATE_H

#include "daemon/cells/cells.h"
#include "daemon/workflows/engine.h"
#include "daemon/workflows/workflows.h"

/* Something that is under way for a node: n->work_of. stop: the node does not want it any more, and
 * does not know it afterwards. */
struct leaf_work {
	void (*stop)(struct leaf_work *w);
};

struct daemon *run_daemon(const struct wf_run *r);
/* What is under way goes on, and is met again: vivd ends, or the run is read once more. */
bool run_is_left(const struct wf_run *r);

/* ---- rows.c ---- */
void rows_begin(struct wf_run *r);
int rows_end(struct wf_run *r);
void rows_save(struct wf_node *n);
void rows_save_run(struct wf_run *r);
void rows_attempt(struct wf_node *n);
void rows_told(struct wf_run *r, const struct wf_node *n, const char *what);
/* A new run's row. -1: an error. */
int run_insert(struct wf_run *r, bool code, const char *by, struct err *e);
/* A run with its nodes, not resumed; NULL: it is not there, or cannot be read. */
struct wf_run *run_read(struct daemon *d, const char *id, const struct wf_ops *ops);
/* The whole id that is meant; -1: an error. */
int run_id_find(struct daemon *d, const char *text, char ret[WF_ID_LEN + 1], struct err *e);
json_t *run_json(struct daemon *d, const char *id, bool steps);
json_t *json_of(const char *text); /* NULL: none */
/* Too many that are over: the oldest go. */
void runs_trim(struct daemon *d);
void run_delete(struct daemon *d, const char *id, struct err *e);

/* ---- workflows.c ---- */
/* Whether one more may begin: runs of files and of programs that are not over count alike. -1: an
 * error. */
int must_check runs_room(struct daemon *d, struct err *e);
/* A failure that is told later, as the engine wants it. */
void leaf_fail(struct wf_node *n, const struct err *e, bool final);
void leaf_done(struct wf_node *n, json_t *result);
/* The same for one whose work calls it when nothing of the engine is on the stack. */
void waits_tell(const char *id);
/* Keeps a name of a cell that goes with the run. */
void run_cell_note(struct wf_run *r, const char *name);

/* ---- the leaves ---- */
void command_start(struct wf_node *n); /* command.c */
void cell_step_start(struct wf_node *n); /* cellstep.c */
void prompt_start(struct wf_node *n); /* prompt.c */
void approve_start(struct wf_node *n); /* approve.c */
void approve_open(void);
/* VIV_IDEMPOTENCY_KEY of a step: the same for each of its attempts. */
void step_key(const struct wf_node *n, char ret[65]);

/* ---- cellwait.c ---- */
/* A cell that a step needs: found by name, or made for the run, and running. */
struct cell_need;
typedef void (*cell_ready_fn)(void *arg, struct cell *c, const struct err *e);
/* fn once, later: c runs, or NULL with an error. in: NULL: the run's own cell. ended: a start of
 * the cell (struct cell) that is known to have ended, whatever its state says; 0: none. */
struct cell_need *cell_need(struct wf_run *r, const char *in, int64_t ended, cell_ready_fn fn,
			    void *arg);
/* The same for a spec (taken): made if it is not there. */
struct cell_need *cell_need_made(struct wf_run *r, const char *name, json_t *spec, bool keep,
				 cell_ready_fn fn, void *arg);
void cell_need_drop(struct cell_need *x);

#endif
