/* See make.h. */
#include "daemon/cells/make.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "daemon/cells/family.h"
#include "daemon/state/fields.h"
#include "keeper/named.h"

struct making {
	struct list link; /* while a thread is at work */
	uv_work_t work;
	struct daemon *d;
	json_t *spec;
	unsigned flags; /* MAKE_ */
	char name[CELL_NAME_LEN + 1];
	char parent[CELL_ID_LEN + 1]; /* whose child it is to be; "": nobody's */
	/* The child whose files it begins with, and the snapshot; "": as they are now. */
	char from[CELL_NAME_LEN + 1], from_id[CELL_ID_LEN + 1], snapshot[DISK_NAME_MAX + 1];
	json_t *layers, *from_layers; /* of the two disks; NULL: not counted */
	const char *image; /* of spec; NULL: not asked for */
	char hash[HASH_TEXT]; /* of that */
	struct named named;
	bool existed;
	struct err e;
	bool failed;
	struct err f; /* of what is refused, or cannot be kept and is taken back */
	made_fn fn;
	void *arg;
};

static struct list makings = LIST_INIT(makings);

bool cell_is_being_made(const char *name)
{
	struct making *m;

	list_for_each(m, &makings, link)
		if (!strcmp(m->name, name))
			return true;
	return false;
}

unsigned cells_being_made(const struct cell *ancestor)
{
	const struct making *m;
	const struct cell *p;
	unsigned n = 0;

	list_for_each(m, &makings, link) {
		p = m->parent[0] ? cell_by_id(m->d, m->parent) : NULL;
		n += p && (p == ancestor || family_is_below(p, ancestor->id));
	}
	return n;
}

static void making_end(struct making *m, struct cell *c)
{
	if (c && m->layers) {
		family_layers_set(c, m->layers);
		m->layers = NULL;
	}
	if (m->from[0])
		family_layers_end(m->d, m->from_id, m->from_layers, m->e.kind == ERR_SILENT);
	if (c && m->from[0])
		event_add(m->d, "cell.forked", c->id,
			  json_pack("{s:s,s:s,s:s*}", "name", m->name, "from", m->from_id,
				    "snapshot", m->snapshot[0] ? m->snapshot : NULL));
	m->fn(m->arg, c, m->existed, &m->f);
	json_decref(m->layers);
	json_decref(m->spec);
	free(m);
}

int cell_image(const json_t *spec, char hash[HASH_TEXT], struct err *f)
{
	const char *name = json_text(spec, "image");
	struct store s;
	int r;

	strcpy(hash, "host");
	if (!name || !strcmp(name, "host"))
		return 0;
	r = store_open(&s, f);
	if (r == 0) {
		r = image_find(&s, name, hash, f);
		store_close(&s);
	}
	return r;
}

/* In a thread. */
static void making_work(uv_work_t *w)
{
	struct making *m = w->data;
	const struct layer_ref ground = { 0 };
	struct store s;
	struct disk d;

	m->failed = true;
	strcpy(m->hash, "host");
	if (store_open(&s, &m->e) < 0)
		return;
	if (m->image && strcmp(m->image, "host") && image_find(&s, m->image, m->hash, &m->e) < 0) {
		store_close(&s);
		return;
	}
	if (named_make(&s, NAMED_CELL, m->name, m->hash, &ground, &m->named, &d, &m->e) == 0) {
		disk_close(&d);
		m->failed = false;
	} else if (m->e.kind == ERR_CONFLICT &&
		   named_find(s.fd, NAMED_CELL, m->name, &m->named) == 0) {
		m->failed = false;
		m->existed = true;
	}
	store_close(&s);
}

static int fork_make(struct making *m, const struct store *s)
{
	struct named n;
	struct disk d;
	unsigned snapshots = 0;
	int err;

	if (cell_open(s, m->from, DISK_PEEK, &n, &d, &m->e) < 0)
		return -1;
	err = family_layers_room(&d, &snapshots, &m->e);
	disk_close(&d);
	if (err < 0 || cell_fork(s, m->from, m->snapshot, m->name, &m->e) < 0)
		return -1;
	err = named_find(s->fd, NAMED_CELL, m->name, &m->named);
	return err ? named_failed("cell", m->name, err, &m->e) : 0;
}

/* In a thread. */
static void forking_work(uv_work_t *w)
{
	struct making *m = w->data;
	struct store s;

	m->failed = store_open(&s, &m->e) < 0;
	if (m->failed)
		return;
	m->failed = fork_make(m, &s) < 0;
	store_close(&s);
	if (!m->failed)
		m->layers = family_layers(m->named.disk);
	m->from_layers = family_layers(m->from_id);
}

/* In a thread: the disk of a cell whose record could not be written. */
static void unmaking_work(uv_work_t *w)
{
	struct making *m = w->data;
	struct store s;
	int lock;

	if (store_open(&s, &m->e) < 0)
		return;
	if (named_remove(s.fd, NAMED_CELL, m->name) == 0 &&
	    (lock = store_lock(&s, true, NULL, &m->e)) >= 0) {
		named_collect(s.fd);
		close(lock);
	}
	store_close(&s);
}

