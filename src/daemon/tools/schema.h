/* JSON Schema, as far as arguments of tools need it: a bounded part of draft 2020-12
 * (docs/tools.md has the list). What is not known is refused when a tool is added, so that no rule
 * of a schema is ignored in silence.
 *
 * The schema is the operator's or an MCP server's, the value comes from a cell: both may be
 * anything. Depth, size and work are bounded. */
#ifndef VIV_DAEMON_TOOLS_SCHEMA_H
#define VIV_DAEMON_TOOLS_SCHEMA_H

#include <jansson.h>

#include "base/err.h"

#define SCHEMA_MAX_BYTES (256u << 10) /* of its text */
#define SCHEMA_MAX_DEPTH 32
#define SCHEMA_MAX_NODES 10000 /* when references are resolved */

/* A schema for the arguments of a tool, which are an object, with its references in place. The
 * caller's; NULL: an error that names the place. */
json_t *must_check schema_read(const json_t *schema, struct err *e);

/* Does a value fit? schema is one that schema_read gave. -1: an error that names the place in the
 * value, and what it must be. */
int must_check schema_validate(const json_t *schema, const json_t *value, struct err *e);

#endif
