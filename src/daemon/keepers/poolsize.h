/* The counts and decisions of the warm pool (pool.c): how many cells of each image it has, how many
 * it should have, and how many clients wait for one. Nothing here has a side effect: the caller
 * reports what happened, with the time in milliseconds, and does what the answer says, which is
 * counted already.
 *
 * The number of cells of an image grows by one, up to POOL_EACH, whenever a client asks and none is
 * ready. It shrinks by half of the cells that no client took between two ticks. An image that no
 * client has asked for in a while has none. After a start that failed, or a cell that ended while
 * it was ready, the next start is delayed. */
#ifndef VIV_DAEMON_KEEPERS_POOLSIZE_H
#define VIV_DAEMON_KEEPERS_POOLSIZE_H

#include "base/base.h"

#define POOL_KINDS 16 /* images that have cells */
#define POOL_EACH 8 /* cells of one image */
#define POOL_ALL 16
#define POOL_BOOTING 2 /* at once */
#define POOL_TICK_MS 3000
#define POOL_UNUSED_MS 30000 /* by default */
#define POOL_FAILED_MS 10000 /* no start after one that failed */
#define POOL_LOST_MS 1000 /* nor after a cell that ended while it waited */

/* Of all images. */
struct pool_total {
	unsigned kinds, ready, booting;
	uint64_t given, missed;
};

/* The cells of one image. There is a booting cell for each client that waits: waits <= booting. No
 * client waits while a cell is ready, except between pool_kind_ask or pool_kind_booted and
 * pool_kind_give. */
struct pool_kind {
	struct pool_total *all;
	unsigned want, ready, booting, waits;
	unsigned least; /* that were left since the last tick */
	uint64_t asked; /* when a client last asked */
	uint64_t not_before; /* when the next cell may be started */
};

/* What is to be removed: ready cells to end, waiting clients to refuse (the last first), and
 * whether the image itself is dropped. */
struct pool_cut {
	unsigned end, refuse;
	bool drop;
};

/* False: there are too many images. */
bool must_check pool_kind_init(struct pool_kind *k, struct pool_total *all);
/* A client asks. True: it waits, if only until pool_kind_give; false: it gets no cell. */
bool must_check pool_kind_ask(struct pool_kind *k, uint64_t now);
/* True: give a ready cell to the first client that waits, and call it again. */
bool must_check pool_kind_give(struct pool_kind *k);
/* True: start a cell, and call it again. */
bool must_check pool_kind_boot(struct pool_kind *k, uint64_t now);
/* A cell that was started is ready. */
void pool_kind_booted(struct pool_kind *k);
/* A cell that was started could not boot. */
struct pool_cut pool_kind_failed(struct pool_kind *k, uint64_t now);
/* A ready cell has ended. */
void pool_kind_lost(struct pool_kind *k, uint64_t now);
/* Every POOL_TICK_MS. */
struct pool_cut pool_kind_tick(struct pool_kind *k, uint64_t now, uint64_t unused_ms);
/* Ends all ready cells and refuses all clients. */
struct pool_cut pool_kind_close(struct pool_kind *k);

#endif
