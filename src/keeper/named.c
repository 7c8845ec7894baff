/* See named.h. */
#include "keeper/named.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "keeper/client.h"

/* Some hold a disk only for a moment: who lists volumes, collects garbage, takes a snapshot of a
 * cell that does not run. */
#define PATIENCE_STEPS 100
#define PATIENCE_STEP_US 5000
/* For a cell that is to be started, as long as nobody listens for it: that is no running one, and
 * what it is done with may wait for the host's disk. */
#define PATIENCE_LONG 2000

static const char *const name_rule = "a name is 1 to 64 letters, digits, '.', '_' or '-', and "
				     "starts with none of the last three";

/* ---- finding and making ---- */

int name_check(const char *what, const char *name, struct err *e)
{
	if (disk_name_is_valid(name) && name[0] != '_')
		return 0;
	return err_set(e, ERR_USAGE, "'%s' is not a valid name for a %s" REMEDY "%s", name, what,
		       name_rule);
}

int disk_failed(const char *what, const char *name, int err, struct err *e)
{
	if (err == -EBUSY && !strcmp(what, "cell"))
		return err_set(e, ERR_CONFLICT,
			       "cell '%s' is in use by another viv" REMEDY
			       "wait for its end, or 'viv stop %s'",
			       name, name);
	if (err == -EBUSY)
		return err_set(e, ERR_CONFLICT,
			       "%s '%s' is in use by another viv" REMEDY "wait for its end", what,
			       name);
	if (err == -EBADMSG)
		return err_set(e, ERR_FAILED,
			       "the disk of %s '%s' is damaged" REMEDY
			       "fork one of its snapshots, or remove it",
			       what, name);
	if (err == -ELOOP)
		return err_set(
			e, ERR_FAILED,
			"%s '%s' has %d layers of snapshots on top of each other, which is the "
			"limit" REMEDY "start it once, which makes one of them",
			what, name, DISK_MAX_CHAIN);
	return err_set(e, ERR_FAILED, "the disk of %s '%s': %s", what, name, strerror(-err));
}

int named_failed(const char *what, const char *name, int err, struct err *e)
{
	if (err == -ENOENT)
		return err_set(e, ERR_NOT_FOUND, "there is no %s '%s'" REMEDY "'viv %s' lists them",
			       what, name, strcmp(what, "cell") ? "volume ls" : "ls");
	if (err == -EEXIST)
		return err_set(e, ERR_CONFLICT, "there is a %s '%s' already", what, name);
	return err_set(e, ERR_FAILED, "%s '%s': %s", what, name,
		       err == -EBADMSG ? "its file in the store is damaged" : strerror(-err));
}

int cell_open(const struct store *s, const char *name, enum disk_lock lock, struct named *n,
	      struct disk *d, struct err *e)
{
	int err = named_find(s->fd, NAMED_CELL, name, n);

	if (err)
		return named_failed("cell", name, err, e);
	err = disk_open(s->fd, n->disk, lock, d);
	return err ? disk_failed("cell", name, err, e) : 0;
}

int named_make(const struct store *s, enum named_kind kind, const char *name, const char *image,
	       const struct layer_ref *parent, struct named *n, struct disk *d, struct err *e)
{
	const char *what = kind == NAMED_CELL ? "cell" : "volume";
	int lock, err;

	if (name_check(what, name, e) < 0)
		return -1;
	*n = (struct named){ .created = time(NULL) };
	strcpy(n->name, name);
	snprintf(n->image, sizeof(n->image), "%s", image);
	/* Nobody collects a disk that has no name yet. */
	lock = store_lock(s, false, NULL, e);
	if (lock < 0)
		return -1;
	err = named_create(s->fd, kind, n, parent, d);
	if (err == -EEXIST)
		named_failed(what, name, err, e);
	else if (err)
		disk_failed(what, name, err, e);
	close(lock);
	return err ? -1 : 0;
}

