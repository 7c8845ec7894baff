/* A layer: a writable tree in memory, alone (tmpfs) or copy-on-write above an image (the cell's
 * root). */
#ifndef VIV_KERNEL_FS_LAYER_LAYER_H
#define VIV_KERNEL_FS_LAYER_LAYER_H

#include "kernel/fs/image/image.h"
#include "kernel/vfs/vfs.h"

/* A new layer with refs = 1, its root made; NULL: no memory. Takes lower (NULL: none, a tmpfs).
 * max_bytes of content and max_inodes of new files and names; 0: no limit of its own. type_name is
 * shown in /proc/mounts and stays the caller's. The contents of files are in cell.scratch_fd. */
struct fs *must_check layer_new(struct image *lower_or_NULL, uint64_t max_bytes,
				uint64_t max_inodes, const char *type_name);

/* Calls fn for each path (absolute in the layer) that differs from the image: 'A' added, 'C'
 * changed, 'D' deleted. Parents come before their children; otherwise in no order. A renamed
 * directory is D and A; what it brought with it from the image is not listed again. Paths longer
 * than PATH_MAX_LEN are left out. */
void layer_changes(struct fs *fs, void (*fn)(void *arg, char kind, const char *path), void *arg);

#endif
