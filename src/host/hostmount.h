/* Host directories and files that are handed to a cell. */
#ifndef VIV_HOST_HOSTMOUNT_H
#define VIV_HOST_HOSTMOUNT_H

#include <sys/types.h>

#include "base/base.h"

struct host_mount {
	int fd; /* O_PATH */
	bool is_file; /* a regular file; else a directory */
	bool detached; /* a mount of its own */
	bool foreign; /* the file system cannot map owners: writing will mostly fail */
};

/* Opens the directory or regular file src for a cell that runs as uid and gid. subpath (may be
 * NULL): what is below the directory src there, found without links and mounts, so that it is below
 * it for sure: -ELOOP, -EXDEV. When those are not
 * the caller's (viv is root), it is mounted anew with its owner mapped to them. 0 or -errno
 * (-ENOTSUP: it is neither, -EACCES, -ENOENT ...). */
int must_check host_mount_open(const char *src, const char *subpath, bool readonly, uid_t uid,
			       gid_t gid, struct host_mount *ret);

/* The directory as a mount of its own that hangs nowhere; -EPERM when the caller is not root. */
int must_check host_tree_detach(int dir, bool readonly);

#endif
