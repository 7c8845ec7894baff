/* The journals of the store, those of cells that are gone included
 * (docs/decisions/0049-journal.md). Nothing here needs a library: what reads records is
 * viv-journal. */
#ifndef VIV_CLI_JOURNALDIR_H
#define VIV_CLI_JOURNALDIR_H

#include "base/buf.h"
#include "base/err.h"

struct journal_place {
	char id[40];
	/* By meta.json; "" or 0: not known. Texts are made safe for a terminal. */
	char name[256], image[256];
	int64_t created, ended; /* nanoseconds since 1970 */
	bool running; /* somebody writes to it */
	uint64_t size; /* bytes on the disk */
	uint64_t records; /* sealed ones */
};

/* The directory of all journals, with or without that of one (id NULL: without). */
int must_check journal_path(const char *id, char *path, size_t size, struct err *e);
/* All of them (struct journal_place), the newest first. */
int must_check journal_places(struct buf *ret, struct err *e);
/* The one that is meant: a whole id; a name, of several cells of that name the newest one; or the
 * beginning of one id only. */
int must_check journal_find(const char *cell, struct journal_place *ret, struct err *e);
/* Removes it, unless somebody writes to it: ERR_IN_USE. */
int must_check journal_remove(const struct journal_place *j, struct err *e);

#endif
