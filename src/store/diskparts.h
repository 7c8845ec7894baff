/* What the files about disks share: disk.c, disktree.c, chain.c, collect.c. */
#ifndef VIV_STORE_DISKPARTS_H
#define VIV_STORE_DISKPARTS_H

#include "store/disk.h"

/* ---- disktree.c: the tree file ---- */

bool disk_id_is_valid(const char *id);
struct disk_layer *layer_find(const struct disk *d, uint32_t n);
/* The same for one that is probably not far below from. */
struct disk_layer *layer_find_near(const struct disk *d, uint32_t n, const struct disk_layer *from);
int must_check layer_append(struct disk *d, const struct disk_layer *l);
int must_check tree_read(struct disk *d);
int must_check tree_write(const struct disk *d);
int must_check tree_write_by(const struct disk *d,
			     int (*put)(int dir, const char *name, const void *data, size_t size));

/* ---- chain.c ---- */

/* One that nothing was ever written to has no directory, and is left out of chains. */
bool layer_is_made(const struct disk *d, uint32_t n);
/* How many layers, also such that were never written, are below layer n; or -errno. */
int must_check layer_depth(int store, const struct disk *d, uint32_t n);

/* ---- disk.c ---- */

/* Removes what a kernel wrote to it. */
int layer_drop(struct disk *d, uint32_t n);

#endif
