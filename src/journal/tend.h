/* The sealer of a store: one process for the journals of all cells that end (tend.c), the spare
 * journals that it keeps ready (spare.c), and what becomes of old journals (sweep.c). */
#ifndef VIV_JOURNAL_TEND_H
#define VIV_JOURNAL_TEND_H

#include "base/err.h"

/* journals: the directory of all. queue: open for reading, and locked. Returns when there has been
 * nothing to do for a while. */
void journals_tend(int journals, int queue);

/* Makes those that are missing, as far as that can be done. */
void spares_fill(int journals);

/* If that was not done for an hour, by this or by vivd: what killed runs left is sealed, and
 * journals beyond the limits are removed. */
void journals_sweep(int journals);

#endif
