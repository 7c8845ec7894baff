/* The tree file of a disk: which layers there are, what each stands on, and which one is active.
 * See disk.h.
 *
 *   vivarium-disk 1
 *   image HASH | host | none
 *   uid UID
 *   active N
 *   layer N PARENT TIME NAME       PARENT is DISK/N or "-", NAME that of a snapshot or "-"; a
 *                                  line for each */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/diskparts.h"
#include "store/files.h"

#define TREE_HEAD "vivarium-disk 1\n"
#define TREE_MAX (32 << 20)

/* ---- names and numbers ---- */

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

bool disk_id_is_valid(const char *id)
{
	return strlen(id) == DISK_ID_LEN && strspn(id, "0123456789abcdef") == DISK_ID_LEN;
}

struct disk_layer *layer_find(const struct disk *d, uint32_t n)
{
	for (unsigned i = 0; i < d->nlayers; i++)
		if (d->layers[i].n == n)
			return &d->layers[i];
	return NULL;
}

struct disk_layer *layer_find_near(const struct disk *d, uint32_t n, const struct disk_layer *from)
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

/* ---- the file ---- */

int layer_append(struct disk *d, const struct disk_layer *l)
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

int tree_write_by(const struct disk *d,
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

int tree_write(const struct disk *d)
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
	return disk_id_is_valid(ret->disk) && !*end && n > 0 && n < UINT32_MAX;
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

int tree_read(struct disk *d)
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
