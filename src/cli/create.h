/* Cells of vivd, made from the options of run. */
#ifndef VIV_CLI_CREATE_H
#define VIV_CLI_CREATE_H

#include "keeper/run.h"

/* run --detach: makes the cell, starts it and prints its name or id. words: what run was given, for
 * what the API cannot say. */
int detached_run(struct run_options *o, char **words, struct err *e);
/* The settings of a run in the foreground as vivd takes them, in JSON, added to ret. Nothing: vivd
 * could not repeat this run. */
void run_spec(struct run_options *o, char **words, struct buf *ret);
/* Before a run in the foreground with --copy: makes the cell and copies. */
int must_check copies_prepare(struct run_options *o, struct err *e);

#endif
