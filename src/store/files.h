/* Files and directories of the store, below a descriptor: whole reads, whole replacements, and the
 * removal of a tree that a kernel may have filled. All return 0 or -errno. */
#ifndef VIV_STORE_FILES_H
#define VIV_STORE_FILES_H

#include "base/base.h"

/* The content of a regular file as a new NUL-terminated buffer. -EFBIG: more than max bytes. */
int must_check file_read_all(int dir, const char *name, size_t max, char **ret_text,
			     size_t *ret_size_or_NULL);
/* The same in two steps; the first gives a descriptor, the second takes it, or an error of the
 * first. */
int must_check file_open(int dir, const char *name);
int must_check file_read_fd(int fd, size_t max, char **ret_text, size_t *ret_size_or_NULL);
/* The file has this content or the old one, whatever happens; synced. */
int must_check file_replace(int dir, const char *name, const void *data, size_t size);
/* The same, but for dir_sync(dir, "."): until then it may have the old one again after a power
 * cut. */
int must_check file_swap(int dir, const char *name, const void *data, size_t size);
/* A new file, on its way to the disk but not synced. */
int must_check file_draft(int dir, const char *name, const void *data, size_t size);
int must_check file_sync(int dir, const char *name);
int dir_sync(int dir, const char *path);
/* Several files or directories at once, which takes hardly longer than one: the host has one
 * transaction to write for all, and its disk one cache to flush. */
struct sync_item {
	int dir;
	const char *path;
};
#define SYNC_MAX 4
int must_check sync_all(const struct sync_item *items, unsigned n);
/* Whether path still names what fd is. */
bool file_is_still(int dir, const char *path, int fd);
/* Removes path and all below it, never through a link, in bounded memory however deep it is. */
int tree_remove(int dir, const char *path);

#endif
