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

/* ---- making ---- */

static struct named_path path_draft(enum named_kind kind, const struct named *n)
{
	struct named_path p;

	snprintf(p.str, sizeof(p.str), "%s/.new-%s", folders[kind], n->disk);
	return p;
}

/* Written beside, then linked: it is there whole, and never in place of another. */
static int named_draft(int store, enum named_kind kind, const struct named *n)
{
	char text[FILE_MAX];

	if (!disk_name_is_valid(n->name))
		return -EINVAL;
	if (mkdirat(store, folders[kind], 0700) < 0 && errno != EEXIST)
		return -errno;
	snprintf(text, sizeof(text), "vivarium 1\ndisk %s\nimage %s\ncreated %" PRId64 "\n",
		 n->disk, n->image, n->created);
	return file_draft(store, path_draft(kind, n).str, text, strlen(text));
}

static int named_publish(int store, enum named_kind kind, const struct named *n)
{
	struct named_path tmp = path_draft(kind, n);
	int err = 0;

	if (linkat(store, tmp.str, store, path_of(kind, n->name).str, 0) < 0)
		err = -errno;
	unlinkat(store, tmp.str, 0);
	return err;
}

int named_add(int store, enum named_kind kind, const struct named *n)
{
	int err = named_draft(store, kind, n);

	if (!err)
		err = file_sync(store, path_draft(kind, n).str);
	if (!err)
		err = named_publish(store, kind, n);
	return err ? err : dir_sync(store, folders[kind]);
}

/* Both are written and synced where nobody sees them, then put in their places, first the disk: two
 * transactions of the host. Journals keep the order, so a name that is on the host's disk leads to
 * a disk that is, too. */
int named_create(int store, enum named_kind kind, struct named *n, const struct layer_ref *parent,
		 struct disk *d)
{
	int err = disk_draft(store, n->image, parent, d);

	if (err)
		return err;
	strcpy(n->disk, d->id);
	err = named_draft(store, kind, n);
	if (!err)
		err = sync_all((struct sync_item[]){ { d->dir, "tree" },
						     { d->dir, "." },
						     { store, path_draft(kind, n).str } },
			       3);
	if (!err)
		err = disk_publish(store, d);
	if (err) {
		unlinkat(store, path_draft(kind, n).str, 0);
		disk_discard(store, d);
		return err;
	}
	err = named_publish(store, kind, n);
	if (err) {
		(void)disk_remove(store, d);
		return err;
	}
	err = sync_all((struct sync_item[]){ { store, "disks" }, { store, folders[kind] } }, 2);
	if (err)
		disk_close(d);
	return err;
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

static int name_compare(const void *name, const void *n)
{
	return strcmp(name, ((const struct named *)n)->name);
}

const struct named *named_in(const struct named *list, unsigned n, const char *name)
{
	return n ? bsearch(name, list, n, sizeof(*list), name_compare) : NULL;
}

/* A file is never changed, but its name may go and lead to another one. */
static int named_again(int store, int dir, enum named_kind kind, const char *name,
		       const struct named *before, struct named *ret)
{
	struct stat st;
	int64_t changed;
	int err;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	changed = st.st_ctim.tv_sec * NSEC_PER_SEC + st.st_ctim.tv_nsec;
	if (before && before->file.inode == st.st_ino && before->file.changed == changed) {
		*ret = *before;
		return 0;
	}
	err = named_find(store, kind, name, ret);
	ret->file.inode = st.st_ino;
	ret->file.changed = changed;
	return err;
}

int named_list_again(int store, enum named_kind kind, struct named **list, unsigned *n)
{
	int fd = openat(store, folders[kind], O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct named *now = NULL;
	struct dirent *e;
	unsigned nnow = 0;

	if (!dir && errno != ENOENT)
		return -errno;
	while (dir && !err && (e = readdir(dir))) {
		struct named one, *more;

		if (!disk_name_is_valid(e->d_name))
			continue;
		err = named_again(store, fd, kind, e->d_name, named_in(*list, *n, e->d_name), &one);
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		more = err ? NULL : realloc(now, (nnow + 1) * sizeof(*now));
		if (!err && !more)
			err = -ENOMEM;
		if (!err) {
			now = more;
			now[nnow++] = one;
		}
	}
	if (dir)
		closedir(dir);
	if (err) {
		free(now);
		return err;
	}
	if (nnow)
		qsort(now, nnow, sizeof(*now), by_name);
	free(*list);
	*list = now;
	*n = nnow;
	return 0;
}

int named_list(int store, enum named_kind kind, struct named **ret_list, unsigned *ret_n)
{
	*ret_list = NULL;
	*ret_n = 0;
	return named_list_again(store, kind, ret_list, ret_n);
}

/* What somebody left who was killed while he made a name. */
static void drafts_remove(int store, enum named_kind kind)
{
	int fd = openat(store, folders[kind], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir)))
		if (!strncmp(e->d_name, ".new-", 5))
			unlinkat(fd, e->d_name, 0);
	closedir(dir);
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
	drafts_remove(store, NAMED_CELL);
	drafts_remove(store, NAMED_VOLUME);
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
