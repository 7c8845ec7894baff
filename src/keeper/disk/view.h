/* Which tree a kernel is asked about (keeper/disk_kernel.h). */
#ifndef VIV_KEEPER_DISK_VIEW_H
#define VIV_KEEPER_DISK_VIEW_H

#include "keeper/disk_kernel.h"

struct cell_ref {
	char name[DISK_NAME_MAX + 1];
	char snapshot[DISK_NAME_MAX + 1]; /* "": as it is now */
};

/* The tree of a cell as it is now, or at a snapshot. DISK_PEEK is enough for what is sealed, and
 * for a log that only grows; with DISK_SHARED nobody changes it meanwhile. */
struct view {
	struct rootfs rootfs;
	uint32_t layer;
};

int view_open(struct view *v, const struct store *s, const struct cell_ref *ref,
	      enum disk_lock lock, struct err *e);
void view_close(struct view *v);

#endif
