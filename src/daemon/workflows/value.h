/* Values of YAML as JSON, where any may stand: numbers, true, false and null without quotes are
 * what they look like. */
#ifndef VIV_DAEMON_WORKFLOWS_VALUE_H
#define VIV_DAEMON_WORKFLOWS_VALUE_H

#include <jansson.h>

#include "daemon/yaml/yaml.h"

/* The caller's; NULL: an error (a text that is not UTF-8). The tree's depth bounds the recursion.
 */
json_t *value_of(const struct ydoc *y, const struct ynode *n, struct err *e);

#endif
