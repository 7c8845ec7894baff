/* A directory or a file of the host as a file system of the cell (viv run --mount). */
#ifndef VIV_KERNEL_FS_HOSTDIR_HOSTDIR_H
#define VIV_KERNEL_FS_HOSTDIR_HOSTDIR_H

#include "base/base.h"

struct fs;

/* The tree below dirfd (taken; O_PATH is enough), with refs = 1; NULL: no memory or not a
 * directory. Files of this process's own host user are shown as owned by show_uid and show_gid, all
 * others by 65534. */
struct fs *must_check hostdir_new(int dirfd, bool readonly, uint32_t show_uid, uint32_t show_gid);
/* One regular file: fd is open for reading, write_fd for writing too, unless the host refused that;
 * -1 when readonly. Takes both. */
struct fs *must_check hostdir_new_file(int fd, int write_fd, bool readonly, uint32_t show_uid,
				       uint32_t show_gid);

#endif
