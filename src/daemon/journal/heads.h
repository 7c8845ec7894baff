/* The last known head of each journal, in the database: a journal that was cut at its end is found
 * by it. Heads are read when a cell ends, every minute and when somebody asks, and never go back:
 * one that is behind the kept head, or another block with its number, leaves the kept one as it is
 * and is told by the event journal.damaged, once for each such state.
 *
 * With them goes the clean-up: journals of cells that do not run are removed, the oldest first,
 * when they are older or together larger than the operator wants, with the event journal.removed.
 */
#ifndef VIV_DAEMON_JOURNAL_HEADS_H
#define VIV_DAEMON_JOURNAL_HEADS_H

#include <jansson.h>

#include "daemon/journal/scan.h"
#include "journal/limits.h"

/* At the start, after notes_open. */
void heads_open(struct daemon *d, const struct journal_limits *limits);

struct journal_kept {
	uint64_t block, records;
	char hash[2 * JOURNAL_HASH + 1];
	int64_t time; /* when it was read */
	char damaged[200]; /* why the journal does not go with it; "": it does */
};
/* False: none is kept. */
bool head_kept(struct daemon *d, const char *id, struct journal_kept *ret);
/* A journal as it is now. */
void head_take(struct daemon *d, const struct journal_info *j);
/* The cell of that name that had a journal last, of those that are gone. False: none. */
bool head_by_name(struct daemon *d, const char *name, char id[CELL_ID_LEN + 1]);
/* Removes one that nobody appends to, with its event; a thread does the work. reason: a literal.
 * done (may be NULL) is called later; e NULL: it is gone. */
void journal_delete(struct daemon *d, const struct journal_info *j, const char *reason,
		    void (*done)(void *arg, const struct err *e), void *arg);

/* Which of these are to be removed, oldest first: indexes into list, how many. now: nanoseconds
 * since 1970. */
size_t journals_expired(const struct journal_info *list, size_t n, const struct journal_limits *l,
			int64_t now, size_t *ret);

/* What the last look has found of a journal, for /metrics; NULL: nothing. Borrowed until the
 * next. */
const struct journal_info *journal_known(const char *id);

#endif
