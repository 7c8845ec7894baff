/* Making one layer of many (store/merge.h), with a kernel that says what is in it. */
#ifndef VIV_KEEPER_MERGE_H
#define VIV_KEEPER_MERGE_H

#include "keeper/rootfs.h"

#define MERGE_AT 64 /* layers below the active one: at the start of a cell they become one */

/* The place of a named cell, with its disk locked exclusively: its chain becomes short if it is
 * long. If that fails it is said, and the cell is as it was. -1 with e: its chain cannot be
 * read. */
int must_check place_shorten(struct rootfs *p, struct err *e);
/* Removes layers that no snapshot and no cell needs but for the contents that others have from
 * them. 0, also when there is nothing to do or the cell runs; -1 with e: the cell is as it was. */
int must_check cell_merge(const struct store *s, const char *cell, struct err *e);

#endif
