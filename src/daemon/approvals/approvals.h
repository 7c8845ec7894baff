/* Approvals: questions of cells whose rules say "ask", and the operator's answers.
 *
 * The keeper of a cell has the list of what is open (wire/keeper.h, KEEP_ASKS); the database has a
 * row for each question that was ever seen, with its answer. Whenever the list may have changed the
 * two are compared:
 *   a question without a row       becomes one that is pending, with the event approval.asked
 *   a question that was answered   gets its answer (again: vivd may have ended before it was sent)
 *   a pending row without one      is withdrawn, with the event approval.withdrawn
 * So nothing is lost when vivd ends in between. The first answer counts; nothing is ever answered
 * by time. */
#ifndef VIV_DAEMON_APPROVALS_APPROVALS_H
#define VIV_DAEMON_APPROVALS_APPROVALS_H

#include <jansson.h>

#include "daemon/cells/cells.h"

/* At the start, with the database open and before cells are; hook: a program that is asked first
 * (hook.c), NULL: none. */
void approvals_open(struct daemon *d, const char *hook);

/* A list of objects, oldest first. cell: an id; "": of all. all: also those that were answered or
 * withdrawn, the last ones. */
json_t *approvals_list(struct daemon *d, const char *cell, bool all);
/* One of them; NULL: there is none. */
json_t *approval_get(struct daemon *d, int64_t id);

/* ---- vivd's own questions ---- */

/* Questions that no keeper has: a part of vivd waits for their answers. Their rows have the kind in
 * the place of the keeper's run, and a key of the owner's in that of the keeper's number. */
#define APPROVAL_AGENT (-1) /* a permission that an agent asks for (sessions/permission.c) */
#define APPROVAL_TOOLS (-2) /* a call of a tool (tools/call.c) */
#define APPROVAL_WORKFLOWS (-3) /* a step of a workflow, of no cell (workflows/approve.c) */
#define APPROVAL_CELLS (-4) /* a cell that another one wants to make (api/subcells.c) */
#define APPROVAL_KINDS 4

struct answer {
	bool allow, always; /* always: the agent need not ask again */
	char option[257]; /* of the agent's; "": by allow and always */
};
struct approval_owner {
	/* Whether it can be answered so; sets option, and allow if an option was named. NULL: it
	 * can. */
	int (*check)(struct daemon *d, const json_t *approval, struct answer *a, struct err *e);
	/* Within the transaction in which it is answered. NULL: nothing */
	void (*answered)(struct daemon *d, int64_t id, const json_t *approval,
			 const struct answer *a, const char *by);
	/* After it. NULL: nothing */
	void (*decided)(struct daemon *d, int64_t id, bool allow);
};
void approvals_owner(int kind, const struct approval_owner *o);
/* A new one of a cell ("": of none). Takes the question, which has a scope. Within the caller's
 * transaction, if there is one. Its id; 0: it could not be written. */
int64_t approval_ask(struct daemon *d, const char *cell, int kind, int64_t key, json_t *question);
/* Nobody waits for it any more; nothing happens if it was answered. */
void approval_withdraw(struct daemon *d, int64_t id);

/* The same as approval_answer; the answer may name one of the agent's options. */
int must_check approval_answer_by(struct daemon *d, int64_t id, struct answer a, const char *by,
				  struct err *e);

/* by: who says so. -1: it is not pending any more (ERR_CONFLICT), or not there. */
int must_check approval_answer(struct daemon *d, int64_t id, bool allow, const char *by,
			       struct err *e);
/* The rule that would answer questions like this one in the same way, as a line of text; free() it.
 * NULL: it cannot be written as one. */
char *approval_rule(const json_t *approval, bool allow);

/* ---- hook.c ---- */

/* Asks the hook about an approval, which is borrowed. */
void hook_ask(struct daemon *d, const char *program, const json_t *approval);

#endif
