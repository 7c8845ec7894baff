/* Texts that came before, for what is told once: only their hashes are kept, with a key that nobody
 * outside knows, and a bounded number of them. */
#ifndef VIV_BASE_SEEN_H
#define VIV_BASE_SEEN_H

#include "base/base.h"

#define SEEN_MAX 4096u

struct seen {
	uint64_t *slots; /* NULL before the first; 0: free */
	uint64_t key[2];
	unsigned n;
};

/* True: it is new, and there was room for it. */
bool seen_add(struct seen *s, const void *text, size_t n);

#endif
