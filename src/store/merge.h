/* One layer in the place of several that stand on each other: it has the same tree, and hard links
 * to the same contents. What is another disk's is copied if its owner is that of this disk, whose
 * kernel could write to it otherwise.
 *
 * Chains become short by that, and layers that no snapshot needs can go. What the log of the new
 * layer is and which contents it needs is a kernel's word (kernel/cell/maintain.c); a content is
 * linked only if it is a regular file of the chain. */
#ifndef VIV_STORE_MERGE_H
#define VIV_STORE_MERGE_H

#include "store/disk.h"

struct merge_content {
	uint32_t index; /* in the chain */
	uint64_t number;
};

struct merged {
	uint32_t n; /* of the new layer */
	int dir, log; /* an empty file */
};

/* Makes its directory. The disk is locked exclusively. 0 or -errno. */
int must_check merge_start(struct disk *d, struct merged *m);
void merge_sort(struct merge_content *contents, size_t n);
/* How many bytes go with the last so many layers of the chain, as the sorted contents are all that
 * is needed of it. */
uint64_t merge_gain(const struct disk *d, const struct disk_chain *chain, unsigned last,
		    const struct merge_content *contents, size_t n);
/* How many bytes of the sorted contents would be copied. */
uint64_t merge_cost(const struct disk *d, const struct disk_chain *chain,
		    const struct merge_content *contents, size_t n);
/* Gives it the sorted contents. -EBADMSG: one is not there. */
int must_check merge_link(struct merged *m, const struct disk *d, const struct disk_chain *chain,
			  const struct merge_content *contents, size_t n);
/* It reaches the host's disk; then it may take the place of others (disk_stand_on). */
int must_check merge_sync(struct merged *m);
/* Instead of that. */
void merge_drop(struct merged *m, struct disk *d);

#endif
