/* What cells use, as their keepers told last. For /metrics all cells are asked, some at a time, and
 * what is known is used again for a second: however many ask, and however many cells there are, the
 * loop does a bounded amount of work at once. */
#ifndef VIV_DAEMON_CELLS_USAGE_H
#define VIV_DAEMON_CELLS_USAGE_H

#include "daemon/cells/cells.h"
#include "wire/stats.h"

struct usage {
	struct keep_stats now;
	uint64_t at; /* when, by uv_hrtime() */
	double calls_per_second, cpus; /* since the figures before, or the start of the cell */
	struct keep_stats base; /* what these are counted from */
	uint64_t base_at;
};

/* Figures that have just come. */
const struct usage *usage_take(struct cell *c, const struct keep_stats *s);
/* The last ones of this run; NULL: none. */
const struct usage *usage_get(const struct cell *c);
/* A run is over, or begins. */
void usage_drop(struct cell *c);

/* Calls done(arg) when the figures of all running cells are at most a second old, or the cells do
 * not answer; at once or later. */
void usage_refresh(struct daemon *d, void (*done)(void *arg), void *arg);

#endif
