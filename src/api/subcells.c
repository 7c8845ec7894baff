/* POST /v1/cells and POST /v1/cells/{cell}/fork by a cell (docs/decisions/0051-subcells.md): a cell
 * makes a cell.
 *
 * In this order, and nothing is written before the last step:
 *   the keepers of the cell and of every cell above it are asked for their rules in force, and the
 *     scope 'cells' of each must allow it, counted from that cell;
 *   what the child asks for is reduced to what its parent has (spec/attenuate.c), or refused;
 *   the child's rules are those of its parent, and its own within them;
 *   its limits are taken out of the parent's (daemon/cells/family.h);
 *   then it is made as other cells are, with its parent in its row.
 *
 * A fork is a new child of the same parent, with the files of another one and no setting of it but
 * the image and, as far as there is room, its limits: what it may is what its parent may now give.
 *
 * A rule that says 'ask' makes an approval; the request waits for its answer. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/http/caller.h"
#include "api/subcells.h"
#include "daemon/approvals/approvals.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/family.h"
#include "daemon/cells/make.h"
#include "daemon/tools/tools.h"
#include "store/disk.h"

#define CHAIN_MAX 16

#define QUESTION_MAX 16384 /* bytes of what somebody is asked about */

struct creation {
	struct op op;
	struct list link; /* among those that wait for an approval */
	struct daemon *d;
	char parent[CELL_ID_LEN + 1];
	/* The parent, and those above it, with the rules that their keepers have said. */
	struct {
		char id[CELL_ID_LEN + 1];
		struct grants *g;
	} chain[CHAIN_MAX];
	unsigned n; /* whose rules are known */
	json_t *spec;
	char name[CELL_NAME_LEN + 1];
	bool start, get;
	made_fn fn; /* who is told, if no request waits for it; NULL: one does */
	void *arg;
	char from[CELL_ID_LEN + 1]; /* of a fork: the cell that has the files; "": it is none */
	char snapshot[DISK_NAME_MAX + 1]; /* "": as they are now */
	bool claimed; /* family_layers_begin() was called for that cell */
	bool approved; /* somebody has agreed */
	char *rule; /* that asks; NULL: none */
	int64_t approval; /* 0: none */
};

static struct list asked = LIST_INIT(asked);

static void creation_free(struct creation *x)
{
	list_remove(&x->link);
	for (unsigned i = 0; i < x->n; i++)
		grants_free(x->chain[i].g);
	if (x->claimed)
		family_layers_end(x->d, x->from, NULL, false);
	json_decref(x->spec);
	free(x->rule);
	free(x);
}

static void creation_fail(struct creation *x, const struct err *f)
{
	struct request *r = op_end(&x->op);

	if (r)
		reply_err(r, f);
	if (x->fn)
		x->fn(x->arg, NULL, false, f);
	creation_free(x);
}

static const char *image_of(const json_t *spec)
{
	const char *image = json_text(spec, "image");

	return image ? image : "host";
}

/* ---- the last step ---- */

/* The rules in force of the parent become the first layers of the child's. */
static int rules_set(json_t *spec, const struct grants *g, struct err *f)
{
	json_t *rules = grants_within(g, json_object_get(spec, "policy"), f);

	return rules ? json_object_set_new(spec, "policy", rules) : -1;
}

/* What the child asks for becomes what it gets. */
static int spec_complete(json_t **spec, struct cell *parent, const struct grants *g, struct err *f)
{
	json_t *has = json_copy(parent->spec), *rules = json_deep_copy(grants_rules(g));
	int r;

	json_object_set_new(has, "policy", rules);
	r = cellspec_attenuate(has, spec, f);
	json_decref(has);
	return r < 0 || rules_set(*spec, g, f) < 0 ? -1 : family_admit(parent, *spec, f);
}

/* The parent can do with what is left, or not. */
static void fork_do(void *arg, const struct err *e)
{
	struct creation *x = arg;
	struct cell *parent = cell_by_id(x->d, x->parent), *from = cell_by_id(x->d, x->from);
	char name[CELL_NAME_LEN + 1];
	struct err f = { 0 };
	struct request *r;

	if (e)
		f = *e;
	else if (!parent || !from)
		err_note(&f, ERR_ENDED, "the cell was removed meanwhile");
	else
		(void)!family_name(parent, x->name, name, &f);
	if (f.kind) {
		creation_fail(x, &f);
		return;
	}
	r = op_end(&x->op);
	if (r) {
		child_fork(r, parent, json_incref(x->spec), name, from, x->snapshot);
		x->claimed = false;
	}
	creation_free(x);
}

