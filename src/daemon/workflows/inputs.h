/* Inputs of a workflow: what was given, checked by what the file says of them. */
#ifndef VIV_DAEMON_WORKFLOWS_INPUTS_H
#define VIV_DAEMON_WORKFLOWS_INPUTS_H

#include <jansson.h>

#include "base/err.h"

/* A new object with all of them. defs: {name: {type, default, required}}; NULL: none. given: NULL:
 * none. The caller's; NULL: an error. */
json_t *inputs_make(const json_t *defs, const json_t *given, struct err *e);
/* What a request gives for a document of def.h: its "inputs", and those that came as texts (of a
 * command line), its "arguments". A new object; NULL: an error. */
json_t *inputs_given(const json_t *doc, const json_t *request, struct err *e);
/* A text as a value of this type ("string", "number", "boolean", "array", "object", "any"), as it
 * comes from a command line; the caller's, NULL: it is none. */
json_t *input_parse(const char *type, const char *text);
bool input_type_is_valid(const char *type);
bool input_fits(const char *type, const json_t *v);

#endif
