/* YAML as a tree whose nodes know where they stand in the text.
 *
 * The text is anybody's: its size, depth and number of nodes are bounded. What makes documents hard
 * to read or small texts large is refused: anchors and aliases, tags, several documents, keys that
 * are no texts, a key that comes twice. */
#ifndef VIV_DAEMON_YAML_YAML_H
#define VIV_DAEMON_YAML_YAML_H

#include "base/err.h"

#define YAML_MAX_BYTES (1u << 20)
#define YAML_MAX_DEPTH 16
#define YAML_MAX_NODES 20000
#define YAML_MAX_KEYS 1024 /* of one map */

enum ynode_kind { YNODE_TEXT, YNODE_LIST, YNODE_MAP };

struct ynode {
	enum ynode_kind kind;
	unsigned line, column; /* from 1 */
	bool plain; /* a text without quotes: a number, true, null may be meant */
	bool variable; /* something in the text was a variable's value (yvars.h) */
	char *text; /* of a text: without a NUL in it; else NULL */
	struct ynode *first, *next; /* what is in it; the next one of the same parent */
	struct ynode *key; /* of what is in a map: a YNODE_TEXT */
	struct ynode *all; /* the one that was made before, for ydoc_free */
};

struct ydoc {
	const char *file; /* for messages; borrowed */
	struct ynode *root; /* NULL: the text is empty */
	struct ynode *all;
	unsigned nnodes;
	size_t expanded; /* bytes that variables have put into it (yvars.c) */
};

/* 0; or -1 with an error 400 "invalid_file" whose message begins with FILE:LINE:COLUMN. ydoc_free
 * in any case. */
int must_check ydoc_parse(struct ydoc *y, const char *file, const char *text, size_t size,
			  struct err *f);
void ydoc_free(struct ydoc *y);

/* The value of a key, or NULL. */
struct ynode *ynode_get(const struct ynode *map, const char *key);
/* Nothing, or 'null' without quotes. */
bool ynode_is_null(const struct ynode *n);

/* Sets such an error for this node. Always -1. A message tells of keys and never of values: those
 * may be secrets. */
#define yaml_wrong(...)                 \
	({                              \
		yaml_note(__VA_ARGS__); \
		-1;                     \
	})
void yaml_note(struct err *f, const struct ydoc *y, const struct ynode *at, const char *fmt, ...)
	printf_like(4, 5);

#endif
