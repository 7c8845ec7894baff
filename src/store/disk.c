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

#include "base/limit.h"
#include "host/isolate.h"
#include "store/files.h"

#define TREE_HEAD "vivarium-disk 1\n"
#define TREE_MAX (32 << 20)
#define FILES_FEW 128 /* every process may have so many */

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

/* The same for one that is probably not far below from. */
static struct disk_layer *layer_find_near(const struct disk *d, uint32_t n,
					  const struct disk_layer *from)
{
	for (const struct disk_layer *l = from; l-- > d->layers;)
		if (l->n == n)
			return (struct disk_layer *)(uintptr_t)l;
	return layer_find(d, n);
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
	    !l.n || !ref_parse(parent, &l.parent))
		return false;
	if (strcmp(name, "-")) {
		if (!disk_name_is_valid(name))
			return false;
		strcpy(l.name, name);
	}
	return layer_append(d, &l) == 0;
}

static int number_compare(const void *a, const void *b)
{
	const struct disk_layer *const *x = a, *const *y = b;

	return ((*x)->n > (*y)->n) - ((*x)->n < (*y)->n);
}

static int name_compare(const void *a, const void *b)
{
	const struct disk_layer *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* No number and no name twice. */
static bool layers_are_distinct(const struct disk *d)
{
	const struct disk_layer **sorted = calloc(d->nlayers + 1, sizeof(struct disk_layer *));
	bool ok = sorted;

	for (unsigned i = 0; ok && i < d->nlayers; i++)
		sorted[i] = &d->layers[i];
	if (ok)
		qsort(sorted, d->nlayers, sizeof(*sorted), number_compare);
	for (unsigned i = 1; ok && i < d->nlayers; i++)
		ok = sorted[i - 1]->n != sorted[i]->n;
	if (ok)
		qsort(sorted, d->nlayers, sizeof(*sorted), name_compare);
	for (unsigned i = 1; ok && i < d->nlayers; i++)
		ok = !sorted[i]->name[0] || strcmp(sorted[i - 1]->name, sorted[i]->name);
	free(sorted);
	return ok;
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
	return image && uid && (!d->active || layer_find(d, d->active)) && layers_are_distinct(d);
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
	free(c->links);
	*c = (struct disk_chain){ 0 };
}

static int chain_add(struct disk_chain *c, const struct disk_link *l)
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

/* A layer that nothing was ever written to has no directory, and is left out of chains. */
static bool layer_is_made(const struct disk *d, uint32_t n)
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

/* How many layers, also such that were never written, are below layer n; or -errno. */
static int layer_depth(int store, const struct disk *d, uint32_t n)
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
		err = link.fd < -1 ? link.fd : chain_add(c, &link);
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
	err = chain_add(c, &own);
	if (err)
		disk_chain_close(c);
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
	int err;

	if (!l)
		return -ENOENT;
	l->name[0] = 0;
	err = tree_write(d);
	if (err)
		strcpy(l->name, name);
	return err;
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
