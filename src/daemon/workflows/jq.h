/* Expressions that are more than a path, evaluated by a process of their own (src/expr): at most
 * WF_EXPRS_AT_ONCE at the same time, each for at most WF_EXPR_MS; the others wait. */
#ifndef VIV_DAEMON_WORKFLOWS_JQ_H
#define VIV_DAEMON_WORKFLOWS_JQ_H

#include <jansson.h>

#include "base/err.h"
#include "daemon/state/daemon.h"

struct evaluation;

/* values: one for each expression; taken. NULL: e. */
typedef void (*evaluated_fn)(void *arg, json_t *values, const struct err *e);

/* Takes context and exprs. fn is called once, later. */
struct evaluation *evaluation_new(struct daemon *d, json_t *context, json_t *exprs, evaluated_fn fn,
				  void *arg);
/* fn is not called any more. */
void evaluation_cancel(struct evaluation *x);

#endif
