/* Which tree a kernel is asked about (keeper/teller.h). */
#ifndef VIV_CLI_TELL_H
#define VIV_CLI_TELL_H

#include "cli/cells.h"
#include "keeper/teller.h"

/* The tree of a cell as it is now, or at a snapshot. DISK_PEEK is enough for what is sealed, and for a log that only grows; with
 * DISK_SHARED nobody changes it meanwhile. */
struct view {
	struct place place;
	uint32_t layer;
};

int view_open(struct view *v, const struct store *s, const struct cell_ref *ref,
	      enum disk_lock lock, struct err *e);
void view_close(struct view *v);

#endif
