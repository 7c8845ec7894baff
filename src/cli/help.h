/* What is said of the verbs, made from their table. */
#ifndef VIV_CLI_HELP_H
#define VIV_CLI_HELP_H

#include <stdio.h>

#include "cli/cli.h"

/* All verbs, with a line for each. */
void usage_print(FILE *to);

#endif
