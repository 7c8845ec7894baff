/* Which lines of two texts differ. */
#ifndef VIV_KEEPER_DISK_TEXTDIFF_H
#define VIV_KEEPER_DISK_TEXTDIFF_H

#include "base/base.h"

struct lines {
	const char *data; /* borrowed */
	uint32_t n; /* what follows the last newline is one, too */
	uint32_t *at; /* n + 1 offsets */
	uint8_t *changed; /* of each: it is not among the lines that both texts have */
};

/* False: there is no memory. len is below 4 GiB. */
bool must_check lines_init(struct lines *l, const char *data, size_t len);
void lines_fini(struct lines *l);

/* Sets changed in both, so that what is left is the same in both. The fewest changes are found
 * unless that takes too long. False: there is no memory. */
bool must_check lines_compare(struct lines *a, struct lines *b);

#endif
