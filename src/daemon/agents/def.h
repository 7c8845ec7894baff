/* Known agents as data: agents/NAME.yaml of the project, which vivd carries (blob.h), and
 * $XDG_CONFIG_HOME/vivarium/agents/NAME.yaml of the user, which takes the place of one with the
 * same name. docs/agents.md describes the keys, docs/decisions/0045-agents.md says why it is so.
 *
 * A definition is the operator's and trusted, but read as strictly as vivarium.yaml: unknown keys,
 * values of another type and what is too long are errors with line and column. */
#ifndef VIV_DAEMON_AGENTS_DEF_H
#define VIV_DAEMON_AGENTS_DEF_H

#include <jansson.h>

#include "base/err.h"

#define AGENT_NAME_LEN 32
#define AGENT_MAX_WORDS 64 /* of a command */
#define AGENT_MAX_ITEMS 64 /* packages, secrets, variables, files */
#define AGENT_FILE_MAX 65536 /* bytes of one file that is put into a cell */
#define AGENT_DEFS_MAX 256 /* of the user */

struct daemon;

/* What is not in the file is NULL, but image, home and workdir have defaults. Everything belongs to
 * all. "~/" in paths of files and of the system prompt is the home already. */
struct agent_def {
	json_t *all; /* an object with these members, as the API shows it */
	const char *name, *title;
	const json_t *packages; /* npm name -> version */
	const json_t *command; /* its own terminal program: a list of words */
	const json_t *acp; /* what speaks ACP on its standard streams: a list of words */
	const json_t *print; /* for one prompt, which is added as the last word */
	const char *image; /* tag; "agent-NAME" unless given */
	const json_t *network; /* rules, as a cell's "policy" has them */
	const json_t *secrets; /* [{name, env?, hosts?, places?, prefix?}]: one of them suffices */
	const json_t *env; /* name -> value */
	const json_t *files; /* absolute path -> content */
	/* {file} | {option} | {env} | {meta} | {first_prompt}: how the agent gets the generated
	 * prompt (prompt.h). Several: sessions take the first of meta, env, file and first_prompt,
	 * commands the first of option, env and file. */
	const json_t *system_prompt;
	const char *home, *workdir; /* "/root", "/work" unless given */
};

bool agent_name_is_valid(const char *name);

/* Reads a text. file: for messages; name: what the file's name says it must be. agent_def_free in
 * any case. */
int must_check agent_def_read(const char *text, size_t size, const char *file, const char *name,
			      struct agent_def *ret, struct err *e);
/* By its name, the user's before ours. ERR_NOT_FOUND: there is none. agent_def_free in any case. */
int must_check agent_def_load(struct daemon *d, const char *name, struct agent_def *ret,
			      struct err *e);
void agent_def_free(struct agent_def *a);
/* There is none of that name. Always -1. */
int agent_missing(const char *name, struct err *e);

/* All that there are, sorted by name: what agent_def_load gives for each, with "source" ("built-in"
 * or the path of a file); {"name", "source", "error"} for one that cannot be read. The caller's. */
json_t *agent_defs(struct daemon *d);
/* What agent_def_load gives for one, with "source"; NULL: an error. The caller's. */
json_t *agent_def_shown(struct daemon *d, const char *name, struct err *e);

/* Writes one of the user's, checked before. text: YAML or JSON. ret_new: there was none. */
int must_check agent_def_save(struct daemon *d, const char *name, const char *text, size_t size,
			      bool *ret_new, struct err *e);
/* Removes one of the user's; ours comes back if there is one of that name. */
int must_check agent_def_remove(struct daemon *d, const char *name, struct err *e);

#endif
