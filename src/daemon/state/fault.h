/* What went wrong with a request: a status of HTTP, a code that programs compare, and words for people. Functions that
 * take one return 0 or -1. */
#ifndef VIV_DAEMON_STATE_FAULT_H
#define VIV_DAEMON_STATE_FAULT_H

#include "base/err.h"

struct fault {
	int status; /* 400 ... 599 */
	const char *code; /* static: "not_found" */
	char message[600];
	char cause[300]; /* "": none that is known */
	char remedy[300]; /* "": none that is known */
};

/* Always -1. A message of the form "WHAT; WHAT TO DO" gives its end to remedy. */
#define fault_set(...)                   \
	({                               \
		fault_note(__VA_ARGS__); \
		-1;                      \
	})
void fault_note(struct fault *f, int status, const char *code, const char *fmt, ...)
	printf_like(4, 5);
/* Adds the cause to a fault that is set. */
void fault_cause(struct fault *f, const char *cause);
/* The same from the store's and the keepers' errors. */
#define fault_from(f, e)             \
	({                           \
		fault_convert(f, e); \
		-1;                  \
	})
void fault_convert(struct fault *f, const struct err *e);

#endif
