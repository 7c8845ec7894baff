/* Memory that grows; see buf.h. */
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void *room(struct buf *b, size_t n)
{
	void *p;

	if (n > b->cap - b->len) {
		size_t cap = MAX(b->cap + b->cap / 2, b->len + n);

		cap = ALIGN_UP(MAX(cap, (size_t)4096), (size_t)4096);
		b->p = realloc(b->p, cap);
		if (!b->p || cap < n)
			log_die("out of memory");
		b->cap = cap;
	}
	p = b->p + b->len;
	b->len += n;
	return p;
}

void *buf_more(struct buf *b, size_t n)
{
	void *p = room(b, n);

	if (n)
		memset(p, 0, n);
	return p;
}

size_t buf_add(struct buf *b, const void *data, size_t n)
{
	size_t at = b->len;
	void *p = room(b, n);

	if (n)
		memcpy(p, data, n);
	return at;
}

size_t buf_add_text(struct buf *b, const char *text)
{
	size_t at = buf_add(b, text, strlen(text) + 1);

	b->len--;
	return at;
}

void buf_free(struct buf *b)
{
	free(b->p);
	*b = (struct buf){ 0 };
}

void *xalloc(size_t n)
{
	void *p = calloc(1, n ? n : 1);

	if (!p)
		log_die("out of memory");
	return p;
}

char *xstrndup(const char *s, size_t n)
{
	char *p = strndup(s, n);

	if (!p)
		log_die("out of memory");
	return p;
}
