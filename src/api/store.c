/* What lies in the store: /v1/images, /v1/volumes, /v1/cells/{cell}/snapshots. Changes wait for locks and disks, so a thread makes them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/http/keys.h"
#include "api/routes.h"
#include "daemon/cells/visit.h"
#include "keeper/named.h"
#include "store/store.h"

/* Opens the store for a request; false: answered. */
static bool store_begin(struct request *r, struct store *s)
{
	struct err e;

	if (store_open(s, &e) == 0)
		return true;
	reply_err(r, &e);
	return false;
}

void images_list(struct request *r)
{
	char(*hashes)[HASH_TEXT] = NULL;
	struct tag *tags = NULL;
	size_t nhashes = 0, ntags = 0;
	json_t *list;
	struct store s;
	struct err e;

	if (!store_begin(r, &s))
		return;
	if (image_list(&s, &hashes, &nhashes, &e) < 0 || tag_list(&s, &tags, &ntags, &e) < 0) {
		reply_err(r, &e);
	} else {
		list = json_pack("[{s:s,s:[s]}]", "id", "host", "tags", "host");
		for (size_t i = 0; i < nhashes; i++) {
			json_t *names = json_array();

			for (size_t j = 0; j < ntags; j++)
				if (!strcmp(tags[j].hash, hashes[i]))
					json_array_append_new(names, json_clean(tags[j].name));
			json_array_append_new(list, json_pack("{s:s,s:o}", "id", hashes[i], "tags",
							      names));
		}
		reply_json(r, 200, json_pack("{s:o}", "images", list));
	}
	free(hashes);
	free(tags);
	store_close(&s);
}

void volumes_list(struct request *r)
{
	struct named *list = NULL;
	json_t *out;
	struct store s;
	struct err e;
	unsigned n = 0;
	int err;

	if (!store_begin(r, &s))
		return;
	err = named_list(s.fd, NAMED_VOLUME, &list, &n);
	if (err) {
		err_set(&e, ERR_FAILED, "cannot list volumes: %s", strerror(-err));
		reply_err(r, &e);
	} else {
		out = json_array();
		for (unsigned i = 0; i < n; i++)
			json_array_append_new(
				out,
				json_pack("{s:o,s:s}", "name", json_clean(list[i].name), "created",
					  time_text(list[i].created * NSEC_PER_SEC).str));
		reply_json(r, 200, json_pack("{s:o}", "volumes", out));
	}
	free(list);
	store_close(&s);
}

/* ---- changes ---- */

struct change {
	struct op op;
	uv_work_t work;
	int (*fn)(struct change *x, struct store *s, struct err *e);
	char name[DISK_NAME_MAX + 1], cell[CELL_NAME_LEN + 1];
	bool made; /* 201 with the name, else 204 */
	void (*then)(
		struct change *x); /* when it is done, answers later; NULL: there is nothing else */
	struct daemon *d;
	struct visitor visitor;
	struct err e;
	bool failed;
};

static void change_work(uv_work_t *w)
{
	struct change *x = w->data;
	struct store s;

	x->failed = store_open(&s, &x->e) < 0;
	if (x->failed)
		return;
	x->failed = x->fn(x, &s, &x->e) < 0;
	store_close(&s);
}

static void change_answer(struct change *x)
{
	struct request *r = op_end(&x->op);

	if (r && x->failed)
		reply_err(r, &x->e);
	else if (r && x->made)
		reply_json(r, 201, json_pack("{s:s}", "name", x->name));
	else if (r)
		reply_nothing(r);
	free(x);
}

static void change_done(uv_work_t *w, int status)
{
	struct change *x = w->data;

	(void)status;
	if (x->then && !x->failed)
		x->then(x);
	else
		change_answer(x);
}