static void fork_begin(struct creation *x)
{
	struct cell *from = cell_by_id(x->d, x->from);
	bool seals = !x->snapshot[0];
	struct err f = { 0 };

	if (!from || strcmp(from->parent, x->parent))
		err_note(&f, ERR_NOT_FOUND, "the cell was removed meanwhile");
	else
		x->claimed = family_layers_begin(from, seals, &f) == 0;
	if (f.kind)
		creation_fail(x, &f);
	else if (seals)
		family_take_for(from, fork_do, x);
	else
		fork_do(x, NULL);
}

static void creation_do(struct creation *x, const struct grants *g)
{
	struct cell *parent = cell_by_id(x->d, x->parent);
	char name[CELL_NAME_LEN + 1] = "";
	struct err f = { 0 };
	struct request *r;

	if (!parent || !parent->keeper)
		err_note(&f, ERR_ENDED, "the cell has ended");
	else if (x->name[0] && family_name(parent, x->name, name, &f) < 0)
		;
	else
		(void)!spec_complete(&x->spec, parent, g, &f);
	if (f.kind) {
		creation_fail(x, &f);
		return;
	}
	if (x->from[0]) {
		fork_begin(x);
		return;
	}
	if (x->fn) {
		cell_make_child(x->d, parent->id, name, json_incref(x->spec), 0, x->fn, x->arg);
		creation_free(x);
		return;
	}
	r = op_end(&x->op);
	if (r)
		child_begin(r, parent, json_incref(x->spec), name, x->start, x->get);
	creation_free(x);
}

/* ---- the rules ---- */

static void chain_ask(struct creation *x, const char *id);

static json_t *question_make(const struct creation *x)
{
	static const char *const told[] = { "command", "limits",  "mounts",
					    "policy",  "secrets", "tools" };
	json_t *arguments = json_object();

	if (x->name[0])
		json_object_set_new(arguments, "name", json_string(x->name));
	if (x->from[0])
		json_object_set_new(arguments, "from", json_string(x->from));
	for (unsigned i = 0; i < ARRAY_LEN(told); i++)
		if (json_object_get(x->spec, told[i]))
			json_object_set(arguments, told[i], json_object_get(x->spec, told[i]));
	return json_pack("{s:s,s:s,s:s,s:s,s:o}", "scope", "cells", "action", "make", "path",
			 image_of(x->spec), "rule", x->rule, "arguments", arguments);
}

static void approval_wait(struct creation *x)
{
	json_t *question = question_make(x);
	struct err f = { 0 };

	if (json_dumpb(question, NULL, 0, JSON_COMPACT) > QUESTION_MAX)
		err_note(&f, ERR_TOO_LARGE, "this is too much to ask somebody about");
	else if (!cell_may_ask(x->d, x->parent))
		err_note(&f, ERR_TOO_MANY, "the cell asks too often" REMEDY "try again later");
	if (f.kind) {
		json_decref(question);
		creation_fail(x, &f);
		return;
	}
	x->approval = approval_ask(x->d, x->parent, APPROVAL_CELLS, (int64_t)uv_hrtime(), question);
	if (x->approval) {
		list_append(&asked, &x->link);
		return;
	}
	err_note(&f, ERR_STORAGE, "the question cannot be written");
	creation_fail(x, &f);
}

static void answered(struct daemon *d, int64_t id, bool allow)
{
	struct creation *x, *found = NULL;
	struct err f;

	(void)d;
	list_for_each(x, &asked, link)
		if (x->approval == id)
			found = x;
	if (!found)
		return;
	found->approval = 0;
	list_remove(&found->link);
	list_init(&found->link);
	if (allow) { /* by the rules as they are now */
		found->approved = true;
		for (unsigned i = 0; i < found->n; i++)
			grants_free(found->chain[i].g);
		found->n = 0;
		chain_ask(found, found->parent);
		return;
	}
	err_note(&f, ERR_DENIED, "the operator has denied the new cell");
	creation_fail(found, &f);
}

/* What the rules of one cell of the chain say, counted from it. */
static bool rules_allow(struct creation *x, unsigned i, const struct cell *c)
{
	const struct grants_cells q = { .image = image_of(x->spec),
					.count = family_count(c),
					.depth = i + 1,
					.max = FAMILY_CELLS,
					.depth_max = FAMILY_DEPTH };
	char *rule = NULL;
	enum tool_verdict v = grants_cells(x->chain[i].g, &q, &rule);

	if (v == TOOL_ASK && !x->rule) {
		x->rule = rule;
		rule = NULL;
	}
	free(rule);
	return v != TOOL_DENY;
}

