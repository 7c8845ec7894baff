/* Steps of a workflow file, by tables: which keys each kind has, and what they become. */
#ifndef VIV_DAEMON_WORKFLOWS_STEPS_H
#define VIV_DAEMON_WORKFLOWS_STEPS_H

#include "daemon/projects/keys.h"

struct def_reader {
	struct project_reader p; /* first: cells are read as those of vivarium.yaml */
	unsigned nsteps; /* of all files */
	json_t *names; /* of workflows that steps name: {NAME: "LINE:COLUMN"} */
};

/* A list of steps; the caller's. NULL: an error. */
json_t *steps_read(struct yread *y, struct ynode *n);
/* The spec of a cell. */
int cell_spec_read(struct yread *y, struct ynode *n, json_t **ret);
struct def_reader *def_reader_of(struct yread *y);
/* Whether all expressions in v, which was made of n, are closed. */
int exprs_check(struct yread *y, const struct ynode *n, const json_t *v);

#endif
