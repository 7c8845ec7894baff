/* vivarium.yaml: what cells there are to be. docs/yaml.md describes it,
 * docs/decisions/0025-vivarium-yaml.md says why it is read here.
 *
 * What is read is checked whole before anything is done: a cell of the file becomes a spec as POST
 * /v1/cells takes it, for each of its replicas. */
#ifndef VIV_DAEMON_PROJECTS_FILE_H
#define VIV_DAEMON_PROJECTS_FILE_H

#include <jansson.h>

#include "daemon/cells/cells.h"
#include "base/err.h"

#define PROJECT_MAX_GROUPS 256
#define PROJECT_MAX_CELLS 1000
#define PROJECT_MAX_WORKFLOWS 64
#define PROJECT_MAX_SCHEDULES 256
#define PROJECT_MAX_FILES_BYTES (16u << 20) /* of all files to be written */

struct project_input {
	const char *text;
	size_t size;
	const char *file; /* its name, for messages */
	const char *dir; /* what relative paths are relative to; NULL: there are none */
	const char *project; /* a name that goes before the file's; NULL: none */
	const char *fallback; /* one for a file without; NULL: none */
	const json_t *vars; /* variables: texts by name */
	bool inside; /* it is a cell's: paths in it are not the host's, and no file is read */
};

enum dep_condition { DEP_STARTED, DEP_HEALTHY, DEP_EXITED, DEP_CONDITIONS };

struct project_dep {
	unsigned group;
	enum dep_condition condition;
};

/* A cell of the file, with its replicas. */
struct project_group {
	char name[CELL_NAME_LEN + 1];
	unsigned first, ncells; /* in cells */
	struct project_dep *deps;
	unsigned ndeps;
	json_t *spec; /* without labels of ours */
	json_t *each; /* of its replicas: [{NAME: value}], what their env has besides; NULL: none */
	bool numbered; /* it has replicas, also if that is one */
	char *agent, *prompt; /* NULL: none */
	json_t *files; /* [{path, mode, bytes}]: bytes are anything; NULL: none */
	char spec_hash[33], files_hash[33], prompt_hash[33]; /* "": not made yet (planhash.c) */
	unsigned line, column;
	unsigned order; /* what it depends on has a smaller one */
};

struct project_cell {
	char name[CELL_NAME_LEN + 1]; /* NAME, or NAME-1 ... NAME-N */
	unsigned group, replica; /* from 1 on */
};

struct project_volume {
	char name[CELL_NAME_LEN + 1];
	bool external; /* it must be there */
};

struct project_file {
	char name[CELL_NAME_LEN + 1];
	struct project_group *groups;
	unsigned ngroups;
	struct project_cell *cells;
	unsigned ncells;
	struct project_volume *volumes;
	unsigned nvolumes;
	/* by their whole names, PROJECT.NAME: documents of workflows (workflows/def.h), and what
	 * POST /v1/schedules takes, where 'prompt' has the name of a cell instead of a session */
	json_t *workflows, *schedules;
};

/* 0, or -1 with an error. project_file_free in any case. */
int must_check project_file_read(const struct project_input *in, struct project_file *ret,
				 struct err *f);
void project_file_free(struct project_file *p);

struct project_group *project_group_find(const struct project_file *p, const char *name);

#endif