/* All rules are known. What is counted here is taken before anything else happens: two that ask at
 * the same time are not counted as one. */
static void chain_decide(struct creation *x)
{
	struct err f = { 0 };

	for (unsigned i = 0; i < x->n && !f.kind; i++) {
		const struct cell *c = cell_by_id(x->d, x->chain[i].id);

		if (!c)
			err_note(&f, ERR_ENDED, "a cell of the family has ended");
		else if (!rules_allow(x, i, c))
			err_note(&f, ERR_DENIED,
				 "the rules%s do not allow another cell of image '%.80s' here: "
				 "there are %u in the family" REMEDY
				 "the operator allows more by a rule: allow cells IMAGE max=N "
				 "depth=N",
				 i ? " of a cell above" : "", image_of(x->spec), family_count(c));
	}
	/* A project may be left alone before somebody answers. */
	if (!f.kind && x->rule && x->fn)
		err_note(&f, ERR_DENIED,
			 "a rule asks the operator about new cells, for which a project does not "
			 "wait" REMEDY "make the cell with 'viv create', and wait for the answer");
	if (f.kind)
		creation_fail(x, &f);
	else if (x->rule && !x->approved)
		approval_wait(x);
	else
		creation_do(x, x->chain[0].g);
}

static void chain_told(void *arg, const struct keep_msg *m, int *fds, unsigned nfds)
{
	struct creation *x = arg;
	struct grants *g = m && m->type == KEEP_TOOLS && nfds == 1 ? grants_read(fds[0]) : NULL;
	const struct cell *c = cell_by_id(x->d, x->chain[x->n].id);
	struct err f;

	for (unsigned i = 0; i < nfds; i++)
		close(fds[i]);
	if (g)
		x->chain[x->n++].g = g;
	if (!x->fn && !x->op.r) { /* nobody waits for it: nobody is asked, and nothing is made */
		creation_free(x);
	} else if (g && c && !c->parent[0]) {
		chain_decide(x);
	} else if (g && c && family_parent(c) && x->n < CHAIN_MAX) {
		chain_ask(x, c->parent);
	} else {
		err_note(&f, ERR_ENDED, "a cell of the family has ended");
		creation_fail(x, &f);
	}
}

static void chain_ask(struct creation *x, const char *id)
{
	struct keep_msg m = { .type = KEEP_TOOLS };
	struct cell *c = cell_by_id(x->d, id);
	struct err f;

	strcpy(x->chain[x->n].id, id);
	if (c && c->keeper && link_ask(c->keeper, &m, NULL, 0, chain_told, x) == 0)
		return;
	err_note(&f, ERR_OVERLOADED,
		 "the keeper of a cell of the family does not answer" REMEDY "try again");
	creation_fail(x, &f);
}

/* ---- the request ---- */

static void client_gone(struct op *op)
{
	struct creation *x = container_of(op, struct creation, op);

	x->op.gone = NULL;
	if (!x->approval)
		return; /* its next answer ends it */
	approval_withdraw(x->d, x->approval);
	creation_free(x);
}

static struct creation *creation_new(struct daemon *d, const char *parent, json_t *spec,
				     const char *name)
{
	struct creation *x = xalloc(sizeof(*x));

	x->d = d;
	list_init(&x->link);
	strcpy(x->parent, parent);
	x->spec = spec;
	strcpy(x->name, name);
	x->op.gone = client_gone;
	return x;
}

/* Would the store take it for a hash, or the beginning of one? */
static bool image_is_hash(const char *image)
{
	return !strncmp(image, "sha256:", 7) || strspn(image, "0123456789abcdef") == strlen(image);
}

static void spec_too_large(struct err *f)
{
	err_note(f, ERR_TOO_LARGE, "the settings of a cell that a cell makes have at most %u bytes",
		 CALLER_SPEC);
}

/* The image that it asks for, or its parent's. */
static int image_check(const struct cell *parent, json_t *spec, struct err *f)
{
	if (!json_object_get(spec, "image"))
		json_object_set_new(spec, "image", json_string(image_of(parent->spec)));
	if (strcmp(image_of(spec), image_of(parent->spec)) && image_is_hash(image_of(spec)))
		return err_set(f, ERR_FORBIDDEN,
			       "a cell names an image by its tag, as rules do, not by its hash");
	return 0;
}

