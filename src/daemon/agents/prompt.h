/* What an agent is told about its computer: a text made from the settings of its cell, as they are
 * when it is asked for. It is given to the agent beside its own instructions and those of the
 * project, never in their place (system_prompt in def.h).
 *
 * Names that others chose (paths, hosts, variables) are one line of limited length in quotes, so
 * that none of them can look like a part of the text. */
#ifndef VIV_DAEMON_AGENTS_PROMPT_H
#define VIV_DAEMON_AGENTS_PROMPT_H

#include <jansson.h>

#include "base/buf.h"

/* The first line of every text: a file that begins with it was written by Vivarium. */
#define PROMPT_HEAD "# The computer that you work on\n"
#define PROMPT_NAME_MAX 160 /* bytes of a name, escaped */
#define PROMPT_LINES_MAX 60 /* of a list; what is left out is counted */
#define PROMPT_APPEND_MAX 65536

struct cell;
struct daemon;

/* The text; the caller's. */
char *agent_prompt_text(struct daemon *d, struct cell *c);

/* A name as it may stand in a prompt: in quotes, escaped, cut off. */
void prompt_name(struct buf *to, const char *name);

/* The rules of a cell in words (rules.c). */
void prompt_rules(const json_t *policy, struct buf *to);

#endif
