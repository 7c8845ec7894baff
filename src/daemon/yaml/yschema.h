/* A tree of YAML, checked by tables of keys and turned into JSON with the same keys: types, what
 * must be there, and that nothing else is.
 *
 * What can be written in several ways has a function of its own. Sizes become bytes, times become
 * seconds. */
#ifndef VIV_DAEMON_YAML_YSCHEMA_H
#define VIV_DAEMON_YAML_YSCHEMA_H

#include <jansson.h>

#include "daemon/yaml/yaml.h"

struct yread {
	struct ydoc doc;
	const json_t *vars;
	bool literal; /* texts are taken as they are: '$' begins no variable */
	struct err *f;
};

enum ykey_type {
	YKEY_TEXT, /* in quotes, or what could be nothing else */
	YKEY_WORD, /* the same, and a number as it is written */
	YKEY_BOOL,
	YKEY_COUNT, /* a whole number */
	YKEY_NUMBER,
	YKEY_SIZE, /* bytes: 4096, 64M, 1G */
	YKEY_SECONDS, /* 2.5, 500ms, 10s, 5m */
	YKEY_WORDS, /* a list of words */
	YKEY_MAP, /* a map from any names to words */
	YKEY_OBJECT, /* a map of the keys in sub */
	YKEY_OBJECTS, /* a list of those */
	YKEY_NAMED, /* a map from any names to those; nothing is an empty one */
	YKEY_OWN, /* read() */
};

#define YKEY_REQUIRED 1
#define YKEY_VARS 2 /* takes variables */
#define YKEY_ZERO 4 /* 0 is within the bounds, whatever they are */

struct yschema;

struct ykey {
	const char *name;
	enum ykey_type type;
	unsigned flags; /* YKEY_ */
	double min, max; /* of numbers; max 0: none */
	const struct yschema *sub;
	int (*read)(struct yread *y, struct ynode *n, json_t **ret);
};

struct yschema {
	const char *what; /* "a cell": for messages */
	const struct ykey *keys;
	unsigned n;
	/* Looks at the whole; o is what was made of at. May be NULL. */
	int (*check)(struct yread *y, struct ynode *at, json_t *o);
};

/* An object by its table. NULL with an error; else the caller's. */
json_t *yschema_read(struct yread *y, struct ynode *n, const struct yschema *s);

/* A value of one type, for those who read by themselves. key is for messages. */
int ykey_read(struct yread *y, struct ynode *n, const struct ykey *key, json_t **ret);
/* One of a few words; where it stands in the list, or -1 with an error. what: "'restart'". */
int yread_choice(struct yread *y, struct ynode *n, const char *what, const char *const *words,
		 unsigned nwords);

#endif
