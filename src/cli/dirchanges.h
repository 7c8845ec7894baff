/* What changed in a directory of the host: its entries by type, size and time, before and after.
 * Nothing in it is opened but directories, and no program of it (such as git, whose settings in the
 * directory can be anybody's) is run. */
#ifndef VIV_CLI_DIRCHANGES_H
#define VIV_CLI_DIRCHANGES_H

#include "base/buf.h"

struct dir_list {
	struct buf entries; /* struct dir_entry, by path */
	struct buf paths;
	bool cut; /* there were more entries, or they could not be read */
};

void dir_read(struct dir_list *t, const char *dir);
void dir_free(struct dir_list *t);
/* Calls fn for each path that was added ('A'), changed ('C') or deleted ('D'). */
typedef void (*dir_fn)(void *arg, char kind, const char *path);
void dir_compare(const struct dir_list *before, const struct dir_list *after, dir_fn fn, void *arg);

#endif
