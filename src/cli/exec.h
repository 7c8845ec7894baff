/* A process in a running cell, for verbs other than exec. */
#ifndef VIV_CLI_EXEC_H
#define VIV_CLI_EXEC_H

#include "base/err.h"

/* Runs it with viv's own streams, on a terminal of the cell if viv has one. env: K=V,
 * NULL-terminated, beside the cell's own; NULL: none. workdir NULL: the cell's. Its exit status, or
 * -1 with an error. Once in a process. */
int must_check cell_exec(const char *cell, char **argv, const char *const *env, const char *workdir,
			 struct err *e);

#endif
