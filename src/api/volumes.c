/* GET /v1/volumes/{volume} and POST /v1/volumes/prune. What cells and projects say of volumes is
 * looked up here, and a thread does what waits for the disk: counting the files of volumes, and
 * removing them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/routes.h"
#include "api/store.h"
#include "daemon/cells/cells.h"
#include "daemon/projects/plan.h"
#include "keeper/named.h"
#include "store/usage.h"

struct volume_work {
	struct op op;
	uv_work_t work;
	struct daemon *d;
	char name[DISK_NAME_MAX + 1];
	json_t *kept; /* an object: the volumes that prune leaves alone */
	bool dry;
	json_t *out; /* of the thread while it works */
	struct err e; /* kind 0: all went well */
};

/* Calls fn for each volume that the cell mounts, whether it runs or not. */
static void mounts_each(const struct cell *c,
			void (*fn)(const char *volume, const struct cell *c, void *arg), void *arg)
{
	const json_t *m;
	size_t i;

	json_array_foreach(json_object_get(c->spec, "mounts"), i, m) {
		const char *volume = json_string_value(json_object_get(m, "volume"));

		if (volume)
			fn(volume, c, arg);
	}
}

uint64_t disk_usage(const struct store *s, const char *disk)
{
	char path[16 + DISK_ID_LEN];

	snprintf(path, sizeof(path), "disks/%s", disk);
	return tree_usage(s->fd, path);
}

static void work_begin(struct request *r, struct volume_work *x, uv_work_cb fn,
		       uv_after_work_cb done)
{
	x->d = r->d;
	x->work.data = x;
	op_begin(r, &x->op);
	uv_queue_work(&r->d->loop, &x->work, fn, done);
}

static void work_end(struct volume_work *x)
{
	struct request *r = op_end(&x->op);

	if (r && x->e.kind)
		reply_err(r, &x->e);
	else if (r)
		reply_json(r, 200, json_incref(x->out));
	json_decref(x->out);
	json_decref(x->kept);
	free(x);
}

/* ---- one ---- */

static void get_work(uv_work_t *w)
{
	struct volume_work *x = w->data;
	struct named n;
	struct store s;
	int err;

	if (store_open(&s, &x->e) < 0)
		return;
	err = named_find(s.fd, NAMED_VOLUME, x->name, &n);
	if (err) {
		named_failed("volume", x->name, err, &x->e);
	} else {
		json_object_set_new(x->out, "name", json_string(n.name));
		json_object_set_new(x->out, "created",
				    json_string(time_text(n.created * NSEC_PER_SEC).str));
		json_object_set_new(x->out, "disk", json_string(n.disk));
		json_object_set_new(x->out, "in_use", json_boolean(disk_is_used(s.fd, n.disk)));
		json_object_set_new(x->out, "size",
				    json_integer((json_int_t)disk_usage(&s, n.disk)));
	}
	store_close(&s);
}

static void get_done(uv_work_t *w, int status)
{
	(void)status;
	work_end(w->data);
}

static void cell_note(const char *volume, const struct cell *c, void *arg)
{
	struct volume_work *x = arg;

	if (!strcmp(volume, x->name))
		json_array_append_new(json_object_get(x->out, "cells"),
				      json_string(c->name[0] ? c->name : c->id));
}

void volume_get(struct request *r)
{
	struct volume_work *x;
	struct cell *c;

	if (!disk_name_is_valid(r->param[0])) {
		reply_error(r, ERR_NOT_FOUND, "there is no volume '%.80s'", r->param[0]);
		return;
	}
	x = xalloc(sizeof(*x));
	snprintf(x->name, sizeof(x->name), "%s", r->param[0]);
	x->out = json_pack("{s:[]}", "cells");
	cells_look(r->d);
	list_for_each(c, &r->d->cells, link)
		mounts_each(c, cell_note, x);
	work_begin(r, x, get_work, get_done);
}

/* ---- prune ---- */

/* Removes one, unless only that is asked; false: it is used after all, or somebody was faster. */
static bool volume_prune(struct volume_work *x, const struct store *s, const struct named *n)
{
	struct err e = { 0 };

	if (x->dry)
		return !disk_is_used(s->fd, n->disk);
	if (volume_drop(s, n->name, &e) == 0)
		return true;
	if (e.kind != ERR_CONFLICT && e.kind != ERR_NOT_FOUND)
		x->e = e;
	return false;
}

static void prune_work(uv_work_t *w)
{
	struct volume_work *x = w->data;
	json_t *done = json_object_get(x->out, "volumes");
	struct named *list = NULL;
	uint64_t total = 0;
	unsigned n = 0;
	struct store s;
	int err;

	if (store_open(&s, &x->e) < 0)
		return;
	err = named_list(s.fd, NAMED_VOLUME, &list, &n);
	if (err)
		err_set(&x->e, ERR_FAILED, "cannot list volumes: %s", strerror(-err));
	for (unsigned i = 0; i < n && !x->e.kind; i++) {
		uint64_t size;

		if (json_object_get(x->kept, list[i].name))
			continue;
		size = disk_usage(&s, list[i].disk);
		if (!volume_prune(x, &s, &list[i]))
			continue;
		total += size;
		json_array_append_new(done, json_pack("{s:s,s:I}", "name", list[i].name, "size",
						      (json_int_t)size));
	}
	json_object_set_new(x->out, "size", json_integer((json_int_t)total));
	free(list);
	store_close(&s);
}

static void prune_done(uv_work_t *w, int status)
{
	struct volume_work *x = w->data;
	const json_t *v;
	size_t i;

	(void)status;
	if (!x->dry)
		json_array_foreach(json_object_get(x->out, "volumes"), i, v)
			event_add(x->d, "volume.removed", NULL,
				  json_pack("{s:O}", "name", json_object_get(v, "name")));
	work_end(x);
}

static void kept_note(const char *volume, const struct cell *c, void *arg)
{
	(void)c;
	json_object_set_new(arg, volume, json_true());
}

json_t *volumes_kept(struct daemon *d)
{
	json_t *kept = project_volumes(d);
	struct cell *c;

	list_for_each(c, &d->cells, link)
		mounts_each(c, kept_note, kept);
	return kept;
}

void volumes_prune(struct request *r)
{
	static const struct field fields[] = { { "dry_run", FIELD_BOOL, false } };
	json_t *o = request_json(r, fields, ARRAY_LEN(fields));
	struct volume_work *x;

	if (!o)
		return;
	x = xalloc(sizeof(*x));
	x->dry = json_is_true(json_object_get(o, "dry_run"));
	json_decref(o);
	x->out = json_pack("{s:[],s:b}", "volumes", "removed", !x->dry);
	cells_look(r->d);
	x->kept = volumes_kept(r->d);
	work_begin(r, x, prune_work, prune_done);
}
