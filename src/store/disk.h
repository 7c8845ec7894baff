/* Disks: the trusted side of what docs/decisions/0017 describes.
 *
 * A disk is a directory disks/ID of the store. Its file "tree" says which layers there are, what
 * each stands on, and which one is active; it is only ever replaced whole. Kernels write below
 * data/ and nowhere else, and nothing that they wrote is read here.
 *
 * A disk in use is locked: exclusively by who may change it, shared by readers. All functions
 * return 0 or -errno; -EBUSY: somebody else uses it; -EBADMSG: its tree file is damaged. */
#ifndef VIV_STORE_DISK_H
#define VIV_STORE_DISK_H

#include <sys/types.h>

#include "base/base.h"

#define DISK_ID_LEN 32
#define DISK_NAME_MAX 64 /* of a snapshot */
#define DISK_MAX_LAYERS 100000
#define DISK_MAX_CHAIN 4096 /* layers on top of each other, with the active one */

#define DISK_NO_IMAGE "none" /* a volume's */

/* Where a layer is: one of this disk, or of another. */
struct layer_ref {
	char disk[DISK_ID_LEN + 1];
	uint32_t n; /* 0: none; the layer stands on the image alone */
};

struct disk_layer {
	uint32_t n;
	struct layer_ref parent;
	int64_t time; /* of its making, seconds */
	char name[DISK_NAME_MAX + 1]; /* of the snapshot that sealed it; "": none */
};

enum disk_lock { DISK_PEEK, DISK_SHARED, DISK_EXCLUSIVE };

struct disk {
	int dir; /* disks/ID */
	int lock; /* -1: not locked */
	char id[DISK_ID_LEN + 1];
	char image[80]; /* hash of the image, "host" or DISK_NO_IMAGE */
	uint32_t uid; /* that its files belong to when viv is root */
	uint32_t active; /* number of the active layer; 0: its cell is gone, others stand on it */
	struct disk_layer *layers;
	unsigned nlayers;
};

/* A sealed layer of a chain, as a kernel gets it. */
struct disk_link {
	int fd; /* data/N of another disk, O_PATH; -1: a layer of the same disk */
	struct layer_ref ref;
};

struct disk_chain { /* begins as zeros */
	struct disk_link *links; /* from the ground up */
	unsigned n, room;
};

/* Makes a disk for image, its first layer standing on parent (n is 0: on the image alone), opened
 * and locked exclusively. */
int must_check disk_create(int store, const char *image, const struct layer_ref *parent,
			   struct disk *ret);
/* The same in steps, for who has more to sync: until it is published collectors take it for
 * unfinished. Before, "tree" and "." of its directory are to be synced, "disks" of the store after.
 * Discarding what is not published closes it. */
int must_check disk_draft(int store, const char *image, const struct layer_ref *parent,
			  struct disk *ret);
int must_check disk_publish(int store, struct disk *d);
void disk_discard(int store, struct disk *d);
int must_check disk_open(int store, const char *id, enum disk_lock lock, struct disk *ret);
void disk_close(struct disk *d);
/* Whether anybody has it locked. Whoever opens it in that moment finds it locked by us. */
bool disk_is_used(int store, const char *id);
/* The disk and everything in it. It is locked exclusively; closes it. */
int disk_remove(int store, struct disk *d);

/* The layers that layer n stands on, without those that nothing was ever written to. -ELOOP: too
 * many. */
int must_check disk_chain(int store, const struct disk *d, uint32_t n, struct disk_chain *ret);
/* The same, and layer n itself last: what a reader needs. */
int must_check disk_chain_with(int store, const struct disk *d, uint32_t n, struct disk_chain *ret);
/* Takes the descriptor of l, if it goes well. -ELOOP, -ENOMEM. */
int must_check disk_chain_add(struct disk_chain *c, const struct disk_link *l);
void disk_chain_close(struct disk_chain *c);

/* The layer that snapshot name sealed; NULL: there is none. */
const struct disk_layer *disk_snapshot_find(const struct disk *d, const char *name);
bool disk_name_is_valid(const char *name);

/* What is decided before a kernel seals, and what follows: the active layer gets the name, a new
 * one stands on it. Name "": no snapshot, only sealed (for a fork). -EEXIST: the name is taken.
 * -ELOOP: the chain is too long. */
int must_check disk_seal(int store, struct disk *d, const char *name);
/* The same in two steps, for a kernel that syncs the whole file system between them, before it goes
 * on in the new layer: the second has little left to do. */
int must_check disk_seal_start(int store, struct disk *d, const char *name);
int must_check disk_seal_end(struct disk *d);
/* Takes the last disk_seal back: the kernel refused. */
int disk_unseal(struct disk *d);
/* A layer that nothing stands on, without a directory: a collector takes it for garbage. */
int must_check disk_layer_reserve(struct disk *d, uint32_t *ret_n);
int disk_layer_forget(struct disk *d, uint32_t n);
/* Layer n, which was reserved and is on the host's disk now, takes the place of layer instead, as
 * what others of the disk stand on and as a snapshot. 0: only the active layer stands on it. It has
 * the same tree. */
int must_check disk_stand_on(struct disk *d, uint32_t n, uint32_t instead);
/* A new active layer on top of the snapshot's; the old active one goes. -ENOENT: no such snapshot.
 * On other errors d is to be closed. */
int must_check disk_rollback(int store, struct disk *d, const char *name);
int must_check disk_snapshot_remove(struct disk *d, const char *name);

/* A layer in whose place one that stands on nothing (merge.h) would set others free. -ENOENT: there
 * is none. */
struct merge_plan {
	uint32_t instead;
	uint32_t top; /* the last one above it, as nothing branches off between the two */
	unsigned frees; /* how many of its chain would be garbage, from itself down */
};
/* It may be another one as soon as somebody forks: who changes the disk asks again, with the store
 * locked exclusively. */
int must_check disk_merge_find(int store, const struct disk *d, struct merge_plan *ret);

/* Removes every layer and disk that nothing leads to. roots: the ids of disks that a cell or a
 * volume has. Disks in use keep what they use. */
int disk_collect(int store, char (*roots)[DISK_ID_LEN + 1], unsigned nroots);

#endif
