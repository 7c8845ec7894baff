/* How near the cell is to its limits: events when four fifths of one are used, and when something
 * was refused because of one. */
#ifndef VIV_KERNEL_CELL_GAUGES_H
#define VIV_KERNEL_CELL_GAUGES_H

#include "wire/stats.h"

/* Looks at the counters; cheap enough for every round of the loop. */
void gauges_look(void);
/* The same for a figure that somebody else measures. */
void gauge_set(enum keep_limit what, uint64_t used, uint64_t max);

#endif
