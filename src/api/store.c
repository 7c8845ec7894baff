/* What lies in the store: /v1/volumes, /v1/cells/{cell}/snapshots, /v1/cells/{cell}/fork. Changes
 * wait for locks and disks, so a thread makes them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cells.h"
#include "api/http/keys.h"
#include "api/routes.h"
#include "api/store.h"
#include "daemon/cells/family.h"
#include "daemon/cells/offline.h"
#include "keeper/named.h"
#include "store/store.h"

void volumes_list(struct request *r)
{
	struct named *list = NULL;
	json_t *out;
	struct store s;
	struct err e;
	unsigned n = 0;
	int err;

	if (!request_store(r, &s))
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
	char name[DISK_NAME_MAX + 1], cell[CELL_NAME_LEN + 1], snapshot[DISK_NAME_MAX + 1];
	char id[CELL_ID_LEN + 1]; /* of the cell; "": none */
	const char *event;
	bool child; /* the cell is another one's: what its layers take is counted (family.h) */
	bool claimed; /* for a cell, by family_layers_begin() */
	json_t *layers; /* then */
	bool made; /* 201 with the name, else 204 */
	struct layer_ref layer; /* of a snapshot that was made */
	struct named named; /* the cell that was forked */
	/* When it is done, answers later; NULL: there is nothing else. */
	void (*then)(struct change *x);
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
	if (x->child)
		x->layers = family_layers(x->id);
}

/* What the layers of a child take now is known. */
static void layers_note(struct change *x)
{
	struct cell *c = cell_by_id(x->d, x->id);

	if (x->claimed)
		family_layers_end(x->d, x->id, x->layers, x->e.kind == ERR_SILENT);
	else if (c && x->layers)
		family_layers_set(c, x->layers);
	else
		json_decref(x->layers);
	x->layers = NULL;
	x->claimed = false;
}

static void change_answer(struct change *x)
{
	struct request *r = op_end(&x->op);

	if (r && x->failed)
		reply_err(r, &x->e);
	else if (r && x->layer.n)
		reply_json(r, 201,
			   json_pack("{s:s,s:I}", "name", x->name, "layer",
				     (json_int_t)x->layer.n));
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
	layers_note(x);
	if (!x->failed && x->event)
		event_add(x->d, x->event, x->id[0] ? x->id : NULL,
			  x->id[0] ? json_pack("{s:s,s:s}", "name", x->cell, "snapshot", x->name)
				   : json_pack("{s:s}", "name", x->name));
	if (x->then && !x->failed)
		x->then(x);
	else
		change_answer(x);
}

static struct change *change_new(struct request *r, const char *name, const struct cell *c,
				 const char *snapshot, const char *event,
				 int (*fn)(struct change *x, struct store *s, struct err *e))
{
	struct change *x = xalloc(sizeof(*x));

	x->fn = fn;
	x->event = event;
	x->d = r->d;
	x->work.data = x;
	snprintf(x->name, sizeof(x->name), "%s", name);
	snprintf(x->cell, sizeof(x->cell), "%s", c ? c->name : "");
	snprintf(x->id, sizeof(x->id), "%s", c ? c->id : "");
	snprintf(x->snapshot, sizeof(x->snapshot), "%s", snapshot ? snapshot : "");
	x->child = c && c->parent[0];
	op_begin(r, &x->op);
	return x;
}

/* c: the cell it is about, or NULL. What the thread needs is all given here: it may run before this
 * returns. */
static struct change *change_begin(struct request *r, const char *name, const struct cell *c,
				   const char *snapshot, const char *event,
				   int (*fn)(struct change *x, struct store *s, struct err *e))
{
	struct change *x = change_new(r, name, c, snapshot, event, fn);

	uv_queue_work(&r->d->loop, &x->work, change_work, change_done);
	return x;
}

static void change_taken(void *arg, const struct err *f)
{
	struct change *x = arg;

	if (!f) {
		family_work(x->d, &x->work, change_work, change_done);
		return;
	}
	x->failed = true;
	x->e = *f;
	layers_note(x);
	change_answer(x);
}

/* The same by a cell, for one of its descendants. seals: what that takes is taken out of the budget
 * before. */
static void change_claim(struct request *r, const char *name, struct cell *c, bool seals,
			 const char *event,
			 int (*fn)(struct change *x, struct store *s, struct err *e),
			 void (*then)(struct change *x))
{
	struct change *x;
	struct err f = { 0 };

	if (family_layers_begin(c, seals, &f) < 0) {
		reply_err(r, &f);
		return;
	}
	x = change_new(r, name, c, NULL, event, fn);
	x->claimed = true;
	x->then = then;
	if (seals)
		family_take_for(c, change_taken, x);
	else
		family_work(x->d, &x->work, change_work, change_done);
}

