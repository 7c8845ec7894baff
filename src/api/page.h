/* Pages of a list: limit= and cursor= in a query, and "next" in the answer while there is more.
 * Pages are in an order that stays, and a cursor is the id of the last item before it, which may be
 * gone since. */
#ifndef VIV_API_PAGE_H
#define VIV_API_PAGE_H

#include "api/http/request.h"

#define PAGE_MAX 1000

struct page {
	uint64_t limit; /* 0: none was given */
	char *cursor; /* NULL: from the beginning */
};

/* Reads the query; valid says what can be a cursor. False: answered. */
bool must_check page_read(struct request *r, bool (*valid)(const char *cursor), struct page *ret);
bool page_is_asked(const struct page *p);
/* Adds an item, which is taken, to out[list]. False: the page is full, and "next" says so. */
bool page_add(const struct page *p, json_t *out, const char *list, json_t *item);
void page_free(struct page *p);

#endif
