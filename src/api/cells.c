/* /v1/cells: making, listing, looking at and removing cells. What changes their state is in
 * cellops.c. */
#include "api/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/caller.h"
#include "api/http/keys.h"
#include "api/page.h"
#include "api/routes.h"
#include "base/buf.h"
#include "daemon/cells/cellspec.h"
#include "daemon/cells/family.h"
#include "daemon/cells/make.h"
#include "daemon/cells/result.h"

bool request_sees_secrets(const struct request *r)
{
	return r->rights.scope > SCOPE_READ;
}

bool request_sees(const struct request *r, const struct cell *c)
{
	return !r->rights.cell[0] || !strcmp(r->rights.cell, c->id) ||
	       (r->rights.family && family_is_below(c, r->rights.cell));
}

json_t *request_cell_json(const struct request *r, const struct cell *c)
{
	return r->rights.family ? family_json(c, r->rights.cell)
				: cell_json(c, request_sees_secrets(r));
}

static struct cell *cell_named(struct request *r, const char *name)
{
	struct err f = { 0 };
	struct cell *c = r->rights.family ? family_find(r->d, r->rights.cell, name, &f)
					  : cell_find(r->d, name, &f);

	if (c && !request_sees(r, c)) {
		c = NULL;
		err_note(&f, ERR_NOT_FOUND, "there is no cell '%.80s'" REMEDY "'viv ls' lists them",
			 name);
	}
	if (!c)
		reply_err(r, &f);
	return c;
}

struct cell *request_cell(struct request *r)
{
	return cell_named(r, r->param[0]);
}

struct cell *request_live(struct request *r)
{
	struct cell *c = request_cell(r);

	if (c && !c->keeper) {
		bool mute = c->state == CELL_RUNNING || c->state == CELL_PAUSED;

		reply_error(r, ERR_WRONG_STATE,
			    mute ? "the cell is %s, but its keeper does not answer"
				 : "the cell does not run; it is %s",
			    cell_state_name(c->state));
		return NULL;
	}
	return c;
}

struct cell *request_kept(struct request *r)
{
	return request_kept_named(r, r->param[0]);
}

struct cell *request_kept_named(struct request *r, const char *name)
{
	struct cell *c = cell_named(r, name);

	if (c && !c->name[0]) {
		reply_error(r, ERR_NO_DISK, "a cell without a name keeps no files");
		return NULL;
	}
	return c;
}

void keeper_err(const struct keep_msg *m, struct err *f)
{
	if (m)
		keep_fail_get(m, f);
	else
		err_note(f, ERR_ENDED, "the cell ended meanwhile");
}

void reply_keeper(struct request *r, const struct keep_msg *m)
{
	struct err f = { 0 };

	keeper_err(m, &f);
	reply_err(r, &f);
}

void request_ask(struct request *r, struct cell *c, struct keep_msg *m, const int *fds,
		 unsigned nfds, ask_fn fn, struct op *op)
{
	int err = link_ask(c->keeper, m, fds, nfds, fn, op);

	if (err) {
		free(op);
		reply_error(r, err == -EAGAIN ? ERR_OVERLOADED : ERR_ENDED,
			    err == -EAGAIN ? "the cell has too much to do" REMEDY "try again"
					   : "the cell has just ended");
		return;
	}
	op_begin(r, op);
}

/* ---- listing ---- */

static bool label_matches(const struct cell *c, char *text)
{
	const json_t *labels = json_object_get(c->spec, "labels");
	char *equals = strchr(text, '=');
	const char *value;

	if (!equals)
		return json_object_get(labels, text) != NULL;
	*equals = '\0';
	value = json_string_value(json_object_get(labels, text));
	*equals = '=';
	return value && !strcmp(value, equals + 1);
}

static int id_compare(const void *a, const void *b)
{
	return strcmp((*(struct cell *const *)a)->id, (*(struct cell *const *)b)->id);
}

struct cell_filter {
	char *state, *label, *name; /* NULL: any */
	struct page page;
};

