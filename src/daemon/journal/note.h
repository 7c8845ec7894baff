/* What vivd itself records in the journals of cells (docs/decisions/0049-journal.md): sessions,
 * prompts and their ends, tools, answers to questions, and what the operator does to a cell that
 * its keeper does not hear of.
 *
 * A record is a row of the database, made in the transaction of what it tells of, so that it is
 * there if and only if that is. Rows go to the cell's keeper one after the other, in their order,
 * and a row goes when the keeper has said that it is in the journal. A cell that does not run gets
 * its rows when it is started again, with the times of what happened; those of one that is removed
 * before are appended to its journal by viv-journal (orphans.c). A vivd that was killed says the
 * last row again, with the same number, by which the keeper knows it: it is recorded twice only if
 * that keeper has ended, too, between its write and vivd's. */
#ifndef VIV_DAEMON_JOURNAL_NOTE_H
#define VIV_DAEMON_JOURNAL_NOTE_H

#include <jansson.h>

#include "daemon/cells/cells.h"
#include "wire/journal.h"

/* Rows of a cell that wait; what comes then is a hole in the journal. */
#define NOTES_CELL 10000
#define NOTE_TEXT 512 /* bytes of a prompt, of arguments */

/* At the start, with the database open and before cells are. */
void notes_open(struct daemon *d);

/* Does its spec want a journal? */
bool cell_has_journal(const struct cell *c);

/* Records it: a struct of the kind. Within the caller's transaction, if there is one. Nothing
 * happens if there is no such cell, or it has no journal. */
void note_add(struct daemon *d, const char *cell, enum journal_kind kind, const void *record);
/* The operator did something. detail may be NULL. */
void note_operator(struct daemon *d, const char *cell, const char *action, const char *detail);
/* An approval as the API shows it: it was answered, or withdrawn. */
void note_approval(struct daemon *d, const json_t *approval);
/* Rows of a cell that wait for it. */
int64_t notes_waiting(struct daemon *d, const char *cell);

/* ---- orphans.c ---- */
void orphans_open(struct daemon *d);
/* Appends what waits for cells that are gone. Within no transaction. */
void orphans_send(struct daemon *d);
/* Did its last run leave records that are not in the journal? */
bool orphan_has_ring(const char *cell);

static inline struct jtext note_text(const char *s)
{
	return (struct jtext){ s ? s : "", s ? (uint32_t)__builtin_strlen(s) : 0 };
}
/* At most NOTE_TEXT bytes of it, cut before a character. */
struct jtext note_cut(const char *s, size_t n);

#endif
