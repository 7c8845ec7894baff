/* Bearer tokens: "viv_ID_SECRET". ID is public and finds the row; of the secret (256 random bits)
 * only the hash is kept, and it is compared in constant time.
 *
 * Scopes: admin may do everything. cell may use one cell (start, stop, exec, files) and sees no
 * other; it makes, renames and removes none. read may look and not change; with a cell, at that one
 * only. */
#ifndef VIV_DAEMON_STATE_TOKENS_H
#define VIV_DAEMON_STATE_TOKENS_H

#include <jansson.h>

#include "daemon/state/daemon.h"

#define TOKEN_ID_LEN 12
#define TOKEN_SECRET_LEN 64
#define TOKEN_TEXT (4 + TOKEN_ID_LEN + 1 + TOKEN_SECRET_LEN + 1)
#define TOKEN_NAME_MAX 64

enum scope { SCOPE_READ = 1, SCOPE_CELL, SCOPE_ADMIN };

/* What who asks may do. */
struct rights {
	enum scope scope;
	char cell[40]; /* the id of the only one; "": all */
	/* whose request it is: the id of a token, or "cell:" and the id of a cell that speaks at
	 * its door; "": the socket's owner */
	char token[48];
	bool family; /* a cell's: it is for cell and its descendants */
};

const char *scope_name(enum scope s);
bool scope_parse(const char *text, enum scope *ret);

/* Writes the whole token once. cell: an id, or NULL. expires: nanoseconds since 1970; 0: never. */
int token_create(struct daemon *d, const char *name, enum scope scope, const char *cell,
		 int64_t expires, char text[TOKEN_TEXT], struct err *f);
/* All, without secrets, as a list of objects; id: only that one (NULL: all). */
json_t *token_list(struct daemon *d, const char *id);
int token_revoke(struct daemon *d, const char *id, struct err *f);
/* Those of a cell that was removed. */
void token_revoke_cell(struct daemon *d, const char *cell);
/* False: no such token, or its time is over. */
bool token_check(struct daemon *d, const char *text, struct rights *ret);

#endif
