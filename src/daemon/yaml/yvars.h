/* Variables in the texts of a file: ${NAME}, ${NAME:-default}, ${NAME:?message}, and $$ for a '$'.
 *
 * They are put in when the file is a tree already, so a value is never anything but a text. A '$'
 * that begins none of these is an error, not a text. */
#ifndef VIV_DAEMON_YAML_YVARS_H
#define VIV_DAEMON_YAML_YVARS_H

#include <jansson.h>

#include "daemon/yaml/yaml.h"

/* Replaces what is in the node's text. vars: the values by name; NULL: the place takes no
 * variables. 0, or -1 with an error. */
int must_check ynode_expand(struct ynode *n, struct ydoc *y, const json_t *vars, struct err *f);

#endif
