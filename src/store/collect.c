/* Removing the layers and disks that nothing leads to. See disk.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

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

static int census_take(int store, struct census *c)
{
	int fd = openat(store, "disks", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (e = readdir(dir))) {
		struct disk d;
		int r;

		if (!strncmp(e->d_name, "new-", 4)) {
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
	if (any && all)
		return 0;
	err = disk_open(store, d->id, DISK_EXCLUSIVE, &locked);
	if (err)
		return err == -EBUSY || err == -ENOENT ? 0 : err;
	if (!any)
		return disk_remove(store, &locked);
	/* Its layers may be others by now, if it was in use just before. */
	if (locked.nlayers != d->nlayers || locked.active != d->active) {
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
	err = tree_write(&locked);
	for (unsigned i = 0; i < d->nlayers && !err; i++)
		if (!used[i])
			err = layer_drop(&locked, d->layers[i].n);
	disk_close(&locked);
	return err;
}

int disk_collect(int store, char (*roots)[DISK_ID_LEN + 1], unsigned nroots)
{
	struct census c = { 0 };
	int err = census_take(store, &c);
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
	for (unsigned i = 0; i < c.n; i++) {
		disk_close(&c.disks[i]);
		free(c.used[i]);
	}
	free(c.disks);
	free(c.used);
	free(root);
	return err;
}
