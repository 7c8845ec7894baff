/* See family.h: what sealed layers of disks take out of a family's budget.
 *
 * A cell's limit of its disk is for the tree that it sees. Layers that snapshots and forks have
 * sealed keep more: what was changed or removed since. So every sealed layer that the disk of a
 * child has, or stands on, is taken out of its parent's budget besides the child's limit. A layer
 * that several children of one parent have, a cell and its forks, counts once, and for as long as
 * one of them is there, whichever was removed first.
 *
 * What a layer takes is what the host says of its files. It is counted by a thread when layers
 * change and when vivd starts; nothing is added up over time. While a layer is being sealed, nobody
 * knows how much its cell writes until then: as much as its limit allows is taken meanwhile.
 *
 * A thread that asks a kernel to seal waits for it, and that kernel may be broken into: requests of
 * cells have a queue of their own, which leaves threads for others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "daemon/cells/family.h"
#include "daemon/state/fields.h"
#include "store/named.h"
#include "store/store.h"
#include "store/usage.h"

/* Of the threads that vivd has. */
#define AT_ONCE 2

/* ---- counting ---- */

static void layer_count(const struct store *s, const char *disk, uint32_t n, json_t *to)
{
	char key[DISK_ID_LEN + 16], path[DISK_ID_LEN + 32];
	uint64_t bytes, files;

	snprintf(key, sizeof(key), "%.*s/%u", DISK_ID_LEN, disk, n);
	if (json_object_get(to, key))
		return;
	snprintf(path, sizeof(path), "disks/%.*s/data/%u", DISK_ID_LEN, disk, n);
	bytes = tree_usage_files(s->fd, path, &files);
	json_object_set_new(to, key, json_pack("[I,I]", (json_int_t)bytes, (json_int_t)files));
}

/* What a layer of d stands on, in other disks. */
static int below_count(const struct store *s, const struct disk *d, uint32_t n, json_t *to)
{
	struct disk_chain chain = { 0 };
	int err = disk_chain(s->fd, d, n, &chain);

	for (unsigned i = 0; !err && i < chain.n; i++)
		if (strcmp(chain.links[i].ref.disk, d->id))
			layer_count(s, chain.links[i].ref.disk, chain.links[i].ref.n, to);
	disk_chain_close(&chain);
	return err;
}

json_t *family_layers(const char *disk)
{
	json_t *to = json_object();
	struct store s;
	struct disk d;
	struct err e;
	int err;

	if (store_open(&s, &e) < 0)
		return to;
	err = disk_open(s.fd, disk, DISK_PEEK, &d);
	for (unsigned i = 0; !err && i < d.nlayers; i++) {
		const struct disk_layer *l = &d.layers[i];

		if (l->n != d.active)
			layer_count(&s, d.id, l->n, to);
		if (l->parent.n && strcmp(l->parent.disk, d.id))
			err = below_count(&s, &d, l->n, to);
	}
	if (err && err != -ENOENT)
		log_warn("the layers of disk %s cannot be counted: %s", disk, strerror(-err));
	if (!err)
		disk_close(&d);
	store_close(&s);
	return to;
}

void family_layers_sum(const struct cell *parent, uint64_t *ret_bytes, uint64_t *ret_files)
{
	json_t *seen = json_object(), *v;
	const struct cell *c;
	const char *key;

	*ret_bytes = *ret_files = 0;
	list_for_each(c, &parent->d->cells, link) {
		if (strcmp(c->parent, parent->id))
			continue;
		*ret_bytes += c->layer_bytes;
		*ret_files += c->layer_files;
		json_object_foreach(c->layers, key, v) {
			if (json_object_get(seen, key))
				continue;
			json_object_set_new(seen, key, json_true());
			*ret_bytes += (uint64_t)json_integer_value(json_array_get(v, 0));
			*ret_files += (uint64_t)json_integer_value(json_array_get(v, 1));
		}
	}
	json_decref(seen);
}

