/* Secrets of the operator: what vivd keeps of them, and what a cell's keeper gets.
 *
 * Each is a file STATE/secrets/NAME, which only its user may read: an object of JSON, encrypted
 *with AES-256-GCM under a key that is in another directory (crypt.c). Whoever has a copy of the
 *state directory alone cannot read it, change it, or bind a value to another host. There is no
 *place in SQLite, in an event or in an answer of the API where a value could be.
 *
 *	{"name", "env", "placeholder", "hosts": [...], "places": [...], "source", "from", "value",
 *	 "changed"}
 *
 * source: "value" (it was given), "env" (it was read from the variable `from` of whoever set it),
 * "file" or "command" (`from` is read each time that a cell starts; nothing is kept).
 *
 * A keeper has no part of this. It runs "vivd --secrets NAME...", which prints a line for each as
 * gate/secret.h wants it, when its cell starts and whenever a file of the directory has changed: so
 * a value reaches running cells whether vivd runs or not. */
#ifndef VIV_DAEMON_SECRETS_SECRETS_H
#define VIV_DAEMON_SECRETS_SECRETS_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"

#define SECRETS_KEPT_MAX 1000
#define SECRET_FILE_MAX 65536

/* ---- encryption (crypt.c) ---- */

/* Makes the key if there is none. */
int must_check secret_seal(const char *name, const char *text, size_t n, struct buf *to,
			   struct err *e);
/* The text, which is the caller's to overwrite, with a NUL behind it that is not counted. */
int must_check secret_unseal(const char *name, const void *data, size_t n, struct buf *to,
			     struct err *e);

/* ---- the files (store.c) ---- */

bool secret_name_is_valid(const char *name);
/* ERR_NOT_FOUND: there is none. */
int must_check secret_load(const char *state, const char *name, json_t **ret, struct err *e);
int must_check secret_save(const char *state, const json_t *secret, struct err *e);
int must_check secret_remove(const char *state, const char *name, struct err *e);
/* The names, sorted, as texts. */
json_t *secret_names(const char *state);
/* What may be shown of it; a new reference. */
json_t *secret_shown(const json_t *secret);
/* A new one, with what is known for its name (known.c) and a new placeholder. prefix: with which
 * that begins; NULL: that of known ones. */
json_t *secret_new(const char *name, const char *prefix);

/* ---- names that everybody uses (known.c) ---- */

struct known_secret {
	const char *name, *prefix;
	const char *hosts[5], *places[4];
};
const struct known_secret *known_secret(const char *name); /* NULL: it is not */

/* ---- values (resolve.c) ---- */

/* The value now; the caller's to overwrite and free. */
int must_check secret_resolve(const json_t *secret, char **ret, struct err *e);
/* "vivd --secrets [--environment] [--refresh] NAME...": the exit status. --environment: a secret
 * that is not kept may be a variable of the environment, if its name is known. --refresh: one that
 * is not there is left out. */
int secrets_print(char **names, bool environment, bool refresh);

#endif
