/* The tree file of a disk, its locks, and the layers it names. See disk.h. */
#include "store/disk.h"

#include <dirent.h>
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
#include "store/files.h"

#define TREE_HEAD "vivarium-disk 1\n"
#define TREE_MAX (32 << 20)

bool disk_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > DISK_NAME_MAX || name[0] == '-' || name[0] == '.')
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = name[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '_' || c == '-'))
			return false;
	}
	return true;
}

static bool id_is_valid(const char *id)
{
	return strlen(id) == DISK_ID_LEN && strspn(id, "0123456789abcdef") == DISK_ID_LEN;
}

static struct disk_layer *layer_find(const struct disk *d, uint32_t n)
{
	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].n == n)
			return &d->layers[i];
	return NULL;
}

const struct disk_layer *disk_snapshot_find(const struct disk *d, const char *name)
{
	for (unsigned i = 0; i < d->nlayers; i++)
		if (*name && !strcmp(d->layers[i].name, name))
			return &d->layers[i];
	return NULL;
}

/* ---- the tree file ---- */

static int layer_append(struct disk *d, const struct disk_layer *l)
{
	struct disk_layer *more;

	if (d->nlayers >= DISK_MAX_LAYERS)
		return -ENOSPC;
	more = realloc(d->layers, (d->nlayers + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	d->layers = more;
	d->layers[d->nlayers++] = *l;
	return 0;
}

static int tree_write_by(const struct disk *d,
			 int (*put)(int dir, const char *name, const void *data, size_t size))
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	int err;

	if (!f)
		return -ENOMEM;
	fprintf(f, TREE_HEAD "image %s\nuid %" PRIu32 "\nactive %" PRIu32 "\n", d->image, d->uid,
		d->active);
	for (unsigned i = 0; i < d->nlayers; i++) {
		const struct disk_layer *l = &d->layers[i];

		fprintf(f, "layer %" PRIu32 " ", l->n);
		if (l->parent.n)
			fprintf(f, "%s/%" PRIu32, l->parent.disk, l->parent.n);
		else
			fputc('-', f);
		fprintf(f, " %" PRId64 " %s\n", l->time, l->name[0] ? l->name : "-");
	}
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	err = put(d->dir, "tree", text, size);
	free(text);
	return err;
}

static int tree_write(const struct disk *d)
{
	return tree_write_by(d, file_replace);
}

static bool ref_parse(const char *text, struct layer_ref *ret)
{
	const char *slash = strchr(text, '/');
	char *end;
	unsigned long n;

	memset(ret, 0, sizeof(*ret));
	if (!strcmp(text, "-"))
		return true;
	if (!slash || slash - text != DISK_ID_LEN)
		return false;
	memcpy(ret->disk, text, DISK_ID_LEN);
	n = strtoul(slash + 1, &end, 10);
	ret->n = (uint32_t)n;
	return id_is_valid(ret->disk) && !*end && n > 0 && n < UINT32_MAX;
}

static bool layer_line(struct disk *d, const char *line)
{
	char parent[64], name[DISK_NAME_MAX + 2];
	struct disk_layer l = { 0 };

	if (sscanf(line, "layer %" SCNu32 " %63s %" SCNd64 " %65s", &l.n, parent, &l.time, name) !=
		    4 ||
	    !l.n || layer_find(d, l.n) || !ref_parse(parent, &l.parent))
		return false;
	if (strcmp(name, "-")) {
		if (!disk_name_is_valid(name) || disk_snapshot_find(d, name))
			return false;
		strcpy(l.name, name);
	}
	return layer_append(d, &l) == 0;
}

static bool tree_parse(struct disk *d, char *text)
{
	bool image = false, uid = false;
	char *line, *save = NULL;

	if (strncmp(text, TREE_HEAD, strlen(TREE_HEAD)))
		return false;
	for (line = strtok_r(text + strlen(TREE_HEAD), "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "layer ", 6)) {
			if (!layer_line(d, line))
				return false;
		} else if (sscanf(line, "image %79s", d->image) == 1) {
			image = true;
		} else if (sscanf(line, "uid %" SCNu32, &d->uid) == 1) {
			uid = true;
		} else if (sscanf(line, "active %" SCNu32, &d->active) != 1) {
			return false;
		}
	}
	return image && uid && (!d->active || layer_find(d, d->active));
}

static int tree_read(struct disk *d)
{
	char *text;
	int err = file_read_all(d->dir, "tree", TREE_MAX, &text, NULL);

	if (err)
		return err == -EFBIG ? -EBADMSG : err;
	if (!tree_parse(d, text))
		err = -EBADMSG;
	free(text);
	return err;
}

/* ---- life ---- */

void disk_close(struct disk *d)
{
	if (d->lock >= 0) {
		/* Now, and not when the last copy of the descriptor goes: a process that another thread has just
		 * forked has one until it executes its program. */
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
	if (!id_is_valid(id))
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
	if (d->dir < 0 || mkdirat(d->dir, "data", 0755) < 0 ||
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

/* ---- chains ---- */

void disk_chain_close(struct disk_chain *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->links[i].fd >= 0)
			close(c->links[i].fd);
	c->n = 0;
}

/* A layer that nothing was ever written to has no directory, and is left out of chains. */
static bool layer_is_made(const struct disk *d, uint32_t n)
{
	char path[32];

	snprintf(path, sizeof(path), "data/%" PRIu32, n);
	return faccessat(d->dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* What layer *ref of another disk stands on; a descriptor of it. */
static int foreign_layer(int store, const struct layer_ref *ref, int *ret_fd,
			 struct layer_ref *ret_parent)
{
	char path[32 + DISK_ID_LEN];
	const struct disk_layer *l;
	struct disk d;
	int err = disk_open(store, ref->disk, DISK_PEEK, &d);

	if (err)
		return err == -ENOENT ? -EBADMSG : err;
	l = layer_find(&d, ref->n);
	if (!l || d.active == ref->n) {
		disk_close(&d);
		return -EBADMSG;
	}
	*ret_parent = l->parent;
	disk_close(&d);
	snprintf(path, sizeof(path), "disks/%s/data/%" PRIu32, ref->disk, ref->n);
	*ret_fd = openat(store, path, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return *ret_fd < 0 && errno != ENOENT ? -errno : 0;
}

int disk_chain(int store, const struct disk *d, uint32_t n, struct disk_chain *c)
{
	const struct disk_layer *l = layer_find(d, n);
	struct layer_ref at;
	unsigned steps = 0;
	int err = 0;

	c->n = 0;
	if (!l)
		return -ENOENT;
	at = l->parent;
	while (at.n && !err) {
		struct disk_link *link = &c->links[c->n];
		struct layer_ref parent;

		/* A circle of layers that were never written would go on for ever. */
		if (c->n == DISK_MAX_CHAIN || steps++ > 16 * DISK_MAX_CHAIN) {
			err = -ELOOP;
			break;
		}
		*link = (struct disk_link){ .fd = -1, .ref = at };
		if (!strcmp(at.disk, d->id)) {
			l = layer_find(d, at.n);
			if (!l || l->n == d->active)
				err = -EBADMSG;
			else
				parent = l->parent;
			if (!err && layer_is_made(d, at.n))
				c->n++;
		} else {
			err = foreign_layer(store, &at, &link->fd, &parent);
			if (!err && link->fd >= 0)
				c->n++;
		}
		if (!err)
			at = parent;
	}
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
	int err = disk_chain(store, d, n, c);

	if (err || !layer_is_made(d, n))
		return err;
	if (c->n == DISK_MAX_CHAIN) {
		disk_chain_close(c);
		return -ELOOP;
	}
	c->links[c->n] = (struct disk_link){ .fd = -1, .ref.n = n };
	strcpy(c->links[c->n++].ref.disk, d->id);
	return 0;
}

/* ---- changes ---- */

static uint32_t number_free(const struct disk *d)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < d->nlayers; i++)
		n = MAX(n, d->layers[i].n);
	return n + 1;
}

static int layer_start(struct disk *d, uint32_t parent)
{
	struct disk_layer l = { .n = number_free(d), .time = time(NULL) };
	int err;

	strcpy(l.parent.disk, d->id);
	l.parent.n = parent;
	err = layer_append(d, &l);
	if (!err)
		d->active = l.n;
	return err;
}

int disk_seal_start(int store, struct disk *d, const char *name)
{
	static struct disk_chain chain;
	uint32_t old = d->active;
	unsigned below;
	int err;

	if (disk_snapshot_find(d, name))
		return -EEXIST;
	err = disk_chain(store, d, old, &chain);
	if (err)
		return err;
	below = chain.n;
	disk_chain_close(&chain);
	/* With the one that is sealed now and the next, which readers have in their chain too. */
	if (below + 2 > DISK_MAX_CHAIN)
		return -ELOOP;
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

static int layer_drop(struct disk *d, uint32_t n)
{
	char path[32];
	int err;

	snprintf(path, sizeof(path), "data/%" PRIu32, n);
	err = tree_remove(d->dir, path);
	return err == -ENOENT ? 0 : err;
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

int disk_rollback(int store, struct disk *d, const char *name)
{
	const struct disk_layer *to = disk_snapshot_find(d, name);
	uint32_t old = d->active, target;
	int err;

	(void)store;
	if (!to)
		return -ENOENT;
	target = to->n;
	err = layer_start(d, target);
	if (err)
		return err;
	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].n == old) {
			d->layers[i] = d->layers[--d->nlayers];
			break;
		}
	err = tree_write(d);
	return err ? err : layer_drop(d, old);
}

int disk_snapshot_remove(struct disk *d, const char *name)
{
	struct disk_layer *l = (struct disk_layer *)(uintptr_t)disk_snapshot_find(d, name);

	if (!l)
		return -ENOENT;
	l->name[0] = 0;
	return tree_write(d);
}

/* ---- garbage ---- */

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
	while (n) {
		const struct disk_layer *l = NULL;

		for (unsigned i = 0; i < c->n && !l; i++) {
			if (strcmp(c->disks[i].id, disk))
				continue;
			l = layer_find(&c->disks[i], n);
			if (!l || c->used[i][l - c->disks[i].layers])
				return;
			c->used[i][l - c->disks[i].layers] = true;
		}
		if (!l)
			return;
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
		if (!id_is_valid(e->d_name))
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
