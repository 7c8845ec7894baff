/* Texts of workflows with expressions in them, ${{ EXPRESSION }}, as values of JSON.
 *
 * An expression is one of jq. A text that is nothing but an expression becomes its value; otherwise
 * the values are put into the text, texts as they are and anything else as JSON. '$${{' is '${{'.
 *
 * Most expressions are a path: .steps.build.output.files[0]. These are evaluated here, which takes
 * no time and cannot fail to end; all others by a process of their own (jq.h). */
#ifndef VIV_DAEMON_WORKFLOWS_EXPR_H
#define VIV_DAEMON_WORKFLOWS_EXPR_H

#include <jansson.h>

#include "base/err.h"

/* Adds the expressions of all texts in v to list, in their order. -1: one is not closed, empty or
 * too long; *ret_bad is that text. */
int expr_collect(const json_t *v, json_t *list, const char **ret_bad);
bool expr_is_in(const json_t *v);
/* A copy of v with the values in the place of its expressions. The caller's. at: the number of the
 * first one's value in values; moves on. */
json_t *expr_fill(const json_t *v, const json_t *values, size_t *at);
/* An expression with or without its ${{ }}: the text within. The caller's; NULL: text around it. */
char *expr_bare(const char *text);

/* Whether it is a path, and its value: null where there is none. The caller's; NULL: it is no path,
 * or asks for a part of what has none, which jq is to say. */
json_t *expr_path(const char *expr, const json_t *context);

#endif
