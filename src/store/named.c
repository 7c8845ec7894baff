/* See named.h. */
#include "store/named.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/files.h"

#define FILE_MAX 4096

static const char *const folders[] = { [NAMED_CELL] = "cells", [NAMED_VOLUME] = "volumes" };

struct named_path {
	char str[16 + DISK_NAME_MAX];
};

static struct named_path path_of(enum named_kind kind, const char *name)
{
	struct named_path p;

	snprintf(p.str, sizeof(p.str), "%s/%.*s", folders[kind], DISK_NAME_MAX, name);
	return p;
}

int named_find(int store, enum named_kind kind, const char *name, struct named *n)
{
	char *text;
	int err;

	*n = (struct named){ 0 };
	if (!disk_name_is_valid(name))
		return -ENOENT;
	err = file_read_all(store, path_of(kind, name).str, FILE_MAX, &text, NULL);
	if (err)
		return err;
	strcpy(n->name, name);
	if (sscanf(text, "vivarium 1\ndisk %32s\nimage %79s\ncreated %" SCNd64, n->disk, n->image,
		   &n->created) != 3)
		err = -EBADMSG;
	free(text);
	return err;
}

/* Written beside, then linked: it is there whole, and never in place of another. */
int named_add(int store, enum named_kind kind, const struct named *n)
{
	struct named_path to = path_of(kind, n->name);
	char text[FILE_MAX], tmp[64];
	int err;

	if (!disk_name_is_valid(n->name))
		return -EINVAL;
	if (mkdirat(store, folders[kind], 0700) < 0 && errno != EEXIST)
		return -errno;
	snprintf(text, sizeof(text), "vivarium 1\ndisk %s\nimage %s\ncreated %" PRId64 "\n",
		 n->disk, n->image, n->created);
	snprintf(tmp, sizeof(tmp), "%s/.new-%s", folders[kind], n->disk);
	err = file_replace(store, tmp, text, strlen(text));
	if (err)
		return err;
	if (linkat(store, tmp, store, to.str, 0) < 0)
		err = -errno;
	unlinkat(store, tmp, 0);
	return err ? err : dir_sync(store, folders[kind]);
}

int named_rename(int store, enum named_kind kind, const char *from, const char *to)
{
	if (!disk_name_is_valid(from))
		return -ENOENT;
	if (!disk_name_is_valid(to))
		return -EINVAL;
	/* musl has no renameat2; 1 is RENAME_NOREPLACE. */
	if (syscall(SYS_renameat2, store, path_of(kind, from).str, store, path_of(kind, to).str,
		    1) < 0)
		return -errno;
	return dir_sync(store, folders[kind]);
}

int named_remove(int store, enum named_kind kind, const char *name)
{
	if (!disk_name_is_valid(name))
		return -ENOENT;
	if (unlinkat(store, path_of(kind, name).str, 0) < 0)
		return -errno;
	return dir_sync(store, folders[kind]);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

int named_list(int store, enum named_kind kind, struct named **ret_list, unsigned *ret_n)
{
	int fd = openat(store, folders[kind], O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct named *list = NULL;
	struct dirent *e;
	unsigned n = 0;

	*ret_list = NULL;
	*ret_n = 0;
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (e = readdir(dir))) {
		struct named one, *more;

		if (!disk_name_is_valid(e->d_name))
			continue;
		err = named_find(store, kind, e->d_name, &one);
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		more = err ? NULL : realloc(list, (n + 1) * sizeof(*list));
		if (!err && !more)
			err = -ENOMEM;
		if (!err) {
			list = more;
			list[n++] = one;
		}
	}
	closedir(dir);
	if (err) {
		free(list);
		return err;
	}
	if (n)
		qsort(list, n, sizeof(*list), by_name);
	*ret_list = list;
	*ret_n = n;
	return 0;
}

int named_collect(int store)
{
	struct named *cells, *volumes;
	char(*roots)[DISK_ID_LEN + 1];
	unsigned ncells, nvolumes;
	int err = named_list(store, NAMED_CELL, &cells, &ncells);

	if (err)
		return err;
	err = named_list(store, NAMED_VOLUME, &volumes, &nvolumes);
	if (err) {
		free(cells);
		return err;
	}
	roots = calloc(ncells + nvolumes + 1, sizeof(*roots));
	for (unsigned i = 0; roots && i < ncells; i++)
		strcpy(roots[i], cells[i].disk);
	for (unsigned i = 0; roots && i < nvolumes; i++)
		strcpy(roots[ncells + i], volumes[i].disk);
	err = roots ? disk_collect(store, roots, ncells + nvolumes) : -ENOMEM;
	free(roots);
	free(cells);
	free(volumes);
	return err;
}