static bool is_heard(const char *id)
{
	struct err e;
	int fd = keep_connect(id, 0, &e);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_worth_waiting(int waited, const char *id)
{
	return waited < PATIENCE_STEPS || (waited < PATIENCE_LONG && !is_heard(id));
}

int cell_open_or_make(const struct store *s, const char *name, const char *image, struct named *n,
		      struct disk *d, struct err *e)
{
	const struct layer_ref ground = { 0 };

	for (int tries = 0, waited = 0;; tries++) {
		int ret;

		while ((ret = cell_open(s, name, DISK_EXCLUSIVE, n, d, e)) < 0 &&
		       e->kind == ERR_CONFLICT && is_worth_waiting(waited++, n->disk))
			usleep(PATIENCE_STEP_US);
		if (ret == 0)
			break;
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		if (named_make(s, NAMED_CELL, name, image ? image : "host", &ground, n, d, e) == 0)
			return 0;
		if (e->kind != ERR_CONFLICT || tries == 3)
			return -1;
	}
	if (!image || !strcmp(image, n->image))
		return 0;
	disk_close(d);
	return err_set(e, ERR_CONFLICT,
		       "cell '%s' was made from image %.12s and not %.12s" REMEDY
		       "leave --image out, or choose "
		       "another name",
		       name, n->image, image);
}

int volume_open_or_make(const struct store *s, const char *name, bool readonly, struct disk *d,
			struct err *e)
{
	const struct layer_ref ground = { 0 };
	struct named n;
	int err = named_find(s->fd, NAMED_VOLUME, name, &n);

	if (err == -ENOENT) {
		if (named_make(s, NAMED_VOLUME, name, DISK_NO_IMAGE, &ground, &n, d, e) < 0)
			return -1;
		if (!readonly)
			return 0;
		disk_close(d);
	} else if (err) {
		return named_failed("volume", name, err, e);
	}
	for (int waited = 0;; waited++) {
		err = disk_open(s->fd, n.disk, readonly ? DISK_SHARED : DISK_EXCLUSIVE, d);
		if (err != -EBUSY || waited == PATIENCE_STEPS)
			break;
		usleep(PATIENCE_STEP_US);
	}
	return err ? disk_failed("volume", name, err, e) : 0;
}

int volume_make(const struct store *s, const char *name, struct err *e)
{
	const struct layer_ref ground = { 0 };
	struct named n;
	struct disk d;

	if (named_make(s, NAMED_VOLUME, name, DISK_NO_IMAGE, &ground, &n, &d, e) < 0)
		return -1;
	disk_close(&d);
	return 0;
}

int disks_collect(const struct store *s, const char *what, const char *name, struct err *e)
{
	int lock = store_lock(s, true, NULL, e), err;

	if (lock < 0)
		return -1;
	err = named_collect(s->fd);
	close(lock);
	return err ? disk_failed(what, name, err, e) : 0;
}

/* The name goes first: what it led to is garbage from then on, whatever happens. */
int volume_drop(const struct store *s, const char *name, struct err *e)
{
	struct named n;
	struct disk d;
	int err = named_find(s->fd, NAMED_VOLUME, name, &n);

	if (err)
		return named_failed("volume", name, err, e);
	err = disk_open(s->fd, n.disk, DISK_EXCLUSIVE, &d);
	if (err == -EBUSY)
		return disk_failed("volume", name, err, e);
	if (!err)
		disk_close(&d);
	err = named_remove(s->fd, NAMED_VOLUME, name);
	if (err)
		return named_failed("volume", name, err, e);
	return disks_collect(s, "volume", name, e);
}

/* The disk of the cell, locked to be changed (*ret_fd is -1); or a connection to who runs it and
 * has it: a named cell has the id of its disk. */
static int cell_reach(const struct store *s, const char *cell, struct named *n, struct disk *d,
		      int *ret_fd, struct err *e)
{
	*ret_fd = -1;
	for (int waited = 0; cell_open(s, cell, DISK_EXCLUSIVE, n, d, e) < 0; waited++) {
		if (e->kind != ERR_CONFLICT)
			return -1;
		*ret_fd = keep_connect(n->disk, 0, e);
		if (*ret_fd >= 0)
			return 0;
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		if (waited == PATIENCE_STEPS)
			return err_set(e, ERR_CONFLICT,
				       "cell '%s' is just starting or ending" REMEDY "try again",
				       cell);
		usleep(PATIENCE_STEP_US);
	}
	return 0;
}

int cell_seal(const struct store *s, const char *cell, const char *name, struct layer_ref *ret,
	      struct err *e)
{
	struct named n;
	struct disk d;
	int err, fd;

	if (cell_reach(s, cell, &n, &d, &fd, e) < 0)
		return -1;
	strcpy(ret->disk, n.disk);
	if (fd >= 0) {
		err = keep_seal(fd, name, &ret->n, e);
		close(fd);
		return err;
	}
	ret->n = d.active;
	err = disk_seal(s->fd, &d, name);
	disk_close(&d);
	if (err == -EEXIST)
		return err_set(e, ERR_CONFLICT, "cell '%s' has a snapshot '%s' already", cell,
			       name);
	return err ? disk_failed("cell", cell, err, e) : 0;
}

int snapshot_missing(const char *cell, const char *name, struct err *e)
{
	return err_set(e, ERR_NOT_FOUND,
		       "cell '%s' has no snapshot '%s'" REMEDY "'viv snapshot --ls %s' lists them",
		       cell, name, cell);
}

int cell_snapshot_remove(const struct store *s, const char *cell, const char *name, struct err *e)
{
	struct named n;
	struct disk d;
	int err, fd;

	if (cell_reach(s, cell, &n, &d, &fd, e) < 0)
		return -1;
	if (fd >= 0) {
		err = keep_forget(fd, name, e);
		close(fd);
		return err;
	}
	err = disk_snapshot_remove(&d, name);
	disk_close(&d);
	if (err == -ENOENT)
		return snapshot_missing(cell, name, e);
	if (err)
		return disk_failed("cell", cell, err, e);
	return disks_collect(s, "cell", cell, e);
}

int cell_rollback(const struct store *s, const char *cell, const char *snapshot, bool *ret_runs,
		  struct err *e)
{
	struct named n;
	struct disk d;
	int err, fd;

	*ret_runs = false;
	if (cell_reach(s, cell, &n, &d, &fd, e) < 0)
		return -1;
	if (fd >= 0) {
		close(fd);
		*ret_runs = true;
		return disk_failed("cell", cell, -EBUSY, e);
	}
	err = disk_rollback(s->fd, &d, snapshot);
	disk_close(&d);
	if (err == -ENOENT)
		return snapshot_missing(cell, snapshot, e);
	return err ? disk_failed("cell", cell, err, e) : 0;
}

int cell_snapshot_name(const struct store *s, const char *cell, char name[DISK_NAME_MAX + 1],
		       struct err *e)
{
	struct named n;
	struct disk d;

	if (cell_open(s, cell, DISK_PEEK, &n, &d, e) < 0)
		return -1;
	for (unsigned i = 1;; i++) {
		snprintf(name, DISK_NAME_MAX, "s%u", i);
		if (!disk_snapshot_find(&d, name))
			break;
	}
	disk_close(&d);
	return 0;
}

/* The layer that a fork stands on: a snapshot's, or one that was sealed for it. NULL: it is gone.
 */
static const struct disk_layer *fork_layer(const struct disk *d, const char *snapshot,
					   const struct layer_ref *sealed)
{
	if (snapshot[0])
		return disk_snapshot_find(d, snapshot);
	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].n == sealed->n && d->layers[i].n != d->active &&
		    !strcmp(d->id, sealed->disk))
			return &d->layers[i];
	return NULL;
}

