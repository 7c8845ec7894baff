/* The keys of vivarium.yaml: between keys.c, which has their tables, and file.c, which makes cells
 * of what was read. */
#ifndef VIV_DAEMON_PROJECTS_KEYS_H
#define VIV_DAEMON_PROJECTS_KEYS_H

#include "daemon/projects/file.h"
#include "daemon/yaml/yschema.h"

struct project_reader {
	struct yread y;
	const struct project_input *in;
	size_t file_bytes; /* of files to be written, so far */
};

/* Of the whole file. The keys of a cell are its settings (spec/settings.tbl.h), and a few more. */
const struct yschema *project_schema(void);
/* Of a cell. */
const struct yschema *project_cell_schema(void);
/* 'workflows' and a schedule: in src/daemon/automation/keys.c (automation.h says why). */
int project_workflows_read(struct yread *y, struct ynode *n, json_t **ret);
extern const struct yschema project_schedule_schema;
/* What is read of a cell without the keys that only the file has: as POST /v1/cells takes it. A
 * shallow copy, the caller's. */
json_t *project_spec(const json_t *cell);
extern const char *const dep_conditions[]; /* by enum dep_condition */

#endif
