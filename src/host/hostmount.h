/* Host directories that are handed to a cell. */
#ifndef VIV_HOST_HOSTMOUNT_H
#define VIV_HOST_HOSTMOUNT_H

#include <sys/types.h>

#include "base/base.h"

struct host_mount {
	int fd; /* O_PATH directory */
	bool detached; /* a mount of its own */
	bool foreign; /* the file system cannot map owners: writing will mostly fail */
};

/* Opens the directory src for a cell that runs as uid and gid. When those are not the caller's
 * (viv is root), the directory is mounted anew with its owner mapped to them. 0 or -errno
 * (-ENOTDIR, -EACCES, -ENOENT ...). */
int must_check host_mount_open(const char *src, bool readonly, uid_t uid, gid_t gid,
			       struct host_mount *ret);

/* The directory as a mount of its own that hangs nowhere; -EPERM when the caller is not root. */
int must_check host_tree_detach(int dir, bool readonly);

#endif
