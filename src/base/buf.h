/* Memory that grows: arrays of one type and runs of bytes. Out of memory ends the program, which an
 * import or vivd survives as it survives every other sudden end. */
#ifndef VIV_BASE_BUF_H
#define VIV_BASE_BUF_H

#include "base/base.h"

struct buf {
	uint8_t *p;
	size_t len, cap;
};

/* Room for n more bytes, zeroed; returns them. What was returned before may have moved. */
void *buf_more(struct buf *b, size_t n);
/* Copies; returns the offset of the copy. */
size_t buf_add(struct buf *b, const void *data, size_t n);
/* Copies with a NUL behind it that is not counted. */
size_t buf_add_text(struct buf *b, const char *text);
void buf_free(struct buf *b);

/* Item i of a buf of items. */
#define BUF_ITEM(b, type, i) (&((type *)(void *)(b)->p)[i])
#define BUF_COUNT(b, type) ((b)->len / sizeof(type))

/* malloc and strndup that do not fail. */
void *must_check xalloc(size_t n);
char *must_check xstrndup(const char *s, size_t n);

#endif
