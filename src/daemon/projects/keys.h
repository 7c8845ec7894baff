/* The keys of vivarium.yaml: between keys.c, which has their tables, and file.c, which makes cells
 * of what was read. */
#ifndef VIV_DAEMON_PROJECTS_KEYS_H
#define VIV_DAEMON_PROJECTS_KEYS_H

#include "daemon/projects/file.h"
#include "daemon/projects/yschema.h"

struct project_reader {
	struct yread y;
	const struct project_input *in;
	size_t file_bytes; /* of files to be written, so far */
};

/* Of the whole file. The keys of a cell are its settings (spec/settings.tbl.h), and a few more. */
const struct yschema *project_schema(void);
extern const char *const dep_conditions[]; /* by enum dep_condition */

#endif
