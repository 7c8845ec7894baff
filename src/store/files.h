/* Files and directories of the store, below a descriptor: whole reads, whole replacements, and the removal of a tree
 * that a kernel may have filled. All return 0 or -errno. */
#ifndef VIV_STORE_FILES_H
#define VIV_STORE_FILES_H

#include "base/base.h"

/* The content of a regular file as a new NUL-terminated buffer. -EFBIG: more than max bytes. */
int must_check file_read_all(int dir, const char *name, size_t max, char **ret_text,
			     size_t *ret_size_or_NULL);
/* The file has this content or the old one, whatever happens; synced. */
int must_check file_replace(int dir, const char *name, const void *data, size_t size);
int dir_sync(int dir, const char *path);
/* Removes path and all below it, never through a link, in bounded memory however deep it is. */
int tree_remove(int dir, const char *path);

#endif