static bool cell_matches(const struct request *r, const struct cell *c, const struct cell_filter *f)
{
	return (!f->state || !strcmp(f->state, cell_state_name(c->state))) &&
	       (!f->label || label_matches(c, f->label)) &&
	       (!f->name ||
		!strcmp(f->name, r->rights.family ? family_name_shown(c).str : c->name)) &&
	       (!f->page.cursor || strcmp(c->id, f->page.cursor) > 0) && request_sees(r, c);
}

/* The oldest first; pages are in the order of ids. */
static json_t *cells_found(const struct request *r, const struct cell_filter *f)
{
	json_t *out = json_pack("{s:[]}", "cells");
	struct buf found = { 0 };
	struct cell *c;

	list_for_each(c, &r->d->cells, link)
		if (cell_matches(r, c, f))
			buf_add(&found, &c, sizeof(c));
	if (page_is_asked(&f->page) && found.len)
		qsort(found.p, BUF_COUNT(&found, struct cell *), sizeof(c), id_compare);
	for (size_t i = 0; i < BUF_COUNT(&found, struct cell *); i++)
		if (!page_add(&f->page, out, "cells",
			      request_cell_json(r, *BUF_ITEM(&found, struct cell *, i))))
			break;
	buf_free(&found);
	return out;
}

void cells_list(struct request *r)
{
	static const char *const names[] = { "state", "label", "name", "limit", "cursor", NULL };
	struct cell_filter f = { 0 };
	bool bad = false;

	if (!request_query_only(r, names) || !page_read(r, cell_id_is_valid, &f.page))
		return;
	cells_look(r->d);
	f.state = request_query(r, "state", &bad);
	if (!bad)
		f.label = request_query(r, "label", &bad);
	if (!bad)
		f.name = request_query(r, "name", &bad);
	if (!bad && f.state && cell_state_parse(f.state) == CELL_NONE) {
		reply_error(r, ERR_INVALID,
			    "there is no such state" REMEDY "it is one of created, starting, "
			    "running, paused, stopping, stopped, completed, sleeping and failed");
		bad = true;
	}
	if (!bad)
		reply_json(r, 200, cells_found(r, &f));
	free(f.state);
	free(f.label);
	free(f.name);
	page_free(&f.page);
}

void cell_get(struct request *r)
{
	struct cell *c = request_cell(r);
	json_t *o;

	if (!c)
		return;
	o = request_cell_json(r, c);
	cell_result_set(c, o);
	family_describe(c, o);
	reply_json(r, 200, o);
}

/* ---- making ---- */

struct making {
	struct op op;
	bool start;
};

/* Starts it if that was asked for, and answers. */
static void made_answer(struct request *r, struct cell *c, bool start, unsigned status)
{
	struct err f = { 0 };

	if (start && !cell_state_is_live(c->state)) {
		if (cell_start(c, &f) < 0) {
			reply_err(r, &f);
			return;
		}
		cell_start_wait(r, c, status);
		return;
	}
	reply_json(r, status, request_cell_json(r, c));
}

static void named_made(void *arg, struct cell *c, bool existed, const struct err *f)
{
	struct making *m = arg;
	struct request *r = op_end(&m->op);

	if (r && c)
		made_answer(r, c, m->start, existed ? 200 : 201);
	else if (r)
		reply_err(r, f);
	free(m);
}

static void named_begin(struct request *r, json_t *spec, const char *name, bool start, bool get,
			bool update)
{
	struct cell *c = update ? NULL : cell_by_name(r->d, name);
	struct making *m;

	if (c && get) {
		json_decref(spec);
		made_answer(r, c, start, 200);
		return;
	}
	m = xalloc(sizeof(*m));
	m->start = start;
	op_begin(r, &m->op);
	cell_make(r->d, name, spec, (get ? MAKE_GET : 0) | (update ? MAKE_UPDATE : 0), named_made,
		  m);
}

/* What is said about the request and is not part of the cell. */
static int flag_take(json_t *spec, const char *name, bool *ret, struct err *f)
{
	const json_t *v = json_object_get(spec, name);

	*ret = json_is_true(v);
	if (v && !json_is_boolean(v))
		return err_set(f, ERR_WRONG_TYPE, "'%s' must be true or false", name);
	json_object_del(spec, name);
	return 0;
}

