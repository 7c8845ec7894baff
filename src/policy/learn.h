/* The smallest policy that covers what a cell was seen to use (learn.c). */
#ifndef VIV_POLICY_LEARN_H
#define VIV_POLICY_LEARN_H

#include "base/buf.h"

/* What a cell used, one JSON object each as notes of the gate have it (wire/gatectl.h: use, name).
 * What is wrong in one is left out. */
struct learn {
	struct buf uses; /* of struct learn_use */
};

void learn_init(struct learn *l);
void learn_fini(struct learn *l);
void learn_add(struct learn *l, const char *json, size_t n);
/* The rules, a line each; then, as comments, names that were only looked up. */
void learn_write(struct learn *l, struct buf *to);

#endif
