/* Finding, opening and removing images. An open image is locked: its directory stays until the last
 * one who uses it has closed it. */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

#define PREFIX_MIN 6
#define TREE_MAX (64 << 20) /* of the list of a disk's layers */

static int hash_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static bool hash_take(int dir, const char *file, void *entry)
{
	(void)dir;
	if (!hash_is_valid(file))
		return false;
	memcpy(entry, file, HASH_TEXT);
	return true;
}

int image_list(const struct store *s, char (**ret)[HASH_TEXT], size_t *ret_n, struct err *e)
{
	void *list;
	int r = store_list(s, "images", sizeof(**ret), hash_take, hash_compare, &list, ret_n, e);

	*ret = list;
	return r;
}

static bool image_exists(const struct store *s, const char *hash)
{
	char path[HASH_TEXT + 16];

	snprintf(path, sizeof(path), "images/%s", hash);
	return faccessat(s->fd, path, F_OK, 0) == 0;
}

static int find_prefix(const struct store *s, const char *name, char hash[HASH_TEXT], struct err *e)
{
	char(*list)[HASH_TEXT];
	size_t n, found = 0, len = strlen(name);

	if (image_list(s, &list, &n, e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (!strncmp(list[i], name, len) && !found++)
			strcpy(hash, list[i]);
	free(list);
	if (found > 1)
		return err_set(e, ERR_CONFLICT,
			       "%zu images have a hash that starts with '%s'" REMEDY
			       "give more of it",
			       found, name);
	return found ? 0
		     : err_set(e, ERR_NOT_FOUND,
			       "there is no image '%s'" REMEDY "'viv image ls' lists them", name);
}

int image_find(const struct store *s, const char *name, char hash[HASH_TEXT], struct err *e)
{
	size_t len;

	/* A tag comes first: somebody chose it. */
	if (tag_is_valid(name)) {
		if (tag_get(s, name, hash, e) == 0) {
			if (image_exists(s, hash))
				return 0;
			return err_set(e, ERR_NOT_FOUND,
				       "the tag '%s' names the image %.12s, which is not there any "
				       "more" REMEDY "import it again",
				       name, hash);
		}
		if (e->kind != ERR_NOT_FOUND)
			return -1;
	}
	if (!strncmp(name, "sha256:", 7))
		name += 7;
	len = strlen(name);
	if (len >= PREFIX_MIN && len < HASH_TEXT && strspn(name, "0123456789abcdef") == len)
		return find_prefix(s, name, hash, e);
	return err_set(e, ERR_NOT_FOUND,
		       "there is no image '%s'" REMEDY "'viv image ls' lists them", name);
}

static int image_map(struct image *i)
{
	int fd = openat(i->dir, "index", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	int err;

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) < 0 ? -errno : 0;
	if (!err && (!S_ISREG(st.st_mode) || !st.st_size))
		err = -EBADMSG;
	if (!err) {
		i->map_size = (size_t)st.st_size;
		i->map = mmap(NULL, i->map_size, PROT_READ, MAP_SHARED, fd, 0);
		if (i->map == MAP_FAILED) {
			i->map = NULL;
			err = -errno;
		}
	}
	close(fd);
	return err ? err : index_open(i->map, i->map_size, &i->ix);
}

#define IMAGE_PATH (HASH_TEXT + 16)

/* Opens an image's directory, not locked yet; path is what it is called in the store. */
static int image_dir(const struct store *s, const char *hash, char path[IMAGE_PATH], struct err *e)
{
	int fd;

	snprintf(path, IMAGE_PATH, "images/%s", hash);
	fd = openat(s->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			"cannot open the image %.12s: %s", hash, strerror(errno));
	return fd;
}

int image_hold(const struct store *s, const char *hash, struct err *e)
{
	char path[IMAGE_PATH];
	int dir = image_dir(s, hash, path, e);

	if (dir < 0)
		return -1;
	/* Who removes it has it locked until nothing is left of it. */
	if (flock(dir, LOCK_SH | LOCK_NB) == 0 && file_is_still(s->fd, path, dir))
		return dir;
	close(dir);
	return err_set(e, ERR_CONFLICT, "the image %.12s is being removed", hash);
}

int image_open(const struct store *s, const char *name, struct image *ret, struct err *e)
{
	int err;

	*ret = (struct image){ .dir = -1 };
	if (image_find(s, name, ret->hash, e) < 0)
		return -1;
	ret->dir = image_hold(s, ret->hash, e);
	if (ret->dir < 0)
		return -1;
	err = image_map(ret);
	if (err) {
		image_close(ret);
		return err_set(e, ERR_FAILED,
			       err == -EBADMSG || err == -ENOENT
				       ? "the image '%s' is damaged: its index is not "
					 "whole" REMEDY "remove it and import it again"
				       : "cannot read the index of the image '%s': %s",
			       name, strerror(-err));
	}
	return 0;
}

void image_close(struct image *i)
{
	if (i->map)
		munmap(i->map, i->map_size);
	if (i->dir >= 0)
		close(i->dir);
	i->map = NULL;
	i->dir = -1;
}

/* Whether a disk's list of layers names the image. Lists that cannot be read count as a yes. */
static bool disk_uses(int disks, const char *id, const char *hash)
{
	char path[512];
	struct stat st;
	char *text;
	bool uses = true;
	int fd;

	snprintf(path, sizeof(path), "%s/tree", id);
	fd = openat(disks, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (fstat(fd, &st) == 0 && st.st_size <= TREE_MAX) {
		text = malloc((size_t)st.st_size + 1);
		if (text && read(fd, text, (size_t)st.st_size) == st.st_size)
			uses = memmem(text, (size_t)st.st_size, hash, HASH_TEXT - 1) != NULL;
		free(text);
	}
	close(fd);
	return uses;
}

static bool disks_use(const struct store *s, const char *hash, char *id, size_t size)
{
	int fd = openat(s->fd, "disks", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *de;
	bool uses = false;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!uses && (de = readdir(d)))
		if (de->d_name[0] != '.' && disk_uses(fd, de->d_name, hash)) {
			uses = true;
			snprintf(id, size, "%s", de->d_name);
		}
	closedir(d);
	return uses;
}

int image_seize(const struct store *s, const char *hash, struct err *e)
{
	char path[IMAGE_PATH], disk[256];
	int fd = image_dir(s, hash, path, e);

	if (fd < 0)
		return -1;
	/* Held until all of it is removed: who opens it now fails, who had it open made us fail. */
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		err_set(e, ERR_CONFLICT, "the image %.12s is in use" REMEDY "end its cells first",
			hash);
	else if (!file_is_still(s->fd, path, fd))
		err_set(e, ERR_NOT_FOUND, "the image %.12s was removed", hash);
	else if (disks_use(s, hash, disk, sizeof(disk)))
		err_set(e, ERR_CONFLICT,
			"the image %.12s is the base of the disk %s" REMEDY "remove that first",
			hash, disk);
	else
		return fd;
	close(fd);
	return -1;
}

int image_discard(const struct store *s, const char *hash, int fd, struct err *e)
{
	char path[HASH_TEXT + 16];
	struct work w;

	snprintf(path, sizeof(path), "images/%s", hash);
	if (work_adopt(s, &w, path, fd) < 0) {
		err_set(e, ERR_FAILED, "cannot remove '%s/%s': %s", s->path, path, strerror(errno));
		close(fd);
		return -1;
	}
	work_free(s, &w);
	return 0;
}

int image_remove(const struct store *s, const char *hash, struct err *e)
{
	int fd = image_seize(s, hash, e);

	return fd < 0 ? -1 : image_discard(s, hash, fd, e);
}
