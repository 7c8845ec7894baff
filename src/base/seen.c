/* See seen.h. */
#include "base/seen.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/siphash.h"

#define SLOTS (2 * SEEN_MAX) /* so that a free one is always found */

bool seen_add(struct seen *s, const void *text, size_t n)
{
	uint64_t h;
	size_t at;

	if (!s->slots) {
		if (getrandom(s->key, sizeof(s->key), 0) != sizeof(s->key))
			return false;
		s->slots = calloc(SLOTS, sizeof(*s->slots));
		if (!s->slots)
			return false;
	}
	h = siphash(s->key, text, n) | 1;
	at = (h >> 1) % SLOTS;
	while (s->slots[at] && s->slots[at] != h)
		at = (at + 1) % SLOTS;
	if (s->slots[at] || s->n == SEEN_MAX)
		return false;
	s->slots[at] = h;
	s->n++;
	return true;
}
