/* One request for each cell that a verb names. */
#ifndef VIV_CLI_CHANGE_H
#define VIV_CLI_CHANGE_H

#include "cli/args.h"

/* Asks for all of them, whatever becomes of one, and prints each that was changed. The exit status
 * is that of the first failure; -1: vivd cannot be reached. tail: of the path below the cell; body
 * NULL: none. */
int cells_change(const struct args *a, const char *method, const char *tail, const char *body,
		 struct err *e);

#endif