/* One without a name. Takes spec. */
static void nameless_begin(struct request *r, const char *parent, json_t *spec, bool start)
{
	char hash[HASH_TEXT];
	struct err f = { 0 };
	struct cell *c;

	if (cell_image(spec, hash, &f) < 0) {
		json_decref(spec);
		reply_err(r, &f);
		return;
	}
	c = cell_new_child(r->d, parent, NULL, "", spec, &f);
	if (c)
		made_answer(r, c, start, 201);
	else
		reply_err(r, &f);
}

void child_begin(struct request *r, const struct cell *parent, json_t *spec, const char *name,
		 bool start, bool get)
{
	struct making *m;

	if (!*name) {
		nameless_begin(r, parent->id, spec, start);
		return;
	}
	m = xalloc(sizeof(*m));
	m->start = start;
	op_begin(r, &m->op);
	cell_make_child(r->d, parent->id, name, spec, get ? MAKE_GET : 0, named_made, m);
}

void child_fork(struct request *r, const struct cell *parent, json_t *spec, const char *name,
		const struct cell *from, const char *snapshot)
{
	struct making *m = xalloc(sizeof(*m));

	op_begin(r, &m->op);
	cell_fork_child(r->d, parent->id, name, spec, from, snapshot, named_made, m);
}

void cells_create(struct request *r)
{
	json_t *spec = request_object(r);
	struct err f = { 0 };
	bool start, get, update;
	const char *text;
	char name[CELL_NAME_LEN + 1] = "";

	if (!spec)
		return;
	if (flag_take(spec, "start", &start, &f) < 0 || flag_take(spec, "get", &get, &f) < 0 ||
	    flag_take(spec, "update", &update, &f) < 0 || cellspec_check(spec, &f) < 0) {
		json_decref(spec);
		reply_err(r, &f);
		return;
	}
	text = json_text(spec, "name");
	if (text)
		strcpy(name, text);
	if (!caller_makes(r) || !key_begin(r)) {
		json_decref(spec);
		return;
	}
	json_object_del(spec, "name");
	if (!name[0] && json_number_value(json_object_get(spec, "sleep_after")) > 0) {
		json_decref(spec);
		reply_error(r, ERR_INVALID,
			    "'sleep_after' is for a cell with a name: others keep no files");
		return;
	}
	if (r->rights.family)
		subcell_begin(r, spec, name, start, get, update);
	else if (name[0])
		named_begin(r, spec, name, start, get, update);
	else
		nameless_begin(r, NULL, spec, start);
}

/* ---- removing ---- */

struct removing {
	struct op op;
	struct cell_wait wait;
	bool waits;
};

static void removed(void *arg, const struct err *f)
{
	struct removing *x = arg;
	struct request *r = op_end(&x->op);

	if (r && f)
		reply_err(r, f);
	else if (r)
		reply_nothing(r);
	free(x);
}

static void remove_when_over(struct cell_wait *w, struct cell *c, bool gone)
{
	struct removing *x = container_of(w, struct removing, wait);

	if (!gone && cell_state_is_live(c->state))
		return;
	cell_wait_remove(w);
	x->waits = false;
	if (gone) {
		removed(x, NULL);
		return;
	}
	c->removing--;
	cell_remove(c, removed, x);
}

void cell_delete(struct request *r)
{
	static const char *const names[] = { "force", NULL };
	struct cell *c;
	uint64_t force = 0;
	struct removing *x;
	struct err f = { 0 };

	if (!request_query_only(r, names) || !request_query_number(r, "force", 1, &force))
		return;
	c = request_cell(r);
	if (!c)
		return;
	x = xalloc(sizeof(*x));
	if (force && cell_state_is_live(c->state)) {
		if (cell_stop(c, 0, &f) < 0) {
			free(x);
			reply_err(r, &f);
			return;
		}
		op_begin(r, &x->op);
		c->removing++;
		cell_wait_add(c, &x->wait, remove_when_over);
		return;
	}
	op_begin(r, &x->op);
	cell_remove(c, removed, x);
}
