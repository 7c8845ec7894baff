/* What a policy would say to something (query.c). */
#ifndef VIV_POLICY_QUERY_H
#define VIV_POLICY_QUERY_H

#include "base/buf.h"
#include "base/err.h"

struct policy;

/* One of connect, file, exec, env, tool and cell is set. */
struct policy_query {
	const char *connect; /* "https://HOST[:PORT]/PATH", "udp://HOST:PORT", "HOST:PORT" */
	const char *method; /* with a URL; NULL: GET */
	const char *program; /* with connect; NULL: not known */
	const char *file;
	const char *access; /* with file: "read,write"; NULL: read */
	const char *exec;
	const char *env;
	const char *tool; /* "NAME" or "NAME/SUBCOMMAND" */
	const char *cell; /* the image of a sub-cell, the first one */
	char *const *tools; /* with tool: those that the cell was given; may be NULL */
};

/* The answer as an object of JSON: verdict (allow, deny, ask), rule (as text) and origin ("FILE,
 * line 3") unless no rule matched, audit if such a rule allows it, note (what else counts). */
int must_check policy_answer(const struct policy *p, const struct policy_query *q, struct buf *to,
			     struct err *e);
/* The same with a list of rules. */
int must_check policy_answer_words(char *const *rules, const struct policy_query *q, struct buf *to,
				   struct err *e);
/* Each rule of a list in its shortest form: the caller's with its texts; NULL: an error. more:
 * NULL, or rules that are added; what can never decide because of them goes. */
char **policy_list(char *const *rules, char *const *more, struct err *e);

#endif
