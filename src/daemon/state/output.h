/* What a program left, as a value for others: bytes of a hostile cell, which nobody interprets. */
#ifndef VIV_DAEMON_STATE_OUTPUT_H
#define VIV_DAEMON_STATE_OUTPUT_H

#include <jansson.h>

#include "base/base.h"

#define OUTPUT_DEPTH 32 /* levels of JSON; deeper, it is a text */

/* The JSON value that the bytes are, if no name comes twice in an object, or the text, without
 * newlines at its end. NUL bytes are changed at p. New. */
json_t *output_value(char *p, size_t n);
/* The first max of n bytes; what is not UTF-8 becomes '?'. New. */
json_t *output_text(const char *p, size_t n, size_t max);

#endif
