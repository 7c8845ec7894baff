/* Writing JSON: texts, and the form that failures have for programs. */
#ifndef VIV_BASE_JSONTEXT_H
#define VIV_BASE_JSONTEXT_H

#include <stdio.h>

#include "base/err.h"

/* A text with its quotes; what is no UTF-8 is replaced. */
void json_bytes(FILE *to, const char *text, size_t len);
void json_quoted(FILE *to, const char *text);

/* "usage", "not_found", ... */
const char *err_code(enum err_kind kind);
/* {"code","message","remedy"} and a newline. The remedy is what follows "; " in the text. */
void json_failure(FILE *to, const char *code, const char *text);

#endif
