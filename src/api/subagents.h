/* Agents as cells see them; see subagents.c. */
#ifndef VIV_API_SUBAGENTS_H
#define VIV_API_SUBAGENTS_H

#include "api/http/request.h"

/* Of definitions with the hashes of their images, those that there are for the cell that asks.
 * Takes them. */
json_t *subagents_told(const struct request *r, json_t *defs);
/* The same of one; NULL: an error 404. */
json_t *subagent_told(const struct request *r, json_t *def, struct err *e);
/* May the cell that asks have this agent in a descendant? -1: 404. */
int must_check subagent_check(const struct request *r, const char *name, struct err *e);

#endif
