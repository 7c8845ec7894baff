/* viv run by way of vivd's pool (docs/decisions/0026). */
#ifndef VIV_CLI_POOLED_H
#define VIV_CLI_POOLED_H

#include "keeper/rootfs.h"
#include "keeper/run.h"

/* Runs the command in an idle cell of vivd's, if there is one and nobody could tell it from a cell
 * of our own; o is complete. False: nothing was done. True: *ret_status is the exit status, or -1
 * with an error. */
bool run_pooled(const struct run_options *o, const struct rootfs *p, int *ret_status,
		struct err *e);

#endif
