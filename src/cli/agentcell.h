/* Cells for agents: made from an agent's definition, with its image, rules, variables and secrets,
 * and with directories of the host, mounted or as a copy. */
#ifndef VIV_CLI_AGENTCELL_H
#define VIV_CLI_AGENTCELL_H

#include "base/json.h"
#include "spec/options.h"

struct args;

struct agent_cell {
	/* asked for */
	const char *agent;
	const struct json *def; /* its definition; NULL: vivd is asked */
	const char *name; /* NULL: one is made up */
	bool unnamed; /* without a name: none is made up */
	const char *mounts[SPEC_MAX_MOUNTS]; /* SRC[:DST][:ro|:rw]; DST: mount_at */
	unsigned nmounts;
	const char *copy; /* DIR[:DST], copied into its disk; NULL: none */
	const char *mount_at; /* NULL: the agent's working directory */
	const char *idle; /* seconds after which it stops by itself, as a number; NULL: never */
	bool no_secrets;
	bool start; /* it runs afterwards */
	bool quiet; /* no progress of a copy is shown */
	/* answered */
	char id[64], shown[80]; /* its id, and its name */
	/* The host's directory that the agent works on, and where it is in the cell; "": none. */
	char source[4096], target[4096];
	bool copied; /* it is a copy */
	bool made; /* it was not there before */
};

/* The values of --mount; with --on-copy, that one (.) is copied instead of mounted. 0 or -1. */
int must_check agent_cell_places(struct agent_cell *c, const struct args *a, struct err *e);
/* Uses the cell of that name, or makes one. What could be made in part only is removed. 0 or -1. */
int must_check agent_cell_get(struct agent_cell *c, struct err *e);
/* Removes it with all that runs in it; reports why it cannot. */
void agent_cell_drop(const struct agent_cell *c);

/* SRC[:DST][:ro|:rw] of an option. SRC becomes absolute; it has to be a directory, or with DST a
 * file. dst: "" without one. 0 or -1. */
struct mount_text {
	char source[4096], dst[4096];
	bool readonly;
};
int must_check mount_read(const char *option, const char *text, struct mount_text *ret,
			  struct err *e);

#endif
