/* Trees of the host into a cell, as viv cp does it. */
#ifndef VIV_CLI_CP_H
#define VIV_CLI_CP_H

#include "base/err.h"

struct tree_owner {
	unsigned uid, gid;
};

/* What is in the host's directory dir, into the cell's directory path, which is there. Shows how
 * far it is on a terminal, unless quiet. 0 or -1. */
int must_check tree_copy_in(const char *cell, const char *dir, const char *path,
			    struct tree_owner owner, bool quiet, struct err *e);

#endif
