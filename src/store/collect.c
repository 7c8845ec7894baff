/* Removing the layers and disks that nothing leads to. See disk.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/diskparts.h"
#include "store/files.h"

struct census {
	struct disk *disks;
	bool **used; /* for each layer */
	unsigned n;
};

static int census_add(struct census *c, struct disk *d)
{
	struct disk *disks = realloc(c->disks, (c->n + 1) * sizeof(*disks));
	bool **used = realloc(c->used, (c->n + 1) * sizeof(*used));

	if (disks)
		c->disks = disks;
	if (used)
		c->used = used;
	if (!disks || !used)
		return -ENOMEM;
	c->used[c->n] = calloc(d->nlayers + 1, sizeof(bool));
	if (!c->used[c->n])
		return -ENOMEM;
	c->disks[c->n++] = *d;
	return 0;
}

/* Follows a layer to the ground. */
static void census_mark(struct census *c, const char *disk, uint32_t n)
{
	const struct disk_layer *l = NULL;
	const struct disk *d = NULL;
	unsigned i = 0;

	while (n) {
		if (!d || strcmp(d->id, disk)) {
			for (i = 0; i < c->n && strcmp(c->disks[i].id, disk); i++)
				;
			if (i == c->n)
				return;
			d = &c->disks[i];
			l = d->layers;
		}
		l = layer_find_near(d, n, l);
		if (!l || c->used[i][l - d->layers])
			return;
		c->used[i][l - d->layers] = true;
		disk = l->parent.disk;
		n = l->parent.n;
	}
}

/* drafts_go: nobody is making a disk now, so what is unfinished goes. */
static int census_take(int store, bool drafts_go, struct census *c)
{
	int fd = openat(store, "disks", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (e = readdir(dir))) {
		struct disk d;
		int r;

		if (drafts_go && !strncmp(e->d_name, "new-", 4)) {
			(void)tree_remove(dirfd(dir), e->d_name);
			continue;
		}
		if (!disk_id_is_valid(e->d_name))
			continue;
		r = disk_open(store, e->d_name, DISK_PEEK, &d);
		if (r == -ENOENT)
			continue;
		err = r ? r : census_add(c, &d);
	}
	closedir(dir);
	return err;
}

static void census_free(struct census *c)
{
	for (unsigned i = 0; i < c->n; i++) {
		disk_close(&c->disks[i]);
		free(c->used[i]);
	}
	free(c->disks);
	free(c->used);
}

/* Is there the directory of a layer that the tree file does not name? remove: it goes. Whoever
 * removes layers takes them out of the file first, and may end in between. */
static bool strays_find(struct disk *d, bool remove)
{
	int fd = openat(d->dir, "data", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	bool any = false;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (remove || !any) && (e = readdir(dir))) {
		char *end;
		unsigned long n = strtoul(e->d_name, &end, 10);

		if (e->d_name[0] < '1' || e->d_name[0] > '9' || *end || n >= UINT32_MAX ||
		    layer_find(d, (uint32_t)n))
			continue;
		any = true;
		if (remove)
			(void)layer_drop(d, (uint32_t)n);
	}
	if (dir)
		closedir(dir);
	return any;
}

static bool is_same(const struct disk *a, const struct disk *b)
{
	bool same = a->nlayers == b->nlayers && a->active == b->active;

	for (unsigned i = 0; i < a->nlayers && same; i++) {
		const struct disk_layer *x = &a->layers[i], *y = &b->layers[i];

		same = x->n == y->n && x->parent.n == y->parent.n &&
		       !strcmp(x->parent.disk, y->parent.disk) && !strcmp(x->name, y->name);
	}
	return same;
}

/* What is not marked goes. A disk in use is left for another time, but for its marks. */
static int disk_sweep(int store, struct disk *d, const bool *used, bool root)
{
	bool any = root, all = true;
	struct disk locked;
	unsigned kept = 0;
	int err;

	for (unsigned i = 0; i < d->nlayers; i++) {
		any |= used[i];
		all &= used[i];
	}
	if (any && all && !strays_find(d, false))
		return 0;
	err = disk_open(store, d->id, DISK_EXCLUSIVE, &locked);
	if (err)
		return err == -EBUSY || err == -ENOENT ? 0 : err;
	if (!any)
		return disk_remove(store, &locked);
	/* Its layers may be others by now, or stand on others, if it was in use just before. */
	if (!is_same(&locked, d)) {
		disk_close(&locked);
		return 0;
	}
	for (unsigned i = 0; i < d->nlayers; i++)
		if (used[i])
			locked.layers[kept++] = d->layers[i];
	locked.nlayers = kept;
	/* A disk that only lends layers has no active one any more. */
	if (!layer_find(&locked, locked.active))
		locked.active = 0;
	err = all ? 0 : tree_write(&locked);
	if (!err)
		(void)strays_find(&locked, true);
	disk_close(&locked);
	return err;
}

