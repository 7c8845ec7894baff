/* Objects of JSON, checked by a table of their fields: types, what must be there, and that nothing
 * else is. */
#ifndef VIV_DAEMON_STATE_FIELDS_H
#define VIV_DAEMON_STATE_FIELDS_H

#include <jansson.h>

#include "base/err.h"

enum field_type {
	FIELD_TEXT,
	FIELD_INT, /* not negative */
	FIELD_NUMBER, /* not negative */
	FIELD_BOOL,
	FIELD_OBJECT,
	FIELD_LIST,
	FIELD_TEXTS, /* a list of texts */
	FIELD_MAP, /* an object whose values are texts */
};

struct field {
	const char *name;
	enum field_type type;
	bool required;
};

/* Checks an object against a table of its fields; an unknown one is an error. where: "" or
 * "limits." for messages. */
int fields_check(const json_t *o, const struct field *fields, unsigned n, const char *where,
		 struct err *f);

/* A text of JSON for anybody's bytes: what is not UTF-8 or a control character becomes '?'. */
json_t *json_clean(const char *s);
/* An error as the API has it. */
json_t *json_err(const struct err *e);
void json_err_get(const json_t *o, struct err *ret);
/* Adds how a process ended, by its wait status, to o. */
void json_set_exit(json_t *o, int wait_status, bool timed_out);
/* A member that is a text, or NULL. */
const char *json_text(const json_t *o, const char *name);

/* A list of strings as words, with a NULL at the end; the strings are those of list. The caller's
 * to free. */
char **json_words(const json_t *list);

#endif
