/* The keys of vivarium.yaml: between projectkeys.c, which has their tables, and projectfile.c, which makes cells of what was read. */
#ifndef VIV_DAEMON_PROJECTKEYS_H
#define VIV_DAEMON_PROJECTKEYS_H

#include "daemon/projectfile.h"
#include "daemon/yschema.h"

struct project_reader {
	struct yread y;
	const struct project_input *in;
	size_t file_bytes; /* of files to be written, so far */
};

extern const struct yschema project_schema;
extern const char *const dep_conditions[]; /* by enum dep_condition */

#endif