static int fork_of(const struct store *s, const char *cell, const char *snapshot,
		   const struct layer_ref *sealed, const char *to, struct err *e)
{
	const struct disk_layer *l;
	struct layer_ref parent = { 0 };
	struct named n, new;
	struct disk d;

	if (cell_open(s, cell, DISK_PEEK, &n, &d, e) < 0)
		return -1;
	l = fork_layer(&d, snapshot, sealed);
	if (l) {
		strcpy(parent.disk, d.id);
		parent.n = l->n;
	}
	disk_close(&d);
	if (!l && snapshot[0])
		return snapshot_missing(cell, snapshot, e);
	if (!l)
		return err_set(e, ERR_CONFLICT,
			       "the files of cell '%s' were set back or removed meanwhile" REMEDY
			       "try again",
			       cell);
	if (named_make(s, NAMED_CELL, to, n.image, &parent, &new, &d, e) < 0)
		return -1;
	disk_close(&d);
	return 0;
}

int cell_fork(const struct store *s, const char *cell, const char *snapshot, const char *to,
	      struct err *e)
{
	struct layer_ref sealed = { 0 };
	struct named new;
	int lock, ret;

	if (name_check("cell", to, e) < 0)
		return -1;
	if (named_find(s->fd, NAMED_CELL, to, &new) != -ENOENT)
		return named_failed("cell", to, -EEXIST, e);
	/* Before the lock, for which others wait: the cell may take its time. */
	if (!snapshot[0] && cell_seal(s, cell, "", &sealed, e) < 0)
		return -1;
	/* From the look at the layer on until the fork stands on it, nobody collects it. */
	lock = store_lock(s, false, NULL, e);
	if (lock < 0)
		return -1;
	ret = fork_of(s, cell, snapshot, &sealed, to, e);
	close(lock);
	return ret;
}
