/* GET /v1/system/df: how much room cells, snapshots, images and volumes take, and how much of it
 * removing what is not in use would give back. A thread counts.
 *
 *   cells      the active layers of their disks; reclaimable: of those that do not run
 *   snapshots  sealed layers, also of cells that are gone and have forks; reclaimable: those
 *              that no other layer stands on
 *   images     their content and indexes; reclaimable: what 'prune' and 'gc' would remove,
 *              without what several such images share
 *   volumes    their disks; reclaimable: what 'volumes/prune' would remove */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/routes.h"
#include "api/store.h"
#include "daemon/cells/cells.h"
#include "store/named.h"
#include "store/usage.h"

struct kind {
	uint64_t count, size, reclaimable;
};

struct df {
	struct op op;
	uv_work_t work;
	struct store s;
	json_t *kept; /* volumes that prune leaves alone */
	json_t *volumes; /* {DISK: NAME} */
	json_t *stood_on, *based_on; /* objects: "DISK/N" of layers, and images of disks */
	struct kind cells, snapshots, images, volume;
	struct err e; /* kind 0: all went well */
};

static void kind_add(struct kind *k, uint64_t size, bool used)
{
	k->size += size;
	if (!used)
		k->reclaimable += size;
}

static void layer_key(char key[DISK_ID_LEN + 16], const char *disk, uint32_t n)
{
	snprintf(key, DISK_ID_LEN + 16, "%.*s/%u", DISK_ID_LEN, disk, n);
}

/* Calls fn for each disk that can be read. */
static void disks_each(struct df *x, void (*fn)(struct df *x, const struct disk *d))
{
	int fd = openat(x->s.fd, "disks", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct disk d;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (e = readdir(dir)))
		if (strlen(e->d_name) == DISK_ID_LEN && !strchr(e->d_name, '.') &&
		    disk_open(x->s.fd, e->d_name, DISK_PEEK, &d) == 0) {
			fn(x, &d);
			disk_close(&d);
		}
	if (dir)
		closedir(dir);
}

static void disk_note(struct df *x, const struct disk *d)
{
	char key[DISK_ID_LEN + 16];

	json_object_set_new(x->based_on, d->image, json_true());
	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].parent.n) {
			layer_key(key, d->layers[i].parent.disk, d->layers[i].parent.n);
			json_object_set_new(x->stood_on, key, json_true());
		}
}

static void disk_count(struct df *x, const struct disk *d)
{
	const char *volume = json_string_value(json_object_get(x->volumes, d->id));
	uint64_t size = disk_usage(&x->s, d->id), sealed = 0;
	bool used = d->active && disk_is_used(x->s.fd, d->id);
	char key[DISK_ID_LEN + 16], path[32];

	if (volume) {
		x->volume.count++;
		kind_add(&x->volume, size, used || json_object_get(x->kept, volume));
		return;
	}
	for (unsigned i = 0; i < d->nlayers; i++) {
		const struct disk_layer *l = &d->layers[i];
		uint64_t n;

		if (l->n == d->active)
			continue;
		snprintf(path, sizeof(path), "data/%u", l->n);
		n = tree_usage(d->dir, path);
		sealed += n;
		layer_key(key, d->id, l->n);
		x->snapshots.count += l->name[0] != '\0';
		kind_add(&x->snapshots, n, json_object_get(x->stood_on, key) != NULL);
	}
	if (d->active) {
		x->cells.count++;
		kind_add(&x->cells, size - MIN(sealed, size), used);
	}
}

static void images_count(struct df *x)
{
	json_t *unused = images_unused(&x->s, &x->e), *v;
	char(*hashes)[HASH_TEXT] = NULL;
	size_t n = 0, i;

	if (!unused || image_list(&x->s, &hashes, &n, &x->e) < 0) {
		json_decref(unused);
		return;
	}
	x->images.size = tree_usage(x->s.fd, "objects") + tree_usage(x->s.fd, "images");
	x->images.reclaimable = tree_usage_alone(x->s.fd, "objects", 1);
	json_array_foreach(unused, i, v) {
		char path[16 + HASH_TEXT];

		if (json_object_get(x->based_on, json_string_value(v)))
			continue;
		snprintf(path, sizeof(path), "images/%s", json_string_value(v));
		x->images.reclaimable += tree_usage_alone(x->s.fd, path, 2);
	}
	x->images.count = n;
	free(hashes);
	json_decref(unused);
}

static void df_work(uv_work_t *w)
{
	struct df *x = w->data;
	struct named *list = NULL;
	unsigned n = 0;

	if (store_open(&x->s, &x->e) < 0)
		return;
	if (named_list(x->s.fd, NAMED_VOLUME, &list, &n))
		n = 0;
	for (unsigned i = 0; i < n; i++)
		json_object_set_new(x->volumes, list[i].disk, json_string(list[i].name));
	free(list);
	disks_each(x, disk_note);
	disks_each(x, disk_count);
	images_count(x);
	store_close(&x->s);
}

static json_t *kind_json(const struct kind *k)
{
	return json_pack("{s:I,s:I,s:I}", "count", (json_int_t)k->count, "size",
			 (json_int_t)k->size, "reclaimable", (json_int_t)k->reclaimable);
}

static void df_done(uv_work_t *w, int status)
{
	struct df *x = w->data;
	struct request *r = op_end(&x->op);

	(void)status;
	if (r && x->e.kind)
		reply_err(r, &x->e);
	else if (r)
		reply_json(r, 200,
			   json_pack("{s:o,s:o,s:o,s:o}", "cells", kind_json(&x->cells),
				     "snapshots", kind_json(&x->snapshots), "images",
				     kind_json(&x->images), "volumes", kind_json(&x->volume)));
	json_decref(x->kept);
	json_decref(x->volumes);
	json_decref(x->stood_on);
	json_decref(x->based_on);
	free(x);
}

void system_df(struct request *r)
{
	struct df *x = xalloc(sizeof(*x));

	cells_look(r->d);
	x->kept = volumes_kept(r->d);
	x->volumes = json_object();
	x->stood_on = json_object();
	x->based_on = json_object();
	x->work.data = x;
	op_begin(r, &x->op);
	uv_queue_work(&r->d->loop, &x->work, df_work, df_done);
}
