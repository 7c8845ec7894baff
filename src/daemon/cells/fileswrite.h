/* Files that a cell is to have before it is started: written by viv-files, with a kernel that runs
 * on the cell's disk for that time (offline.h). */
#ifndef VIV_DAEMON_CELLS_FILESWRITE_H
#define VIV_DAEMON_CELLS_FILESWRITE_H

#include "daemon/cells/cells.h"

/* f NULL: all are written. Called once, later. */
typedef void (*written_fn)(void *arg, const struct err *f);

/* Of a cell that does not run. files: as of struct project_group; borrowed until fn. Directories
 * above them are made. */
void cell_files_write(struct cell *c, const json_t *files, written_fn fn, void *arg);

#endif
