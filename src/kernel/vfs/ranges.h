/* A set of ranges that may overlap, in the order of their start: who meets a given range is found
 * in steps that grow with the logarithm of the set's size, however a guest has chosen them. Nodes
 * are embedded in what they stand for. */
#ifndef VIV_KERNEL_VFS_RANGES_H
#define VIV_KERNEL_VFS_RANGES_H

#include "base/base.h"

struct range_node {
	struct range_node *up, *kid[2];
	uint64_t start, end; /* both included; may only be changed outside of the set */
	uint64_t max_end; /* of all below and itself */
	uint32_t weight; /* random: a parent's is not below its children's */
};

struct range_set {
	struct range_node *root;
};

/* n is in no set; start and end are given. Behind those of the same start. */
void range_add(struct range_set *s, struct range_node *n);
void range_remove(struct range_set *s, struct range_node *n);
/* The first in order, and the next after n, that ends at or behind start; NULL: none. Those that
 * begin behind the end of a range do not meet it: the caller stops there. With start 0 all are
 * walked. n may be removed once its successor is known. */
struct range_node *range_first(const struct range_set *s, uint64_t start);
struct range_node *range_next(const struct range_node *n, uint64_t start);

#endif
