/* Workflows: runs of a file's steps, or of a program's, that go on after whatever was killed
 * (docs/workflows.md, docs/decisions/0053-workflows.md).
 *
 * Runs, steps, attempts and results are rows of the database. A run that is not over is in memory
 * as well: a tree of nodes that the engine moves (engine.h), with leaves that are done in cells
 * (command.c), sessions (prompt.c) and by people (approve.c). A program's run (code.c) has rows
 * only: the program claims a step, does it, and says so. */
#ifndef VIV_DAEMON_WORKFLOWS_WORKFLOWS_H
#define VIV_DAEMON_WORKFLOWS_WORKFLOWS_H

#include <jansson.h>

#include "daemon/state/daemon.h"
#include "daemon/workflows/def.h"
#include "daemon/workflows/limits.h"

/* At the start, with the database open, before cells are known. */
void workflows_open(struct daemon *d);
/* The cells are known: runs go on. */
void workflows_begin(struct daemon *d);
/* vivd ends; what runs in cells goes on. */
void workflows_close(struct daemon *d);

/* Starts a run of a document of def_read, which is taken, as are inputs (NULL: none). by: who says
 * so. id: "", and the id of the run is put there; or an id, under which it is started unless there
 * is such a run already. */
int must_check workflow_start(struct daemon *d, json_t *doc, json_t *inputs, const char *by,
			      char id[17], struct err *e);
/* All of a run; the caller's. id: or the beginning of one id only. steps: with its steps. NULL: an
 * error 404 (409 for several). */
json_t *workflow_json(struct daemon *d, const char *id, bool steps, struct err *e);
/* Steps of a run, by its whole id; the caller's. outputs: with what they gave. step: this one only;
 * NULL: all. */
json_t *workflow_steps(struct daemon *d, const char *id, bool outputs, const char *step);
/* The last ones, newest first, without steps. state, name: NULL: any. */
json_t *workflows_list(struct daemon *d, const char *state, const char *name, unsigned limit);
/* undo: steps that are done are rolled back, if they say how, before it is over. Asked for once
 * more, that ends as well. */
int must_check workflow_cancel(struct daemon *d, const char *id, bool undo, struct err *e);
/* One that failed or was cancelled goes on. */
int must_check workflow_retry(struct daemon *d, const char *id, struct err *e);
/* One that is over goes, with its rows. */
int must_check workflow_remove(struct daemon *d, const char *id, struct err *e);
bool workflow_is_over(struct daemon *d, const char *id);
/* The same, and the cells that were made for it are gone. */
bool workflow_is_settled(struct daemon *d, const char *id);

/* Somebody who waits until a run is settled. fn is called once, later; it is removed before. */
struct workflow_wait {
	struct list link;
	char id[17];
	void (*fn)(struct workflow_wait *w);
};
void workflow_wait_add(struct workflow_wait *w, const char *id,
		       void (*fn)(struct workflow_wait *w));
void workflow_wait_remove(struct workflow_wait *w);

/* ---- code.c: runs of programs ---- */

/* Makes a run, or finds the one with this id. inputs: taken; NULL: none. */
int must_check code_start(struct daemon *d, const char *id, const char *name, json_t *inputs,
			  char ret_id[17], struct err *e);
/* A step by its name: {state: done, result} or {state: claimed, lease, attempt, key}; an error 409
 * if somebody else has it. The caller's. */
json_t *code_claim(struct daemon *d, const char *id, const char *step, double lease, struct err *e);
/* Still at work on it. */
int must_check code_renew(struct daemon *d, const char *id, const char *step, const char *lease,
			  double seconds, struct err *e);
/* It is done: output, taken; or failed: text. again: it may be claimed once more. */
int must_check code_finish(struct daemon *d, const char *id, const char *step, const char *lease,
			   json_t *output, const char *text, bool again, struct err *e);
/* The run is over. */
int must_check code_over(struct daemon *d, const char *id, json_t *output, const char *text,
			 struct err *e);

#endif
