/* What the work of a cell left in its /dev/result (docs/api.md): bytes of a hostile cell,
 * at most CELL_RESULT_MAX, that its keeper leaves in RUN/cells/ID.result. They are read once, at
 * the end of the run, and kept in the cell's row until its next start. Nobody interprets them. */
#ifndef VIV_DAEMON_CELLS_RESULT_H
#define VIV_DAEMON_CELLS_RESULT_H

#include <jansson.h>

#include "base/base.h"

struct cell;

/* At the end of a run: reads what was left, into the row. */
void cell_result_take(struct cell *c);
/* A new run begins. */
void cell_result_forget(struct cell *c);
/* Of the last run: a JSON value, or the text; NULL: none. The caller's. */
json_t *cell_result(const struct cell *c);
/* Adds "result" to what is told of a cell, if it has one. */
void cell_result_set(const struct cell *c, json_t *o);

#endif
