/* Writing JSON. */
#ifndef VIV_BASE_JSONTEXT_H
#define VIV_BASE_JSONTEXT_H

#include <stdio.h>

#include "base/buf.h"

/* A text with its quotes; what is not UTF-8 is replaced. */
void json_bytes(FILE *to, const char *text, size_t len);
void json_quoted(FILE *to, const char *text);

/* ---- into memory ---- */

/* Writes text as a JSON text, with its quotes, into b. */
void json_text_add(struct buf *b, const char *text);
/* A member of an object: its name and, unless it is NULL, its value as it stands. The first one has
 * no comma before it. */
void json_member_add(struct buf *b, const char *name, const char *value);
/* The same for a text; nothing when it is NULL. */
void json_member_text(struct buf *b, const char *name, const char *text);
void json_member_number(struct buf *b, const char *name, uint64_t n);
void json_member_seconds(struct buf *b, const char *name, int64_t ns);

#endif
