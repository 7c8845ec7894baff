/* Walking a tree of files without recursion and without following links, in memory that depends on
 * its depth alone. */
#ifndef VIV_FILES_WALK_H
#define VIV_FILES_WALK_H

#include <sys/stat.h>

#include "base/base.h"

#define WALK_PATH 16384 /* paths that are longer are entries with an error */
#define WALK_DEPTH 2000

enum walk_when {
	WALK_AT, /* an entry; a directory before what is in it */
	WALK_LEAVE, /* a directory after what is in it */
	WALK_ERROR, /* it cannot be looked at, or not be read; err says why */
};

struct walk_entry {
	int dir; /* where it is */
	const char *name; /* in dir */
	/* from the beginning on: what the walk was told it is called, and the names */
	const char *path;
	size_t len; /* of path */
	struct stat st; /* not with WALK_ERROR */
	int err;
	unsigned depth; /* 0: where the walk began */
};

#define WALK_SKIP 1 /* of WALK_AT: not into it */
#define WALK_AGAIN 2 /* of WALK_LEAVE: from its beginning once more */

/* fn returns 0, one of the words above, or -errno, which ends the walk. */
typedef int (*walk_fn)(void *arg, const struct walk_entry *e, enum walk_when when);

/* Walks what is called name in dir, and is to be called shown. 0, or -errno of fn, or of the first
 * entry. */
int must_check walk_tree(int dir, const char *name, const char *shown, walk_fn fn, void *arg);

#endif