/* {"name": NAME}, "" if it need not be given; false: answered. */
static bool name_read(struct request *r, const char *what, bool required,
		      char name[DISK_NAME_MAX + 1])
{
	const struct field fields[] = { { "name", FIELD_TEXT, required } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	const char *text = o ? json_text(o, "name") : NULL;
	struct err e;

	if (!o)
		return false;
	name[0] = '\0';
	if (text && name_check(what, text, &e) < 0)
		reply_err(r, &e);
	else if (text)
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

	if (name_read(r, "volume", true, name) && key_begin(r))
		change_begin(r, name, NULL, NULL, "volume.created", volume_add)->made = true;
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
		change_begin(r, r->param[0], NULL, NULL, "volume.removed", volume_take);
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

	if (!c || !request_store(r, &s))
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
	if (!x->name[0] && cell_snapshot_name(s, x->cell, x->name, e) < 0)
		return -1;
	return cell_seal(s, x->cell, x->name, &x->layer, e);
}

/* The same for a cell, which has a bounded number of them. */
static int child_snapshot_make(struct change *x, struct store *s, struct err *e)
{
	unsigned snapshots;
	struct named n;
	struct disk d;
	int r;

	if (cell_open(s, x->cell, DISK_PEEK, &n, &d, e) < 0)
		return -1;
	r = family_layers_room(&d, &snapshots, e);
	disk_close(&d);
	if (r == 0 && snapshots >= FAMILY_SNAPSHOTS)
		r = err_set(e, ERR_TOO_MANY,
			    "the cell has %u snapshots, which is the most that a cell can make "
			    "of another one" REMEDY "remove some with 'viv snapshot --rm'",
			    snapshots);
	return r < 0 ? -1 : snapshot_make(x, s, e);
}

void snapshots_create(struct request *r)
{
	char name[DISK_NAME_MAX + 1];
	struct cell *c = request_kept(r);

	if (!c || !name_read(r, "snapshot", false, name) || !key_begin(r))
		return;
	if (r->rights.family)
		change_claim(r, name, c, true, "snapshot.created", child_snapshot_make, NULL);
	else
		change_begin(r, name, c, NULL, "snapshot.created", snapshot_make);
}

static int snapshot_take(struct change *x, struct store *s, struct err *e)
{
	return cell_snapshot_remove(s, x->cell, x->name, e);
}

static void snapshot_merged(struct visitor *w)
{
	struct change *x = container_of(w, struct change, visitor);
	struct cell *c = cell_by_id(x->d, x->id);

	if (c)
		family_layers_count(c);
	change_answer(x);
}

/* The snapshot is forgotten; this is about the room that it took. The disk of a cell that runs is
 * its kernel's. */
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
	else if (c && r->rights.family)
		change_claim(r, r->param[1], c, false, "snapshot.removed", snapshot_take,
			     snapshot_merge);
	else if (c)
		change_begin(r, r->param[1], c, NULL, "snapshot.removed", snapshot_take)->then =
			snapshot_merge;
}

/* ---- forks ---- */

static int fork_make(struct change *x, struct store *s, struct err *e)
{
	int err;

	if (cell_fork(s, x->cell, x->snapshot, x->name, e) < 0)
		return -1;
	err = named_find(s->fd, NAMED_CELL, x->name, &x->named);
	return err ? err_set(e, ERR_FAILED, "cell '%s' cannot be read: %s", x->name, strerror(-err))
		   : 0;
}

static void fork_made(struct change *x)
{
	struct request *r = op_end(&x->op);
	struct cell *c;

	db_begin(&x->d->db);
	/* Somebody may have asked for it meanwhile. */
	c = cell_by_id(x->d, x->named.disk);
	c = c ? c : cell_found(x->d, &x->named);
	if (c)
		event_add(x->d, "cell.forked", c->id,
			  json_pack("{s:s,s:s,s:s*}", "name", x->name, "from", x->id, "snapshot",
				    x->snapshot[0] ? x->snapshot : NULL));
	if (db_end(&x->d->db, NULL) < 0)
		c = NULL;
	if (r && c)
		reply_json(r, 201, cell_json(c, request_sees_secrets(r)));
	else if (r)
		reply_error(r, ERR_STORAGE, "the new cell could not be recorded");
	free(x);
}

void cell_fork_post(struct request *r)
{
	static const struct field fields[] = { { "name", FIELD_TEXT, true },
					       { "snapshot", FIELD_TEXT, false } };
	struct cell *c = request_kept(r);
	json_t *o = c ? request_json(r, fields, ARRAY_LEN(fields)) : NULL;
	const char *name = o ? json_text(o, "name") : "", *snapshot = json_text(o, "snapshot");
	struct err e;

	if (!o)
		return;
	if (name_check("cell", name, &e) < 0 ||
	    (snapshot && name_check("snapshot", snapshot, &e) < 0)) {
		reply_err(r, &e);
	} else if (r->rights.family) {
		subcell_fork(r, c, name, snapshot ? snapshot : "");
	} else if (key_begin(r)) {
		change_begin(r, name, c, snapshot, NULL, fork_make)->then = fork_made;
	}
	json_decref(o);
}
