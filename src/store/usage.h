/* How much room files of the store take on the host's disk. */
#ifndef VIV_STORE_USAGE_H
#define VIV_STORE_USAGE_H

#include "base/base.h"

/* Levels of directories below path that are counted. The store has fewer; a kernel that makes more
 * on its disk is not followed. */
#define USAGE_DEPTH 8

/* The bytes of path, which may be a file, and of everything below it. A file with several names
 * counts in parts, so that the sum over all of its names is right. Links are not followed, and what
 * is not there or cannot be read counts nothing. */
uint64_t tree_usage(int dir, const char *path);
/* The same, and how many files and directories that are. */
uint64_t tree_usage_files(int dir, const char *path, uint64_t *ret_files);
/* The bytes of files only, and of those with more than names names nothing; what has fewer counts
 * whole. */
uint64_t tree_usage_alone(int dir, const char *path, unsigned names);

#endif
