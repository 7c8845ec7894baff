/* What the verbs of viv agent share. */
#ifndef VIV_CLI_AGENT_H
#define VIV_CLI_AGENT_H

#include "base/json.h"
#include "cli/args.h"

#define AGENT_BASE "agent-base" /* tag of the image that agents are installed into */

/* The definition of an agent, as vivd has it. json_free() it. */
int must_check agent_ask(const char *name, struct json_doc *ret, struct err *e);
/* Has an image of this tag been made? */
bool image_is_there(const char *tag);

/* Makes AGENT_BASE, or an image of another tag, from programs of this host (agentbase.c). include:
 * further packages, with commas between them; NULL: none. */
int must_check agent_base_make(const struct args *a, const char *tag, const char *include,
			       struct err *e);
/* Installs an agent into an image (agentbuild.c). newest: the newest versions instead of those of
 * the definition; version: of its first package; NULL: that. */
struct agent_build {
	const struct json *agent;
	const char *base, *version;
	bool newest, quiet;
};
int must_check agent_image_make(const struct agent_build *b, struct json_doc *ret_image,
				struct err *e);

/* A line on standard error that says what is being done, unless --quiet. */
void step_print(bool quiet, const char *fmt, ...) printf_like(2, 3);

#endif
