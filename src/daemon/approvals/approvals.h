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
