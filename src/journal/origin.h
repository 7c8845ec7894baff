/* Where something comes from: a process with its program, its parents and the command or prompt
 * that started it, as they were at one record; and how that is shown. */
#ifndef VIV_JOURNAL_ORIGIN_H
#define VIV_JOURNAL_ORIGIN_H

#include <stdio.h>

#include "journal/processes.h"

#define ORIGIN_PARENTS 64 /* that are shown; more are counted */

struct origin {
	struct process *process; /* NULL: not a process of the cell */
	struct program *program;
	struct session *session;
	struct prompt *prompt;
};

/* Takes references. */
void origin_init(struct origin *o, struct processes *t, struct process *p);
/* Once more, with what came later: records of vivd can be behind those of what they started. wall:
 * when it was. */
void origin_settle(struct origin *o, struct processes *t, int64_t wall);
void origin_fini(struct origin *o, struct processes *t);
bool origin_is(const struct origin *a, const struct origin *b);

/* Lines for people, each with that indentation: the process, its parents, command, prompt. */
void origin_show(const struct origin *o, FILE *to, unsigned indent);
/* Members of an object: ,"pid":7,"program":... */
void origin_json(const struct origin *o, FILE *to);
/* Members that name it in short, for a record of an export: pid, program, session, prompt. */
void origin_json_short(const struct origin *o, FILE *to);

#endif
