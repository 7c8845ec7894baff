/* Cells that 'viv run' made in the foreground: vivd takes the settings of their last run from their
 * disk (store/runspec.h), so that 'viv start' runs the same command again. A cell whose settings a
 * client of vivd gave keeps those, however often 'viv run' uses it. */
#ifndef VIV_DAEMON_CELLS_RUNFOLLOW_H
#define VIV_DAEMON_CELLS_RUNFOLLOW_H

#include "daemon/cells/cells.h"

/* struct cell.run: there are none, or they cannot be trusted; else the stamp of those that it has.
 */
#define RUN_UNKNOWN 1
#define RUN_REFUSED 2
#define RUN_UNNAMED 3 /* it has no name, and so no disk: a run that is never started again */

/* Takes them if there are others than it has. Without any, or if they are refused, the cell has
 * none but its image. */
void cell_run_follow(struct cell *c);

#endif