void family_layers_set(struct cell *c, json_t *layers)
{
	struct cell *parent = family_parent(c);

	json_decref(c->layers);
	c->layers = layers;
	if (parent)
		family_limits_tell(parent);
}

/* ---- later, in a thread ---- */

struct counting {
	uv_work_t work;
	struct daemon *d;
	char id[CELL_ID_LEN + 1];
	json_t *layers;
};

static void counting_work(uv_work_t *w)
{
	struct counting *x = w->data;

	x->layers = family_layers(x->id);
}

static void counting_done(uv_work_t *w, int status)
{
	struct counting *x = w->data;
	struct cell *c = cell_by_id(x->d, x->id);

	(void)status;
	if (c)
		family_layers_set(c, x->layers);
	else
		json_decref(x->layers);
	free(x);
}

void family_layers_count(struct cell *c)
{
	struct counting *x;

	if (!c->parent[0] || !c->name[0])
		return;
	x = xalloc(sizeof(*x));
	x->d = c->d;
	strcpy(x->id, c->id);
	x->work.data = x;
	uv_queue_work(&c->d->loop, &x->work, counting_work, counting_done);
}

/* ---- changes for cells ---- */

int family_layers_begin(struct cell *c, bool seals, struct err *f)
{
	const struct cell *parent = family_parent(c);

	if (c->layering)
		return err_set(f, ERR_BUSY,
			       "another snapshot or fork of the cell is being made" REMEDY
			       "try again");
	if (seals && parent && family_layer_admit(parent, c, f) < 0)
		return -1;
	c->layering = true;
	return 0;
}

int family_layers_room(const struct disk *d, unsigned *ret_snapshots, struct err *e)
{
	*ret_snapshots = 0;
	for (unsigned i = 0; i < d->nlayers; i++)
		*ret_snapshots += d->layers[i].name[0] != '\0';
	if (d->nlayers < FAMILY_LAYERS)
		return 0;
	return err_set(e, ERR_TOO_MANY,
		       "the disk of the cell has %u layers of snapshots and forks, which is the "
		       "most that a cell can give another one" REMEDY
		       "remove snapshots, then stop and start the cell",
		       d->nlayers);
}

void family_layers_end(struct daemon *d, const char *id, json_t *layers, bool late)
{
	struct cell *c = cell_by_id(d, id);

	if (!c) {
		json_decref(layers);
		return;
	}
	c->layering = false;
	if (!late || !cell_state_is_live(c->state))
		c->layer_bytes = c->layer_files = 0;
	family_layers_set(c, layers ? layers : json_incref(c->layers));
}

struct queued {
	struct list link;
	uv_work_t work, *inner;
	uv_loop_t *loop;
	uv_work_cb fn;
	uv_after_work_cb done;
};

static struct list queue = LIST_INIT(queue);
static unsigned running;

static void queued_work(uv_work_t *w)
{
	struct queued *q = w->data;

	q->fn(q->inner);
}

static void queue_go_on(void);

static void queued_done(uv_work_t *w, int status)
{
	struct queued *q = w->data;

	running--;
	q->done(q->inner, status);
	free(q);
	queue_go_on();
}

static void queue_go_on(void)
{
	while (running < AT_ONCE && !list_is_empty(&queue)) {
		struct queued *q = list_first(&queue, struct queued, link);

		list_remove(&q->link);
		running++;
		uv_queue_work(q->loop, &q->work, queued_work, queued_done);
	}
}

void family_work(struct daemon *d, uv_work_t *w, uv_work_cb fn, uv_after_work_cb done)
{
	struct queued *q = xalloc(sizeof(*q));

	q->work.data = q;
	q->inner = w;
	q->loop = &d->loop;
	q->fn = fn;
	q->done = done;
	list_init(&q->link);
	list_append(&queue, &q->link);
	queue_go_on();
}