void subcell_begin(struct request *r, json_t *spec, const char *name, bool start, bool get,
		   bool update)
{
	const struct cell *parent = cell_by_id(r->d, r->rights.cell);
	struct err f = { 0 };
	struct creation *x;

	if (!parent)
		err_note(&f, ERR_ENDED, "the cell has ended");
	else if (update)
		err_note(&f, ERR_FORBIDDEN,
			 "a cell cannot change another one's settings" REMEDY
			 "remove it, and make it again");
	else if (r->body.len > CALLER_SPEC)
		spec_too_large(&f);
	else
		(void)!image_check(parent, spec, &f);
	if (!parent || f.kind) {
		json_decref(spec);
		reply_err(r, &f);
		return;
	}
	x = creation_new(r->d, r->rights.cell, spec, name);
	x->start = start;
	x->get = get;
	op_begin(r, &x->op);
	chain_ask(x, x->parent);
}

void subcell_fork(struct request *r, const struct cell *c, const char *name, const char *snapshot)
{
	const struct cell *parent = family_parent(c);
	struct creation *x;

	if (!parent || !parent->keeper) {
		reply_error(r, ERR_WRONG_STATE,
			    "the cell that made this one does not run" REMEDY "start it first");
		return;
	}
	if (!caller_makes(r))
		return;
	x = creation_new(r->d, parent->id,
			 json_pack("{s:s,s:o}", "image", image_of(c->spec), "limits",
				   family_fork_limits(parent, c)),
			 name);
	strcpy(x->from, c->id);
	strcpy(x->snapshot, snapshot);
	op_begin(r, &x->op);
	chain_ask(x, x->parent);
}

bool subcell_image_is_allowed(const struct grants *g, const char *image)
{
	const struct grants_cells q = {
		.image = image, .depth = 1, .max = FAMILY_CELLS, .depth_max = FAMILY_DEPTH
	};

	return grants_cells(g, &q, NULL) != TOOL_DENY;
}

int subcell_check(const struct cell *parent, const struct grants *g, const json_t *spec,
		  struct err *f)
{
	json_t *has = json_copy(parent->spec), *copy = json_deep_copy(spec);
	int r = image_check(parent, copy, f);

	json_object_set_new(has, "policy", json_deep_copy(grants_rules(g)));
	if (r == 0 && !subcell_image_is_allowed(g, image_of(copy)))
		r = err_set(f, ERR_DENIED, "the rules do not allow a cell of image '%.80s'",
			    image_of(copy));
	if (r == 0)
		r = cellspec_attenuate(has, &copy, f);
	json_decref(has);
	json_decref(copy);
	return r;
}

void subcell_make(struct daemon *d, const char *parent, const char *name, json_t *spec, made_fn fn,
		  void *arg)
{
	const struct cell *p = cell_by_id(d, parent);
	struct creation *x = creation_new(d, parent, spec, name);
	struct err f = { 0 };

	x->fn = fn;
	x->arg = arg;
	if (!p)
		err_note(&f, ERR_ENDED, "the cell has ended");
	else if (json_dumpb(spec, NULL, 0, JSON_COMPACT) > CALLER_SPEC)
		spec_too_large(&f);
	else if (!caller_made(p))
		err_note(&f, ERR_OVERLOADED, "the cell makes cells too fast" REMEDY "try again");
	else
		(void)!image_check(p, spec, &f);
	if (f.kind)
		creation_fail(x, &f);
	else
		chain_ask(x, x->parent);
}

void subcells_open(struct daemon *d)
{
	static const struct approval_owner owner = { .decided = answered };
	struct buf ids = { 0 };
	int64_t id;
	sqlite3_stmt *q =
		db_query(&d->db, "SELECT id FROM approvals WHERE run=? AND state='pending'", "i",
			 (int64_t)APPROVAL_CELLS);

	/* Whoever waited for these has lost its connection, and asks again. */
	while (db_next(q)) {
		id = db_int(q, 0);
		buf_add(&ids, &id, sizeof(id));
	}
	db_done(q);
	for (size_t i = 0; i < BUF_COUNT(&ids, int64_t); i++)
		approval_withdraw(d, *BUF_ITEM(&ids, int64_t, i));
	buf_free(&ids);
	approvals_owner(APPROVAL_CELLS, &owner);
}
