/* Cells of vivd, made from the options of run. */
#ifndef VIV_CLI_CREATE_H
#define VIV_CLI_CREATE_H

#include "keeper/run.h"

/* run --detach: makes the cell, starts it and prints its name or id. words: what run was given, for
 * what the API cannot say. */
int detached_run(struct run_options *o, char **words, struct err *e);

#endif
