/* POST /v1/prune: removes what nobody needs any more: ended cells without a name, images without a
 * tag that no cell uses, files of cells that are gone. With "dry_run" it only says what that would
 * be. */
#include <stdlib.h>
#include <string.h>

#include "api/job.h"
#include "api/routes.h"
#include "api/store.h"
#include "daemon/cells/life.h"
#include "daemon/state/events.h"
#include "store/named.h"

struct prune {
	struct op op;
	struct daemon *d;
	json_t *found;
	unsigned pending; /* cells that are being removed, and one more */
	struct err f; /* the first that went wrong; kind 0: none */
};

/* ---- finding ---- */

static bool cell_is_over(const struct cell *c)
{
	return !c->name[0] && !c->restart_at && !c->busy &&
	       (c->state == CELL_STOPPED || c->state == CELL_COMPLETED || c->state == CELL_FAILED ||
		c->state == CELL_CREATED);
}

static json_t *cells_find(struct daemon *d)
{
	json_t *list = json_array();
	struct cell *c;

	cells_look(d);
	list_for_each(c, &d->cells, link)
		if (cell_is_over(c))
			json_array_append_new(list, json_string(c->id));
	return list;
}

static bool image_is_used(const char *hash, const struct tag *tags, size_t ntags,
			  const struct named *cells, unsigned ncells)
{
	for (size_t i = 0; i < ntags; i++)
		if (!strcmp(tags[i].hash, hash))
			return true;
	for (unsigned i = 0; i < ncells; i++)
		if (!strcmp(cells[i].image, hash))
			return true;
	return false;
}

json_t *images_unused(const struct store *s, struct err *e)
{
	char(*hashes)[HASH_TEXT] = NULL;
	struct tag *tags = NULL;
	struct named *cells = NULL;
	size_t n = 0, ntags = 0;
	unsigned ncells = 0;
	json_t *list = NULL;

	if (image_list(s, &hashes, &n, e) == 0 && tag_list(s, &tags, &ntags, e) == 0) {
		list = json_array();
		if (named_list(s->fd, NAMED_CELL, &cells, &ncells))
			ncells = 0;
		for (size_t i = 0; i < n; i++)
			if (!image_is_used(hashes[i], tags, ntags, cells, ncells))
				json_array_append_new(list, json_string(hashes[i]));
	}
	free(cells);
	free(hashes);
	free(tags);
	return list;
}

/* ---- removing ---- */

static void images_collect(struct prune *x, struct request *r)
{
	static const struct job_options o = { .program = "viv-store",
					      .status = 200,
					      .done = images_collected };
	struct job *j = job_new(r, &o);

	if (!j)
		return;
	job_word(j, "gc");
	job_word(j, "--json");
	job_word(j, "--progress");
	job_word(j, "--untagged");
	job_result_set(j, x->found);
	job_start(j, r);
}

/* One of them is gone, or could not be. */
static void cell_gone(void *arg, const struct err *f)
{
	struct prune *x = arg;
	struct request *r;

	if (f && f->kind != ERR_NOT_FOUND && !x->f.kind)
		x->f = *f;
	if (--x->pending)
		return;
	r = op_end(&x->op);
	json_object_set(x->found, "removed", x->f.kind ? json_false() : json_true());
	if (r && x->f.kind)
		reply_err(r, &x->f);
	else if (r && json_array_size(json_object_get(x->found, "images")))
		images_collect(x, r);
	else if (r)
		reply_json(r, 200, json_incref(x->found));
	json_decref(x->found);
	free(x);
}

static void remove_begin(struct request *r, json_t *found)
{
	struct prune *x = xalloc(sizeof(*x));
	struct cell *c, *tmp;

	x->d = r->d;
	x->found = found;
	x->pending = 1;
	op_begin(r, &x->op);
	json_decref(cells_remains(r->d, true));
	list_for_each_safe(c, tmp, &x->d->cells, link)
		if (cell_is_over(c)) {
			x->pending++;
			cell_remove(c, cell_gone, x);
		}
	cell_gone(x, NULL);
}

void prune_post(struct request *r)
{
	static const struct field fields[] = { { "dry_run", FIELD_BOOL, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields)), *images, *found;
	bool dry = json_is_true(json_object_get(o, "dry_run"));
	struct store s;
	struct err e;

	json_decref(o);
	if (!o || !request_store(r, &s))
		return;
	images = images_unused(&s, &e);
	store_close(&s);
	if (!images) {
		reply_err(r, &e);
		return;
	}
	found = json_pack("{s:o,s:o,s:o,s:b}", "cells", cells_find(r->d), "images", images, "files",
			  cells_remains(r->d, false), "removed", 0);
	if (dry)
		reply_json(r, 200, found);
	else
		remove_begin(r, found);
}
