/* What viv-keeper does with the disk of a cell, running or not, without starting the cell: compare,
 * check, make an image of it.
 *
 *	viv-keeper diff list|patch CELL SNAPSHOT [CELL SNAPSHOT]
 *	viv-keeper verify CELL SNAPSHOT
 *	viv-keeper commit CELL SNAPSHOT TAG [LABELS]
 *
 * vivd starts it so for a request (api/job.h). SNAPSHOT "" stands for the files as they are now.
 * The result goes to standard output, errors and progress go to standard error, both as lines of
 * JSON. Only a patch is text. */
#ifndef VIV_KEEPER_DISK_TOOL_H
#define VIV_KEEPER_DISK_TOOL_H

#include "keeper/disk/view.h"

enum diff_form { DIFF_LIST, DIFF_PATCH };

/* The exit status. */
int disk_tool(int argc, char **argv);

/* Prints how the files of to differ from those of from; from NULL: from its image (diff.c). */
int must_check diff_print(const struct store *s, const struct cell_ref *from,
			  const struct cell_ref *to, enum diff_form form, struct err *e);
/* Makes an image of the cell's files; viv-store prints its hash (commit.c). labels:
 * lines of K=V. */
int must_check commit_make(const struct store *s, const struct cell_ref *ref, const char *tag,
			   const char *labels, struct err *e);

#endif
