/* Paths: a mount and a name in it, which is a place in the tree. path_get/path_put hold both. How
 * text becomes a path (vfs/walk.c), and a path text. */
#ifndef VIV_KERNEL_VFS_PATH_H
#define VIV_KERNEL_VFS_PATH_H

#include "base/base.h"

struct mount;
struct name;
struct task;

#define PATH_MAX_LEN 4096
#define SYMLINK_DEPTH 40

struct path {
	struct mount *mnt;
	struct name *name;
};

void path_get(const struct path *p);
void path_put(struct path *p); /* empties *p */
bool path_is_same(const struct path *a, const struct path *b);
/* The mount on top at this place, if any: moves *p there. */
void path_cross_mounts(struct path *p);
/* 0, or -EROFS when the mount or its file system cannot be written. */
int path_want_write(const struct path *p);
/* It was read, listed or followed: moves atime as the mount says, mostly as relatime does. */
void path_accessed(const struct path *p);

/* ---- path walk (vfs/walk.c) ---- */

#define LOOKUP_FOLLOW 1u /* a final symbolic link is followed */
#define LOOKUP_DIRECTORY 2u /* the result must be a directory */
#define LOOKUP_EMPTY 4u /* "" means dfd itself (AT_EMPTY_PATH) */
#define LOOKUP_NO_SYMLINKS 8u /* RESOLVE_NO_SYMLINKS */
#define LOOKUP_NO_MAGIC 16u /* RESOLVE_NO_MAGICLINKS */
#define LOOKUP_BENEATH 32u /* RESOLVE_BENEATH */
#define LOOKUP_IN_ROOT 64u /* RESOLVE_IN_ROOT */
#define LOOKUP_NO_XDEV 128u /* RESOLVE_NO_XDEV */
/* the last name may be missing: the result's name is negative, trailing '/' noted */
#define LOOKUP_CREATE 256u

/* Walks path from dfd (AT_FDCWD or a descriptor of t). Search permission is checked at each
 * directory. returns path ref. With LOOKUP_CREATE the name may be negative. */
int path_lookup(struct task *t, int dfd, const char *path, unsigned flags, struct path *ret_);
/* Walks to the parent directory; the last component is copied to last (NAME_MAX_LEN + 2 bytes,
 * possibly "." ".." or "/"), and *ret_dirslash tells of a trailing slash. returns path ref (of the
 * parent). */
int path_lookup_parent(struct task *t, int dfd, const char *path, unsigned flags, struct path *ret_,
		       char *last, bool *ret_dirslash);
/* The text of a path as seen from root (NULL: the real root); writes to buf, returns a pointer into
 * it and the length with the final NUL in *ret_len. -ENAMETOOLONG, or -ENOENT when it is
 * unreachable. Deleted names get " (deleted)" if mark_deleted. */
int path_text(const struct path *p, const struct path *root, bool mark_deleted, char *buf,
	      size_t size, char **ret_text, size_t *ret_len);

#endif
