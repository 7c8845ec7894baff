/* Changing what a cell is to be, while it runs or not: limits, times, labels, policy, checks. What
 * its keeper enforces is told to it before the change is kept, and it may refuse; the rest is
 * vivd's own. */
#ifndef VIV_DAEMON_CELLS_CHANGE_H
#define VIV_DAEMON_CELLS_CHANGE_H

#include "daemon/cells/cells.h"

/* It is changed; or c NULL: an error, and all is as it was. Called once, at once or later. */
typedef void (*changed_fn)(void *arg, struct cell *c, const struct err *f);

/* The limits of wanted need a restart of a cell that was started with those of is. */
bool change_needs_restart(const json_t *is, const json_t *wanted);
/* Takes spec, which differs in such keys only. named: KEEP_L_ that the keeper is told even if they
 * do not differ. One that is being started is waited for. */
void cell_change(struct cell *c, json_t *spec, unsigned named, changed_fn fn, void *arg);
/* Which of KEEP_L_ a part of a spec names. */
unsigned change_names(const json_t *part);
/* A vivd before us may have been killed in the middle of it: the keeper of an adopted cell is told
 * again what is to be. */
void cell_change_again(struct cell *c);
/* The same for one that does not run: there is nobody to tell. */
void cell_change_drop(struct cell *c);

#endif
