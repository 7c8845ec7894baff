/* Who wrote a file: the processes that changed its content, by whatever name it had then.
 *
 * Two passes over the journal: the first finds the file and the numbers of the records that changed
 * it, the second the processes of these records. So the memory is that of the names and of the
 * processes that are asked about, not of all that ran. */
#ifndef VIV_JOURNAL_BLAME_H
#define VIV_JOURNAL_BLAME_H

#include <stdio.h>

#include "journal/names.h"
#include "journal/origin.h"

struct blame_writer {
	uint64_t seq, count; /* the last record; WRITEs of this process one after the other */
	int64_t wall;
	enum journal_kind kind;
	uint32_t content; /* of the names; 0: not known */
	struct origin origin;
};

struct blame {
	struct names names;
	struct processes processes;
	struct jtext path; /* borrowed */
	bool all; /* every writer, not only the last */
	uint32_t name, file; /* 0: not known */
	struct buf wanted; /* uint32_t: writes, the oldest first */
	size_t next;
	struct buf writers; /* struct blame_writer, the oldest first */
	struct blame_writer placed; /* seq 0: none. A rename, a link or a removal of the name */
	/* seq 0: none. A CHANGE after the last write. It may be its size that was changed. */
	struct blame_writer attributes;
	int64_t last; /* wall of the last record that was wanted */
};

void blame_init(struct blame *b, const char *path, bool all);
void blame_fini(struct blame *b);
void blame_files(struct blame *b, const struct journal_entry *e);
/* After the first pass. False: nobody wrote it. */
bool blame_find(struct blame *b);
/* False: there is no need for the rest of the records. */
bool blame_processes(struct blame *b, const struct journal_entry *e);

/* After the second pass. */
void blame_settle(struct blame *b);

void blame_show(struct blame *b, FILE *to);
void blame_json(struct blame *b, FILE *to);

#endif
