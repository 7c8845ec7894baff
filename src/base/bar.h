/* A line on a terminal that tells how far long work is. */
#ifndef VIV_BASE_BAR_H
#define VIV_BASE_BAR_H

#include "base/base.h"

/* The clock that bars measure with. */
int64_t bar_now(void);
/* Draws it on standard error: what is done, how many files and bytes, since when. total 0: not
 * known. */
void bar_print(const char *what, uint64_t files, uint64_t bytes, uint64_t done, uint64_t total,
	       int64_t began);
/* Takes it away, if it was drawn. */
void bar_clear(void);

#endif
