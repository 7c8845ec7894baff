/* What the routes below /v1/cells/{cell} share. */
#ifndef VIV_API_CELLS_H
#define VIV_API_CELLS_H

#include "api/http/request.h"
#include "daemon/cells/life.h"

/* The cell of the path, if the token may see it; NULL: answered. */
struct cell *request_cell(struct request *r);
/* The same, with a keeper; else answered with 409. */
struct cell *request_live(struct request *r);
/* Sends m to the cell's keeper for the request, which waits; fn gets the answer with op as its
 * argument. On failure it is answered and op freed. */
void request_ask(struct request *r, struct cell *c, struct keep_msg *m, const int *fds,
		 unsigned nfds, ask_fn fn, struct op *op);
/* What a KEEP_FAIL says, or that the cell ended (m NULL). */
void keeper_err(const struct keep_msg *m, struct err *f);
/* Answers with that. */
void reply_keeper(struct request *r, const struct keep_msg *m);
/* The request waits until the cell runs (then that status), or could not start. */
void cell_start_wait(struct request *r, struct cell *c, unsigned status);
/* The cell of the path, if it has files that stay; NULL: answered. */
struct cell *request_kept(struct request *r);
/* The same for the cell of another parameter. */
struct cell *request_kept_named(struct request *r, const char *name);
/* What "grace" in the body o says, else the cell's own. False: answered. */
bool request_grace(struct request *r, const struct cell *c, const json_t *o, int64_t *ret);
/* The spec with the rules of more instead of its own, or behind them; NULL: an error (policy.c). */
json_t *policy_spec(const struct cell *c, const json_t *more, bool add, struct err *f);
/* Whether the cell exists for it. */
bool request_sees(const struct request *r, const struct cell *c);
/* What it is told of a cell. */
json_t *request_cell_json(const struct request *r, const struct cell *c);
/* POST /v1/cells by a cell (subcells.c). Takes spec; name: "" if it has none. */
void subcell_begin(struct request *r, json_t *spec, const char *name, bool start, bool get,
		   bool update);
/* POST .../fork by a cell: a child of the same parent, with the files of c. */
void subcell_fork(struct request *r, const struct cell *c, const char *name, const char *snapshot);
/* The last step of that: all was checked, and family_layers_begin() was called for from. Takes
 * spec. */
void child_fork(struct request *r, const struct cell *parent, json_t *spec, const char *name,
		const struct cell *from, const char *snapshot);
/* The last step of making one: all was checked, and name is the one in the store. Takes spec. */
void child_begin(struct request *r, const struct cell *parent, json_t *spec, const char *name,
		 bool start, bool get);
/* Whether it may see the environment. */
bool request_sees_secrets(const struct request *r);

#endif
