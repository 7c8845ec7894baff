/* Counts of references. What nobody holds any more cannot be held again: a count that starts from
 * nothing, goes below it or runs over is a mistake that would end as a use of memory that belongs
 * to somebody else by then, so the program ends there instead. */
#ifndef VIV_BASE_REF_H
#define VIV_BASE_REF_H

#include "base/base.h"

static inline void ref_get(uint32_t *refs)
{
	/* 0 and the highest in one comparison. */
	if (*refs - 1 >= UINT32_MAX - 1)
		__builtin_trap();
	++*refs;
}

/* True: that was the last one. */
static inline bool must_check ref_put(uint32_t *refs)
{
	if (!*refs)
		__builtin_trap();
	return --*refs == 0;
}

#endif
