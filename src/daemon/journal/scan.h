/* What journals there are, by looking at their directories: a thread does that, since there may be
 * many. Journals outlive their cells, and cells that vivd never knew have some, too. */
#ifndef VIV_DAEMON_JOURNAL_SCAN_H
#define VIV_DAEMON_JOURNAL_SCAN_H

#include "daemon/cells/cells.h"
#include "journal/journal.h"

struct journal_info {
	char id[CELL_ID_LEN + 1];
	char name[CELL_NAME_LEN + 1]; /* "": none, or not known */
	char image[160];
	uint64_t records; /* that are sealed */
	uint64_t bytes, unsealed; /* of all files; of raw files alone */
	uint64_t space; /* that it takes on the disk */
	int64_t first, last; /* wall clock of the sealed records; 0: none */
	int64_t written; /* when a file of it was written last */
	bool running; /* its cell runs, as far as vivd knows; not by journal_look */
	struct journal_tip tip; /* block 0: nothing is sealed yet */
	struct err e; /* of what cannot be read; kind 0: none */
};

bool journal_id_is_valid(const char *id);
/* "STORE/journals", or that of one cell. -1: it is not known where. */
int journal_path(char *path, size_t size, const char *id, struct err *e);

/* Looks at one. False: there is no such journal. For a thread. */
bool journal_look(const char *id, struct journal_info *ret);

typedef void (*scanned_fn)(void *arg, const struct journal_info *list, size_t n,
			   const struct err *e);
/* Looks at the journal with this id, or at all (NULL), sorted by id, and calls fn in the loop.
 * A store without journals has none; e: the store cannot be read. */
void journals_scan(struct daemon *d, const char *id, scanned_fn fn, void *arg);

/* Removes one that nobody appends to. For a thread. */
int must_check journal_remove(const char *id, struct err *e);

#endif
