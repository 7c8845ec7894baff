/* Root, working directory and umask of a thread. Counted: threads and CLONE_FS children share
 * one. */
#ifndef VIV_KERNEL_VFS_FSCTX_H
#define VIV_KERNEL_VFS_FSCTX_H

#include "kernel/vfs/path.h"

struct mntns;

struct fsctx {
	uint32_t refs;
	struct path root, cwd; /* counted */
	uint32_t umask;
	struct mntns *ns; /* counted; NULL: the cell's own tree of mounts */
};
/* fs, which nobody else uses, gets a copy of the tree of mounts it is in. -ENOSPC
 * (vfs/mounttree.c) */
int must_check fsctx_unshare_mounts(struct fsctx *fs);
/* fs, which nobody else uses, stands at the root of the tree ns (NULL: the cell's own) from now
 * on. */
int must_check fsctx_enter_mounts(struct fsctx *fs, struct mntns *ns);
struct fsctx *fsctx_new(const struct path *root, const struct path *cwd, uint32_t umask);
struct fsctx *fsctx_copy(const struct fsctx *);
struct fsctx *fsctx_get(struct fsctx *);
void fsctx_put(struct fsctx *);

#endif