int disk_collect(int store, char (*roots)[DISK_ID_LEN + 1], unsigned nroots)
{
	struct census c = { 0 };
	int err = census_take(store, true, &c);
	bool *root = calloc(c.n + 1, sizeof(bool));

	if (!root)
		err = -ENOMEM;
	for (unsigned i = 0; i < c.n && !err; i++) {
		struct disk *d = &c.disks[i];

		for (unsigned j = 0; j < nroots; j++)
			root[i] |= !strcmp(roots[j], d->id);
		if (!root[i])
			continue;
		census_mark(&c, d->id, d->active);
		for (unsigned k = 0; k < d->nlayers; k++)
			if (d->layers[k].name[0])
				census_mark(&c, d->id, d->layers[k].n);
	}
	for (unsigned i = 0; i < c.n && !err; i++)
		err = disk_sweep(store, &c.disks[i], c.used[i], root[i]);
	census_free(&c);
	free(root);
	return err;
}

/* ---- what a merge would free ---- */

struct uses {
	unsigned own, foreign; /* how many layers stand on it */
	const struct disk_layer *child; /* one of its own */
};

static void uses_count(const struct census *c, const struct disk *d, struct uses *uses)
{
	for (unsigned i = 0; i < c->n; i++) {
		const bool own = !strcmp(c->disks[i].id, d->id);
		const struct disk *o = own ? d : &c->disks[i];
		const struct disk_layer *l = d->layers;

		for (unsigned k = 0; k < o->nlayers; k++) {
			const struct layer_ref *p = &o->layers[k].parent;
			const struct disk_layer *at;

			if (!p->n || strcmp(p->disk, d->id))
				continue;
			at = layer_find_near(d, p->n, own ? &o->layers[k] : l);
			if (!at)
				continue;
			l = at;
			uses[l - d->layers].foreign += !own;
			uses[l - d->layers].own += own;
			if (own)
				uses[l - d->layers].child = &o->layers[k];
		}
	}
}

/* Would it be garbage if the layer above it stood on another? */
static bool is_free(const struct uses *u, const struct disk_layer *l)
{
	return !l->name[0] && u->own == 1 && !u->foreign;
}

/* What it stands on and was written to; NULL: nothing, or a layer of another disk. */
static const struct disk_layer *layer_below(const struct disk *d, const struct disk_layer *l)
{
	do {
		if (!l->parent.n || strcmp(l->parent.disk, d->id))
			return NULL;
		l = layer_find_near(d, l->parent.n, l);
	} while (l && !layer_is_made(d, l->n));
	return l;
}

/* The last one above l, if nothing branches off on the way. */
static const struct disk_layer *layer_top(const struct disk *d, const struct uses *uses,
					  const struct disk_layer *l)
{
	for (unsigned i = 0; i <= d->nlayers; i++) {
		const struct uses *u = &uses[l - d->layers];

		if (u->foreign || u->own > 1)
			return NULL;
		if (!u->own)
			return l;
		l = u->child;
	}
	return NULL;
}

/* Those that are free, from l down, and l itself. */
static unsigned frees_count(const struct disk *d, const struct uses *uses,
			    const struct disk_layer *l)
{
	unsigned n = 1;

	while (n <= d->nlayers && (l = layer_below(d, l)) && is_free(&uses[l - d->layers], l))
		n++;
	return n;
}

static int merge_find(const struct disk *d, const struct uses *uses, struct merge_plan *ret)
{
	for (unsigned i = 0; i < d->nlayers; i++) {
		const struct disk_layer *l = &d->layers[i], *below, *top;
		const struct uses *u = &uses[i];

		/* Of several that are free only the upmost: it takes the others with it. */
		if (l->n == d->active || (is_free(u, l) && u->child->n != d->active) ||
		    (!l->name[0] && !u->own))
			continue;
		below = layer_below(d, l);
		if (!below || !is_free(&uses[below - d->layers], below) || !layer_is_made(d, l->n))
			continue;
		top = layer_top(d, uses, l);
		if (!top)
			continue;
		*ret = (struct merge_plan){ l->n, top->n, frees_count(d, uses, l) };
		return 0;
	}
	return -ENOENT;
}

int disk_merge_find(int store, const struct disk *d, struct merge_plan *ret)
{
	struct uses *uses = calloc(d->nlayers + 1, sizeof(*uses));
	struct census c = { 0 };
	int err = uses ? census_take(store, false, &c) : -ENOMEM;

	if (!err) {
		uses_count(&c, d, uses);
		err = merge_find(d, uses, ret);
	}
	census_free(&c);
	free(uses);
	return err;
}
