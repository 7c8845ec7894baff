/* Cells of a file that are an agent's: what its definition adds to the cell, and its prompt, which
 * it is given once.
 *
 * The prompt goes to a session that carries a hash of agent and prompt as its key. So a later run
 * finds that it was given, whatever happened in between, and another prompt is another session. */
#ifndef VIV_DAEMON_PROJECTS_AGENT_H
#define VIV_DAEMON_PROJECTS_AGENT_H

#include "daemon/projects/plan.h"
#include "daemon/sessions/sessions.h"

/* Adds to spec what the definition of the group's agent has and the file does not say: its image,
 * its variables and secrets, its rules (before those of the file, which decide therefore), and the
 * working directory if something is mounted there. */
int must_check group_agent_add(struct daemon *d, const char *parent, const struct project_group *g,
			       json_t *spec, struct err *e);
/* The session that its prompt was given to; NULL: it was not yet. */
struct session *group_session(struct daemon *d, struct project_group *g, const struct cell *c);
/* Gives it. */
int must_check group_prompt(struct daemon *d, struct project_group *g, struct cell *c,
			    struct err *e);

#endif
