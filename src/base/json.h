/* Reading JSON: small documents, hostile ones included. One block of memory, no
 * recursion, at most 64 deep. */
#ifndef VIV_BASE_JSON_H
#define VIV_BASE_JSON_H

#include "base/base.h"
#include "base/err.h"
#include "base/buf.h"

#define JSON_MAX (4u << 20)

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

struct json {
	enum json_type type;
	char *key; /* in an object */
	char *text; /* of a text (decoded, without NUL in it) or a number; "true", "false" */
	struct json *first, *next; /* members; the next one of the same parent */
};

struct json_doc {
	struct json *root;
	struct buf blocks; /* void *: all that was allocated */
	char *bytes;
};

/* Parses a copy. 0, or -1 with the place of the mistake. */
int json_parse(struct json_doc *d, const char *text, size_t len, struct err *e);
/* The same for what others wrote into the document: of at most max bytes, and a NUL in a text,
 * which cannot be there, is U+FFFD instead of a mistake. */
int json_parse_any(struct json_doc *d, const char *text, size_t len, size_t max, struct err *e);
void json_free(struct json_doc *d);

/* The member of that name, of that type; NULL when v is NULL, no object, or has none such. */
const struct json *json_get(const struct json *v, const char *key, enum json_type type);
/* The text of such a member, or NULL. */
const char *json_get_text(const struct json *v, const char *key);
/* An object as err_json writes it. What is not in it is not known; http: the status that it came
 * with; 0: none. */
void json_get_err(const struct json *v, int http, struct err *ret);
/* A member that is a whole number; false when there is none. */
bool json_get_u64(const struct json *v, const char *key, uint64_t *ret);

#endif
