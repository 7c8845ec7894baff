/* Disks: their locks, making and removing them, and what is done to their layers. See disk.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/isolate.h"
#include "store/diskparts.h"
#include "store/files.h"

/* ---- life ---- */

void disk_close(struct disk *d)
{
	if (d->lock >= 0) {
		/* Now, and not when the last copy of the descriptor goes: a process that another
		 * thread has just forked has one until it executes its program. */
		flock(d->lock, LOCK_UN);
		close(d->lock);
	}
	if (d->dir >= 0)
		close(d->dir);
	free(d->layers);
	*d = (struct disk){ .dir = -1, .lock = -1 };
}

static int disk_lock(struct disk *d, enum disk_lock how)
{
	int op = how == DISK_EXCLUSIVE ? LOCK_EX : LOCK_SH;

	if (how == DISK_PEEK)
		return 0;
	d->lock = openat(d->dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (d->lock < 0)
		return -errno;
	if (flock(d->lock, op | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return 0;
}

int disk_open(int store, const char *id, enum disk_lock how, struct disk *d)
{
	char path[8 + DISK_ID_LEN];
	int err;

	*d = (struct disk){ .dir = -1, .lock = -1 };
	if (!disk_id_is_valid(id))
		return -ENOENT;
	snprintf(path, sizeof(path), "disks/%s", id);
	strcpy(d->id, id);
	d->dir = openat(store, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (d->dir < 0)
		return -errno;
	err = disk_lock(d, how);
	if (!err)
		err = tree_read(d);
	if (err)
		disk_close(d);
	return err;
}

bool disk_is_used(int store, const char *id)
{
	struct disk d;
	int err = disk_open(store, id, DISK_EXCLUSIVE, &d);

	if (!err)
		disk_close(&d);
	return err == -EBUSY;
}

static int id_make(char *id)
{
	uint8_t raw[DISK_ID_LEN / 2];

	if (getrandom(raw, sizeof(raw), 0) != sizeof(raw))
		return -EIO;
	for (unsigned i = 0; i < sizeof(raw); i++)
		sprintf(id + 2 * i, "%02x", raw[i]);
	return 0;
}

struct disk_path {
	char str[16 + DISK_ID_LEN];
};

/* The name that collectors know as unfinished. */
static struct disk_path path_draft(const struct disk *d)
{
	struct disk_path p;

	snprintf(p.str, sizeof(p.str), "disks/new-%s", d->id);
	return p;
}

static struct disk_path path_of(const struct disk *d)
{
	struct disk_path p;

	snprintf(p.str, sizeof(p.str), "disks/%s", d->id);
	return p;
}

int disk_draft(int store, const char *image, const struct layer_ref *parent, struct disk *d)
{
	struct disk_layer first = { .n = 1, .parent = *parent, .time = time(NULL) };
	struct disk_path path;
	uid_t uid;
	gid_t gid;
	int err;

	*d = (struct disk){ .dir = -1, .lock = -1, .active = 1 };
	if (strlen(image) >= sizeof(d->image))
		return -EINVAL;
	strcpy(d->image, image);
	isolate_ids(&uid, &gid);
	d->uid = uid;
	err = id_make(d->id);
	if (err)
		return err;
	path = path_draft(d);
	if ((mkdirat(store, "disks", 0755) < 0 && errno != EEXIST) ||
	    mkdirat(store, path.str, 0755) < 0)
		return -errno;
	d->dir = openat(store, path.str, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	/* Kernels of other users look at it, whatever the umask says. */
	if (d->dir < 0 || mkdirat(d->dir, "data", 0755) < 0 ||
	    fchmodat(d->dir, "data", 0755, 0) < 0 ||
	    (uid != geteuid() && fchownat(d->dir, "data", uid, gid, AT_SYMLINK_NOFOLLOW) < 0))
		err = -errno;
	if (!err)
		err = layer_append(d, &first);
	if (!err)
		err = disk_lock(d, DISK_EXCLUSIVE);
	if (!err)
		err = tree_write_by(d, file_draft);
	if (err)
		disk_discard(store, d);
	return err;
}

void disk_discard(int store, struct disk *d)
{
	(void)tree_remove(store, path_draft(d).str);
	disk_close(d);
}

int disk_publish(int store, struct disk *d)
{
	return renameat(store, path_draft(d).str, store, path_of(d).str) < 0 ? -errno : 0;
}

int disk_create(int store, const char *image, const struct layer_ref *parent, struct disk *d)
{
	int err = disk_draft(store, image, parent, d);

	if (err)
		return err;
	err = sync_all((struct sync_item[]){ { d->dir, "tree" }, { d->dir, "." } }, 2);
	if (!err)
		err = disk_publish(store, d);
	if (err)
		disk_discard(store, d);
	return err ? err : dir_sync(store, "disks");
}

int disk_remove(int store, struct disk *d)
{
	struct disk_path dead = path_draft(d);
	int err;

	if (renameat(store, path_of(d).str, store, dead.str) < 0)
		return -errno;
	err = tree_remove(store, dead.str);
	disk_close(d);
	return err;
}

/* ---- changes ---- */

static uint32_t number_free(const struct disk *d)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < d->nlayers; i++)
		n = MAX(n, d->layers[i].n);
	return n + 1;
}

int layer_drop(struct disk *d, uint32_t n)
{
	char path[32];
	int err;

	snprintf(path, sizeof(path), "data/%" PRIu32, n);
	err = tree_remove(d->dir, path);
	return err == -ENOENT ? 0 : err;
}

static int layer_start(struct disk *d, uint32_t parent)
{
	struct disk_layer l = { .n = number_free(d), .time = time(NULL) };
	int err;

	strcpy(l.parent.disk, d->id);
	l.parent.n = parent;
	/* One of that number may have been garbage, and who removed it may have ended before it was
	 * gone. */
	err = layer_drop(d, l.n);
	if (!err)
		err = layer_append(d, &l);
	if (!err)
		d->active = l.n;
	return err;
}

/* Whether there is room for one more on top of the active layer. */
static int seal_check(int store, const struct disk *d)
{
	struct disk_chain chain = { 0 };
	int below = layer_depth(store, d, d->active), err;

	/* The exact number takes longer. */
	if (below + 2 > DISK_MAX_CHAIN) {
		err = disk_chain(store, d, d->active, &chain);
		below = err ? err : (int)chain.n;
		disk_chain_close(&chain);
	}
	/* With the one that is sealed now and the next, which readers have in their chain too. */
	return below < 0 ? below : below + 2 > DISK_MAX_CHAIN ? -ELOOP : 0;
}

int disk_seal_start(int store, struct disk *d, const char *name)
{
	uint32_t old = d->active;
	int err;

	if (disk_snapshot_find(d, name))
		return -EEXIST;
	err = seal_check(store, d);
	if (!err)
		err = layer_start(d, old);
	if (err)
		return err;
	strcpy(layer_find(d, old)->name, name);
	err = tree_write_by(d, file_swap);
	if (err) {
		d->nlayers--;
		d->active = old;
		layer_find(d, old)->name[0] = 0;
	}
	return err;
}

int disk_seal_end(struct disk *d)
{
	return dir_sync(d->dir, ".");
}

int disk_seal(int store, struct disk *d, const char *name)
{
	int err = disk_seal_start(store, d, name);

	return err ? err : disk_seal_end(d);
}

int disk_unseal(struct disk *d)
{
	struct disk_layer *top = layer_find(d, d->active), *below;
	uint32_t n = d->active;
	int err;

	below = top ? layer_find(d, top->parent.n) : NULL;
	if (!below)
		return -EINVAL;
	below->name[0] = 0;
	d->active = below->n;
	*top = d->layers[--d->nlayers];
	err = tree_write(d);
	/* Its number will be used again. */
	return err ? err : layer_drop(d, n);
}

int disk_layer_reserve(struct disk *d, uint32_t *ret_n)
{
	struct disk_layer l = { .n = number_free(d), .time = time(NULL) };
	int err = layer_append(d, &l);

	*ret_n = l.n;
	if (err)
		return err;
	err = tree_write(d);
	if (err)
		d->nlayers--;
	/* What a collector has left of an earlier one of that number. */
	return err ? err : layer_drop(d, l.n);
}

int disk_layer_forget(struct disk *d, uint32_t n)
{
	struct disk_layer *l = layer_find(d, n);
	int err = layer_drop(d, n);

	if (err || !l)
		return err;
	*l = d->layers[--d->nlayers];
	return tree_write(d);
}

/* What stood on layer old stands on layer n, which is the snapshot now that old was. */
static void layer_replace(struct disk *d, struct disk_layer *old, struct disk_layer *l)
{
	const uint32_t from = old->n, to = l->n;
	struct disk_layer swap;

	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].parent.n == from && !strcmp(d->layers[i].parent.disk, d->id))
			d->layers[i].parent.n = to;
	l->time = old->time;
	strcpy(l->name, old->name);
	old->name[0] = 0;
	/* In its place, so that snapshots are listed in the order of their making. */
	swap = *old;
	*old = *l;
	*l = swap;
}

int disk_stand_on(struct disk *d, uint32_t n, uint32_t instead)
{
	struct disk_layer *l = layer_find(d, n), *was;
	struct disk_layer *old = layer_find(d, instead ? instead : d->active);
	int err;

	if (!l || !old)
		return -EINVAL;
	was = calloc(d->nlayers, sizeof(*was));
	if (!was)
		return -ENOMEM;
	memcpy(was, d->layers, d->nlayers * sizeof(*was));
	if (instead) {
		layer_replace(d, old, l);
	} else {
		old->parent.n = n;
		strcpy(old->parent.disk, d->id);
	}
	err = tree_write(d);
	/* Whichever of the two the file has now, both name layers that are there. */
	if (err)
		memcpy(d->layers, was, d->nlayers * sizeof(*was));
	free(was);
	return err;
}

int disk_rollback(int store, struct disk *d, const char *name)
{
	const struct disk_layer *to = disk_snapshot_find(d, name);
	uint32_t old = d->active, target;
	int err;

	(void)store;
	if (!to)
		return -ENOENT;
	target = to->n;
	/* Processes of a sleeping cell had other files (keeper/frozen.c). */
	if (unlinkat(d->dir, "frozen", 0) < 0 && errno != ENOENT)
		return -errno;
	err = layer_start(d, target);
	if (err)
		return err;
	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].n == old) {
			d->layers[i] = d->layers[--d->nlayers];
			break;
		}
	err = tree_write(d);
	/* What cannot be removed is in nobody's way: numbers only grow. */
	if (!err)
		(void)layer_drop(d, old);
	return err;
}

int disk_snapshot_remove(struct disk *d, const char *name)
{
	struct disk_layer *l = (struct disk_layer *)(uintptr_t)disk_snapshot_find(d, name);
	int err;

	if (!l)
		return -ENOENT;
	l->name[0] = 0;
	err = tree_write(d);
	if (err)
		strcpy(l->name, name);
	return err;
}
