/* Workflow files: YAML, read and checked whole before anything runs (docs/workflows.md).
 *
 * What comes out is one document of JSON with the workflow and all that it names, so that a run
 * does not depend on files any more:
 *
 *   {"main": WORKFLOW, "workflows": {KEY: WORKFLOW}}
 *   WORKFLOW  name, description, inputs, outputs, cell, steps
 *   STEP      name, kind, if, timeout, retry, rollback, max, steps, then, else, workflow, line,
 * args
 *
 * args is what is evaluated when the step begins. A step of kind workflow has the key of the one
 * that it names. */
#ifndef VIV_DAEMON_WORKFLOWS_DEF_H
#define VIV_DAEMON_WORKFLOWS_DEF_H

#include <jansson.h>

#include "base/err.h"

struct def_input {
	const char *text;
	size_t size;
	const char *file; /* its name, for messages */
	const char *dir; /* what paths are relative to; NULL: there are none */
};

/* The document; the caller's. NULL: an error, whose message begins with FILE:LINE:COLUMN. */
json_t *def_read(const struct def_input *in, struct err *e);
/* The same for a workflow that is part of another file's tree. in: without the text. */
struct ydoc;
struct ynode;
json_t *def_read_node(const struct ydoc *y, struct ynode *at, const struct def_input *in,
		      struct err *e);
/* Whether it is a name for steps, inputs and workflows: letters, digits and '_', as they are in
 * expressions. */
bool def_name_is_valid(const char *s);

#endif
