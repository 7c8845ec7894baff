/* What cells used of the network: the record that 'viv policy learn' reads. Each use is kept once,
 * at most USES_MAX of a cell, until it is removed. */
#ifndef VIV_DAEMON_CELLS_USES_H
#define VIV_DAEMON_CELLS_USES_H

#include "base/buf.h"
#include "daemon/cells/cells.h"

#define USES_MAX 4096

/* text: JSON, as KEEP_EV_USE has it. more: the keeper tells of no further ones. */
void uses_add(struct cell *c, const char *text, bool more);
/* The smallest policy that covers it, a rule in each line; false: the record is not complete. */
bool uses_learn(const struct cell *c, struct buf *to);
/* A new record begins. */
void uses_restart(struct cell *c);
/* The cell is removed, and with it its disk. */
void uses_forget(struct daemon *d, const char *cell);

#endif
