/* The layers that a layer stands on, down to the image. See disk.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limit.h"
#include "store/diskparts.h"

#define FILES_FEW 128 /* every process may have so many */

void disk_chain_close(struct disk_chain *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->links[i].fd >= 0)
			close(c->links[i].fd);
	free(c->links);
	*c = (struct disk_chain){ 0 };
}

int disk_chain_add(struct disk_chain *c, const struct disk_link *l)
{
	unsigned room = c->room ? 2 * c->room : 16;
	struct disk_link *more;

	/* Each needs some when its kernel is started. */
	if (c->n >= FILES_FEW && l->fd >= 0)
		limit_files_raise(0);
	if (c->n == DISK_MAX_CHAIN)
		return -ELOOP;
	if (c->n == c->room) {
		more = realloc(c->links, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->links = more;
		c->room = room;
	}
	c->links[c->n++] = *l;
	return 0;
}

bool layer_is_made(const struct disk *d, uint32_t n)
{
	char path[32];

	snprintf(path, sizeof(path), "data/%" PRIu32, n);
	return faccessat(d->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A walk down a chain. */
struct descent {
	int store;
	const struct disk *own;
	struct disk other; /* the one that was looked at last, if it is not own */
	const struct disk_layer *l; /* where it is, */
	const struct disk *in; /* one of the two */
	unsigned steps;
};

/* To the layer that l stands on. 1: there is one. */
static int descend(struct descent *w)
{
	const struct layer_ref at = w->l->parent;
	const struct disk *d = strcmp(at.disk, w->own->id) ? &w->other : w->own;
	int err;

	if (!at.n)
		return 0;
	/* A circle of layers that were never written would go on for ever. */
	if (w->steps++ > 2 * DISK_MAX_LAYERS)
		return -ELOOP;
	if (strcmp(at.disk, d->id)) {
		disk_close(&w->other);
		w->in = NULL;
		err = disk_open(w->store, at.disk, DISK_PEEK, &w->other);
		if (err)
			return err == -ENOENT ? -EBADMSG : err;
	}
	w->l = layer_find_near(d, at.n, w->in == d ? w->l : d->layers);
	w->in = d;
	return w->l && w->l->n != d->active ? 1 : -EBADMSG;
}

static int descent_start(struct descent *w, int store, const struct disk *d, uint32_t n)
{
	*w = (struct descent){
		.store = store, .own = d, .in = d, .other = { .dir = -1, .lock = -1 }
	};
	w->l = layer_find(d, n);
	return w->l ? 0 : -ENOENT;
}

int layer_depth(int store, const struct disk *d, uint32_t n)
{
	struct descent w;
	int depth = 0, r = descent_start(&w, store, d, n);

	while (r >= 0 && (r = descend(&w)) > 0)
		depth++;
	disk_close(&w.other);
	return r < 0 ? r : depth;
}

static int foreign_open(int store, const struct layer_ref *ref)
{
	char path[32 + DISK_ID_LEN];
	int fd;

	snprintf(path, sizeof(path), "disks/%s/data/%" PRIu32, ref->disk, ref->n);
	fd = openat(store, path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

int disk_chain(int store, const struct disk *d, uint32_t n, struct disk_chain *c)
{
	struct descent w;
	int err;

	disk_chain_close(c);
	err = descent_start(&w, store, d, n);
	while (!err) {
		struct disk_link link = { .fd = -1, .ref = w.l->parent };

		err = descend(&w);
		if (err <= 0)
			break;
		err = 0;
		if (strcmp(link.ref.disk, d->id))
			link.fd = foreign_open(store, &link.ref);
		else if (!layer_is_made(d, link.ref.n))
			continue;
		if (link.fd == -ENOENT)
			continue;
		err = link.fd < -1 ? link.fd : disk_chain_add(c, &link);
		if (err && link.fd >= 0)
			close(link.fd);
	}
	disk_close(&w.other);
	if (err) {
		disk_chain_close(c);
		return err;
	}
	for (unsigned i = 0; i < c->n / 2; i++) {
		struct disk_link swap = c->links[i];

		c->links[i] = c->links[c->n - 1 - i];
		c->links[c->n - 1 - i] = swap;
	}
	return 0;
}

int disk_chain_with(int store, const struct disk *d, uint32_t n, struct disk_chain *c)
{
	struct disk_link own = { .fd = -1, .ref.n = n };
	int err = disk_chain(store, d, n, c);

	if (err || !layer_is_made(d, n))
		return err;
	strcpy(own.ref.disk, d->id);
	err = disk_chain_add(c, &own);
	if (err)
		disk_chain_close(c);
	return err;
}
