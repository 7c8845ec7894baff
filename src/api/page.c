/* See page.h. */
#include "api/page.h"

#include <stdlib.h>

bool page_read(struct request *r, bool (*valid)(const char *cursor), struct page *ret)
{
	uint64_t limit = UINT64_MAX;
	bool bad = false;

	*ret = (struct page){ 0 };
	if (!request_query_number(r, "limit", PAGE_MAX, &limit))
		return false;
	ret->cursor = request_query(r, "cursor", &bad);
	if (bad)
		return false;
	if (!limit)
		reply_error(r, ERR_INVALID, "'limit' must be 1 to %d", PAGE_MAX);
	else if (ret->cursor && !valid(ret->cursor))
		reply_error(r, ERR_INVALID,
			    "'cursor' is not valid" REMEDY "use 'next' of the previous answer");
	else
		ret->limit = limit == UINT64_MAX ? 0 : limit;
	if (r->response)
		page_free(ret);
	return !r->response;
}

bool page_is_asked(const struct page *p)
{
	return p->limit || p->cursor;
}

bool page_add(const struct page *p, json_t *out, const char *list, json_t *item)
{
	json_t *items = json_object_get(out, list);
	size_t n = json_array_size(items);

	if (p->limit && n == p->limit) {
		json_object_set(out, "next", json_object_get(json_array_get(items, n - 1), "id"));
		json_decref(item);
		return false;
	}
	json_array_append_new(items, item);
	return true;
}

void page_free(struct page *p)
{
	free(p->cursor);
	*p = (struct page){ 0 };
}
