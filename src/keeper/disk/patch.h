/* Differences as a patch, in the form of git's. */
#ifndef VIV_KEEPER_DISK_PATCH_H
#define VIV_KEEPER_DISK_PATCH_H

#include "keeper/disk/changes.h"

/* Prints what became of path. old or new may be "not there" (type 0), not both. False: there is no
 * memory. */
bool must_check patch_print(const char *path, const struct change_side *old,
			    const struct change_side *new);

#endif
