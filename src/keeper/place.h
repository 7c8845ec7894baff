/* Where a run takes place: its image, and the disks that it writes to. */
#ifndef VIV_CLI_PLACE_H
#define VIV_CLI_PLACE_H

#include "keeper/named.h"
#include "keeper/run.h"
#include "wire/bootspec.h"

struct place {
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
int place_open(struct place *p, struct run_options *o, struct err *e);
/* Completes the options of one that is open likewise. */
int place_settings(const struct place *p, struct run_options *o, struct err *e);
void place_close(struct place *p);

#endif
