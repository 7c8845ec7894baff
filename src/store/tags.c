/* Tags: a file each, with the hash of an image and a newline. A tag is replaced by a rename, so a
 * reader sees the old one or the new one. */
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME_MAX 256

bool hash_is_valid(const char *hash)
{
	return strlen(hash) == HASH_TEXT - 1 && strspn(hash, "0123456789abcdef") == HASH_TEXT - 1;
}

/* "tags/NAME" with %2F for '/'. */
static bool file_name(const char *tag, char *out)
{
	size_t at = strlen(strcpy(out, "tags/")), start = at;

	for (; *tag; tag++) {
		if (at - start >= FILE_NAME_MAX - 4)
			return false;
		if (*tag == '/')
			at += (size_t)sprintf(out + at, "%%2F");
		else
			out[at++] = *tag;
	}
	out[at] = '\0';
	return true;
}

bool tag_is_valid(const char *name)
{
	char file[FILE_NAME_MAX + 8];
	bool sound = *name && strchr("._-:/+", *name) == NULL && strlen(name) <= TAG_MAX;

	for (const char *p = name; sound && *p; p++)
		sound = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			(*p >= '0' && *p <= '9') || strchr("._-:/+", *p);
	return sound && !strstr(name, "..") && !strstr(name, "//") &&
	       name[strlen(name) - 1] != '/' && strcmp(name, "host") && !hash_is_valid(name) &&
	       file_name(name, file);
}

static int tag_invalid(const char *name, struct err *e)
{
	return err_set(
		e, ERR_USAGE,
		strcmp(name, "host")
			? "'%s' cannot be a tag: letters, digits and . _ - : / + are allowed, a "
			  "letter or digit first, at most 128"
			: "'%s' cannot be a tag: it is the image that shows the host's files",
		name);
}

/* The hash in a file of tags; false when there is none. errno is that of the host. */
static bool tag_read(int dir, const char *file, char hash[HASH_TEXT])
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, hash, HASH_TEXT);
	close(fd);
	errno = EBADMSG;
	if (n != HASH_TEXT || hash[HASH_TEXT - 1] != '\n')
		return false;
	hash[HASH_TEXT - 1] = '\0';
	return hash_is_valid(hash);
}

int tag_get(const struct store *s, const char *name, char hash[HASH_TEXT], struct err *e)
{
	char file[FILE_NAME_MAX + 8];

	if (!tag_is_valid(name) || !file_name(name, file))
		return tag_invalid(name, e);
	if (tag_read(s->fd, file, hash))
		return 0;
	if (errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND,
			       "there is no tag '%s'" REMEDY "'viv image ls' lists them", name);
	return err_set(e, ERR_FAILED, "the tag '%s' is damaged (%s/%s)" REMEDY "set it anew", name,
		       s->path, file);
}

int tag_set(const struct store *s, const char *name, const char *hash, struct err *e)
{
	char file[FILE_NAME_MAX + 8], text[HASH_TEXT + 1];
	struct work w;
	int fd, dir, n;

	if (!tag_is_valid(name) || !file_name(name, file))
		return tag_invalid(name, e);
	dir = store_dir(s, "tags");
	if (dir < 0)
		return err_set(e, ERR_FAILED, "cannot make '%s/tags': %s", s->path,
			       strerror(errno));
	if (work_new(s, &w, e) < 0) {
		close(dir);
		return -1;
	}
	n = snprintf(text, sizeof(text), "%s\n", hash);
	fd = openat(w.fd, "tag", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, (size_t)n) != n || fsync(fd) < 0 ||
	    renameat(w.fd, "tag", s->fd, file) < 0 || fsync(dir) < 0) {
		n = err_set(e, ERR_FAILED, "cannot write '%s/%s': %s", s->path, file,
			    strerror(errno));
	} else {
		n = 0;
	}
	if (fd >= 0)
		close(fd);
	close(dir);
	work_free(s, &w);
	return n;
}

int tag_remove(const struct store *s, const char *name, struct err *e)
{
	char file[FILE_NAME_MAX + 8];

	if (!tag_is_valid(name) || !file_name(name, file))
		return tag_invalid(name, e);
	if (unlinkat(s->fd, file, 0) == 0)
		return 0;
	if (errno == ENOENT)
		return err_set(e, ERR_NOT_FOUND, "there is no tag '%s'", name);
	return err_set(e, ERR_FAILED, "cannot remove '%s/%s': %s", s->path, file, strerror(errno));
}

static int tag_compare(const void *a, const void *b)
{
	return strcmp(((const struct tag *)a)->name, ((const struct tag *)b)->name);
}

/* The name of a tag from that of its file. */
static bool tag_name(const char *file, char *name)
{
	size_t n = 0;

	for (const char *p = file; *p; p++) {
		if (n == TAG_MAX)
			return false;
		if (!strncmp(p, "%2F", 3)) {
			name[n++] = '/';
			p += 2;
		} else {
			name[n++] = *p;
		}
	}
	name[n] = '\0';
	return tag_is_valid(name);
}

static bool tag_take(int dir, const char *file, void *entry)
{
	struct tag *t = entry;

	return tag_name(file, t->name) && tag_read(dir, file, t->hash);
}

int tag_list(const struct store *s, struct tag **ret, size_t *ret_n, struct err *e)
{
	void *list;
	int r = store_list(s, "tags", sizeof(**ret), tag_take, tag_compare, &list, ret_n, e);

	*ret = list;
	return r;
}

static bool name_take(int dir, const char *file, void *entry)
{
	(void)dir;
	return tag_name(file, entry);
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

int tag_name_list(const struct store *s, char (**ret)[TAG_MAX + 1], size_t *ret_n, struct err *e)
{
	void *list;
	int r = store_list(s, "tags", sizeof(**ret), name_take, name_compare, &list, ret_n, e);

	*ret = list;
	return r;
}
