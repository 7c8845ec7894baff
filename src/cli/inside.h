/* viv in a cell (docs/subcells.md): everything goes through vivd's API at the cell's own door. */
#ifndef VIV_CLI_INSIDE_H
#define VIV_CLI_INSIDE_H

#include "cli/cli.h"

/* Does the verb work in a cell? 0, or -1 with an error. */
int must_check inside_check(const struct verb *v, struct err *e);

struct inside_exec {
	char *const *argv;
	char *const *env; /* K=V, NULL-terminated; NULL: none */
	const char *workdir, *user; /* NULL: the cell's */
	int64_t timeout_ns; /* 0: none */
	bool interactive, tty, detach, json;
	uint16_t rows, cols;
};
/* A process in a descendant, as viv exec has it. Its exit status, or -1. */
int inside_exec(const char *cell, const struct inside_exec *x, struct err *e);
/* viv run in the foreground. */
int inside_run(struct run_options *o, struct err *e);

#endif
