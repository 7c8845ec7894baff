/* Where a run takes place: its image, and the disks that it writes to. */
#ifndef VIV_KEEPER_ROOTFS_H
#define VIV_KEEPER_ROOTFS_H

#include "keeper/named.h"
#include "keeper/run.h"
#include "wire/bootspec.h"

struct rootfs {
	bool used; /* false: the host image and nothing that stays; nothing below is open */
	struct store store;
	bool stored; /* the image is one of the store */
	struct image image;
	bool kept; /* a named cell: disk and chain are its */
	struct named cell;
	struct disk disk;
	struct disk_chain chain;
	struct disk volumes[SPEC_MAX_MOUNTS]; /* by the number of the mount; dir is -1: none */
};

/* Opens what the options name and completes them from the image's configuration. place_close in any
 * case. */
int rootfs_open(struct rootfs *p, struct run_options *o, struct err *e);
/* Completes the options of one that is open likewise. */
int rootfs_settings(const struct rootfs *p, struct run_options *o, struct err *e);
void rootfs_close(struct rootfs *p);

#endif