static struct change *change_begin(struct request *r, const char *name, const char *cell, bool made,
				   int (*fn)(struct change *x, struct store *s, struct err *e))
{
	struct change *x = xalloc(sizeof(*x));

	x->fn = fn;
	x->made = made;
	x->d = r->d;
	x->work.data = x;
	snprintf(x->name, sizeof(x->name), "%s", name);
	snprintf(x->cell, sizeof(x->cell), "%s", cell);
	op_begin(r, &x->op);
	uv_queue_work(&r->d->loop, &x->work, change_work, change_done);
	return x;
}

/* {"name": NAME}; false: answered. */
static bool name_read(struct request *r, const char *what, char name[DISK_NAME_MAX + 1])
{
	static const struct field fields[] = { { "name", FIELD_TEXT, true } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	const char *text = o ? json_text(o, "name") : NULL;
	struct err e;

	if (!o)
		return false;
	if (name_check(what, text, &e) < 0)
		reply_err(r, &e);
	else
		strcpy(name, text);
	json_decref(o);
	return r->response == NULL;
}

static int volume_add(struct change *x, struct store *s, struct err *e)
{
	return volume_make(s, x->name, e);
}

void volumes_create(struct request *r)
{
	char name[DISK_NAME_MAX + 1];

	if (name_read(r, "volume", name) && key_begin(r))
		change_begin(r, name, "", true, volume_add);
}

static int volume_take(struct change *x, struct store *s, struct err *e)
{
	return volume_drop(s, x->name, e);
}

void volume_delete(struct request *r)
{
	if (!disk_name_is_valid(r->param[0]))
		reply_error(r, ERR_NOT_FOUND, "there is no volume '%.80s'", r->param[0]);
	else
		change_begin(r, r->param[0], "", false, volume_take);
}

/* ---- snapshots ---- */

void snapshots_list(struct request *r)
{
	struct cell *c = request_kept(r);
	struct named n;
	struct store s;
	struct disk d;
	struct err e;
	json_t *list;

	if (!c || !store_begin(r, &s))
		return;
	if (cell_open(&s, c->name, DISK_PEEK, &n, &d, &e) < 0) {
		reply_err(r, &e);
	} else {
		list = json_array();
		for (unsigned i = 0; i < d.nlayers; i++)
			if (d.layers[i].name[0])
				json_array_append_new(list, json_pack("{s:o,s:I}", "name",
								      json_clean(d.layers[i].name),
								      "layer",
								      (json_int_t)d.layers[i].n));
		disk_close(&d);
		reply_json(r, 200, json_pack("{s:o}", "snapshots", list));
	}
	store_close(&s);
}

/* Running or not: whoever has the disk is asked. */
static int snapshot_make(struct change *x, struct store *s, struct err *e)
{
	struct layer_ref sealed;

	return cell_seal(s, x->cell, x->name, &sealed, e);
}

void snapshots_create(struct request *r)
{
	char name[DISK_NAME_MAX + 1];
	struct cell *c = request_kept(r);

	if (c && name_read(r, "snapshot", name) && key_begin(r))
		change_begin(r, name, c->name, true, snapshot_make);
}

static int snapshot_take(struct change *x, struct store *s, struct err *e)
{
	return cell_snapshot_remove(s, x->cell, x->name, e);
}

static void snapshot_merged(struct visitor *w)
{
	change_answer(container_of(w, struct change, visitor));
}

/* The snapshot is forgotten; this is about the room that it took. The disk of a cell that runs is its kernel's. */
static void snapshot_merge(struct change *x)
{
	struct daemon *d = x->d;
	struct cell *c = cell_by_name(d, x->cell);

	if (!c || cell_state_is_live(c->state) || c->busy || c->visit || d->ending)
		change_answer(x);
	else
		visit_merge(c, &x->visitor, snapshot_merged);
}

void snapshot_delete(struct request *r)
{
	struct cell *c = request_kept(r);

	if (c && !disk_name_is_valid(r->param[1]))
		reply_error(r, ERR_NOT_FOUND, "cell '%s' has no snapshot '%.80s'", c->name,
			    r->param[1]);
	else if (c)
		change_begin(r, r->param[1], c->name, false, snapshot_take)->then = snapshot_merge;
}
