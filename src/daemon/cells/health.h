/* Health checks: a command that vivd runs in a cell again and again, as an exec that nobody sees.
 * What it finds is 'starting', 'healthy' or 'unhealthy', kept in the cell's row, so that a new vivd
 * goes on with it; a change is an event, and a cell that is unhealthy is stopped if its restart
 * policy will start it again.
 *
 * Times are in seconds: every 'interval' (30) after the end of the one before; a check that takes
 * longer than 'timeout' (30) is killed and has failed; 'retries' (3) failures in a row make it
 * unhealthy. In the first 'start_period' (0) failures do not count, and it is looked more often. */
#ifndef VIV_DAEMON_CELLS_HEALTH_H
#define VIV_DAEMON_CELLS_HEALTH_H

#include "daemon/cells/cells.h"

/* Its state has changed, or a new vivd has adopted it. */
void health_follow(struct cell *c);
/* A new run begins: what is known is of the one before. */
void health_reset(struct cell *c);
void health_free(struct cell *c);
bool health_is_bad(const struct cell *c);
bool health_is_good(const struct cell *c);
/* It has no checks, or passed one in this run. */
bool health_was_good(const struct cell *c);

/* What is told of it; NULL: nothing. */
json_t *health_json(const struct cell *c);
/* The same for its row (free() it; NULL: nothing), and back. */
char *health_text(const struct cell *c);
void health_read(struct cell *c, const char *text);

#endif
