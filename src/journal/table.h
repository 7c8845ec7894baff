/* The table of processes of a block: the state of a tracker (processes.h) before the block's first
 * record, as bytes. It is what a reader needs that begins at this block instead of the first one.
 *
 * It has all processes that run and their parents, the last TABLE_ENDED that ended, their programs,
 * the sessions with their open prompts, the commands that these come from, and the last start of
 * the cell. Of processes that ended earlier, and of prompts that were answered, it has only what
 * others refer to. If that is more than TABLE_MAX bytes it has fewer ended processes; if it still
 * is, the block has no table, and readers begin at an earlier one.
 *
 * All is LEB128 numbers and texts with their length. References are places in lists, counted from 1
 * on; 0 is none. A parent stands before its children. */
#ifndef VIV_JOURNAL_TABLE_H
#define VIV_JOURNAL_TABLE_H

#include "base/buf.h"
#include "journal/processes.h"
#include "wire/journalblock.h"

#define TABLE_ENDED 1024

/* start: the frame of the cell's last start record, with its padding; empty: there is none. False:
 * it is too large. */
bool must_check table_write(struct processes *t, const struct buf *start, struct buf *out);

/* Makes the tracker what the table says, whatever it knew before. start, if not NULL, is called
 * with the cell's last start record, valid until it returns. False: it is not a table, and the
 * tracker knows nothing. */
bool must_check table_read(struct processes *t, const void *data, size_t n,
			   void (*start)(void *arg, const struct journal_entry *e), void *arg);

#endif
