/* Messages of HTTP: heads, bodies of HTTP/1, and the path that rules are asked about. No sockets
 * and no policy here (open.h).
 *
 * Everything that another reader could understand in another way is refused: two lengths, lines
 * that are folded or end without CR, spaces around names, characters that are not allowed. What is
 * passed on is written anew from what was understood, never copied. */
#ifndef VIV_GATE_HTTP_H
#define VIV_GATE_HTTP_H

#include "base/buf.h"

#define HEAD_MAX 65536u /* bytes of a head */
#define HEAD_FIELDS_MAX 256u
#define TRAILERS_MAX 16384u
#define TARGET_MAX 16384u
#define METHOD_MAX 32u

struct field {
	char *name, *value;
	bool secret; /* it has the value of one: nobody keeps it for later */
};

struct head {
	/* of a request; target: path and query, or "*" */
	char *method, *target, *authority, *scheme;
	bool secret; /* the target has the value of one */
	/* of a response */
	unsigned status;
	char *reason;
	unsigned minor; /* of HTTP/1 */
	struct field *fields;
	unsigned n;
	size_t size; /* of all texts */
};

/* ---- heads (head.c) ---- */

void head_fini(struct head *h); /* it may be used again */
/* NULL, or what is wrong. */
const char *must_check head_add(struct head *h, const void *name, size_t nname, const void *value,
				size_t nvalue);
/* The only one of this name, else NULL; how many there are. */
const char *head_find(const struct head *h, const char *name, unsigned *ret_count);
void head_remove(struct head *h, const char *name);
/* Is token in a list of tokens? */
bool list_has(const char *list, const char *token);
/* In any of the fields of this name. */
bool head_has(const struct head *h, const char *name, const char *token);
/* Drops what is for one connection only, with what Connection names. */
void head_hops(struct head *h);
/* Replaces a text of a head. */
void text_set(char **to, const void *p, size_t n);
bool is_token(const char *p, size_t n);
bool is_value(const char *p, size_t n);
/* Does HOST[:PORT] mean this name and port? port_default: of its scheme. */
bool authority_is(const char *text, const char *name, uint16_t port, uint16_t port_default);

/* ---- HTTP/1 (h1read.c) ---- */

/* The length of the head at p, with its empty line; 0: not all of it is there. wrong: set if it
 * cannot become one. scanned: what was looked at before, 0 at the beginning. */
size_t h1_head_end(const uint8_t *p, size_t n, size_t *scanned, const char **wrong);
/* NULL, or what is wrong. n: as h1_head_end said. An absolute target is split. */
const char *must_check h1_request_read(struct head *h, const uint8_t *p, size_t n);
const char *must_check h1_response_read(struct head *h, const uint8_t *p, size_t n);
/* Lines of fields alone; n: with the last line's end, without an empty line. */
const char *must_check h1_fields_read(struct head *h, const uint8_t *p, size_t n);
void h1_head_write(const struct head *h, struct buf *to); /* with the empty line */
void h1_fields_write(const struct head *h, struct buf *to);

enum body_kind { BODY_NONE, BODY_LENGTH, BODY_CHUNKED, BODY_CLOSE };

struct body {
	enum body_kind kind;
	bool strict; /* of a request: no extensions of chunks */
	uint64_t left; /* of the length, or of the chunk */
	unsigned state, digits;
	bool done;
	const char *wrong;
	struct buf trailers; /* lines of fields */
};

/* How long the body is; takes the fields that say so out of the head. NULL, or what is wrong. */
const char *must_check body_of_request(struct body *b, struct head *h);
/* bare: the answer to HEAD, which has none. */
const char *must_check body_of_response(struct body *b, struct head *h, bool bare);
/* Reads on: how many bytes were used, of which data (in p) are ret_n of the body. Until it uses
 * none, is done or wrong. */
size_t body_step(struct body *b, const uint8_t *p, size_t n, const uint8_t **ret, size_t *ret_n);
void body_fini(struct body *b);
/* Data as a chunk. */
void chunk_write(struct buf *to, const uint8_t *p, size_t n);

/* ---- paths (path.c) ---- */

#define PATH_READINGS 3
/* Servers differ in how they read a path: as it stands (0), decoded (1), or decoded again and again
 * with '\' as '/', without parameters (";x"), empty and dot segments (2). Writes one of them to
 * `to` (TARGET_MAX + 1 bytes). False: it cannot be read so. */
bool must_check path_read(const char *target, unsigned reading, char *to);
/* NULL, or why it cannot be a target. */
const char *must_check target_wrong(const char *target, const char *method);

#endif