static void unmaking_done(uv_work_t *w, int status)
{
	struct making *m = w->data;

	(void)status;
	list_remove(&m->link);
	cell_making_end(m->d, m->name);
	making_end(m, NULL);
}

static void exists_note(struct err *f, const char *name)
{
	err_note(f, ERR_EXISTS,
		 "there is a cell '%s' already" REMEDY
		 "choose another name, or ask with \"get\": true",
		 name);
}

/* A cell that is there gets another spec; its files, and so its image, stay. */
static struct cell *cell_update(struct making *m, struct cell *c)
{
	if (cell_state_is_live(c->state) || c->busy)
		err_note(&m->f, ERR_IN_USE, "cell '%s' is in use" REMEDY "stop it first", m->name);
	else if (m->image && strcmp(m->hash, m->named.image))
		err_note(&m->f, ERR_CONFLICT,
			 "cell '%s' was made from image %.12s and not %.12s" REMEDY
			 "leave the image "
			 "out, or choose another name",
			 m->name, m->named.image, m->hash);
	else {
		if (!m->image && strcmp(m->named.image, "host"))
			json_object_set_new(m->spec, "image", json_clean(m->named.image));
		if (cell_respec(c, json_incref(m->spec), 0, &m->f) == 0) {
			c->restarts = 0;
			return c;
		}
	}
	return NULL;
}

/* There is a disk of that name, and perhaps a cell: made a moment ago, or before. */
static struct cell *making_cell(struct making *m)
{
	struct cell *c, *parent;

	if (m->existed && !m->flags) {
		exists_note(&m->f, m->name);
		return NULL;
	}
	/* Somebody else may have made it, and have it in use. */
	cells_look(m->d);
	c = cell_by_id(m->d, m->named.disk);
	if (c && m->parent[0] && strcmp(c->parent, m->parent)) {
		exists_note(&m->f, m->name);
		return NULL;
	}
	parent = !c && m->parent[0] ? cell_by_id(m->d, m->parent) : NULL;
	if (!c && m->parent[0] && !parent) {
		err_note(&m->f, ERR_ENDED, "the cell that asked for it is gone");
		return NULL;
	}
	/* What was left when it was asked for may have been taken meanwhile. */
	if (parent && family_admit(parent, m->spec, &m->f) < 0)
		return NULL;
	if (!c)
		return cell_new_child(m->d, m->parent, m->named.disk, m->name, json_incref(m->spec),
				      &m->f);
	return m->existed && (m->flags & MAKE_UPDATE) ? cell_update(m, c) : c;
}

static void making_done(uv_work_t *w, int status)
{
	struct making *m = w->data;
	struct cell *c = NULL;

	(void)status;
	list_remove(&m->link);
	if (m->failed) {
		m->f = m->e;
	} else {
		c = making_cell(m);
		if (!c && !m->existed) {
			list_append(&makings, &m->link);
			uv_queue_work(&m->d->loop, &m->work, unmaking_work, unmaking_done);
			return;
		}
	}
	if (!c || m->existed)
		cell_making_end(m->d, m->name);
	making_end(m, c);
}

static void refused_work(uv_work_t *w)
{
	(void)w;
}

static void refused_done(uv_work_t *w, int status)
{
	(void)status;
	making_end(w->data, NULL);
}

void cell_make(struct daemon *d, const char *name, json_t *spec, unsigned flags, made_fn fn,
	       void *arg)
{
	cell_make_child(d, "", name, spec, flags, fn, arg);
}

static struct making *making_new(struct daemon *d, const char *parent, const char *name,
				 json_t *spec, made_fn fn, void *arg)
{
	struct making *m = xalloc(sizeof(*m));

	m->d = d;
	m->spec = spec;
	m->fn = fn;
	m->arg = arg;
	m->work.data = m;
	m->image = json_text(spec, "image");
	snprintf(m->name, sizeof(m->name), "%s", name);
	snprintf(m->parent, sizeof(m->parent), "%s", parent);
	return m;
}

/* False: it is refused. */
static bool making_note(struct making *m)
{
	if (cell_by_name(m->d, m->name) && !m->flags)
		exists_note(&m->f, m->name);
	if (!m->f.kind && cell_making(m->d, m->parent, m->name, m->spec, &m->f) == 0) {
		list_append(&makings, &m->link);
		return true;
	}
	uv_queue_work(&m->d->loop, &m->work, refused_work, refused_done);
	return false;
}

void cell_make_child(struct daemon *d, const char *parent, const char *name, json_t *spec,
		     unsigned flags, made_fn fn, void *arg)
{
	struct making *m = making_new(d, parent, name, spec, fn, arg);

	m->flags = flags;
	if (making_note(m))
		uv_queue_work(&d->loop, &m->work, making_work, making_done);
}

void cell_fork_child(struct daemon *d, const char *parent, const char *name, json_t *spec,
		     const struct cell *from, const char *snapshot, made_fn fn, void *arg)
{
	struct making *m = making_new(d, parent, name, spec, fn, arg);

	strcpy(m->from, from->name);
	strcpy(m->from_id, from->id);
	snprintf(m->snapshot, sizeof(m->snapshot), "%s", snapshot);
	if (making_note(m))
		family_work(d, &m->work, forking_work, making_done);
}
