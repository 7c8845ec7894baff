/* See journaldir.h. */
#include "cli/journaldir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/utf8.h"
#include "host/journalgone.h"
#include "spec/values.h"
#include "store/store.h"
#include "wire/journalblock.h"

#define META_MAX 65536

int journal_path(const char *id, char *path, size_t size, struct err *e)
{
	char store[4000];
	int n;

	if (store_path(store, sizeof(store), e) < 0)
		return -1;
	n = snprintf(path, size, id ? "%s/journals/%s" : "%s/journals", store, id);
	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_FAILED, "the path of the store is too long");
	return 0;
}

/* ---- one journal ---- */

/* A time as text, or as a number of seconds or nanoseconds. */
static int64_t time_get(const struct json *v, const char *name)
{
	const struct json *n = json_get(v, name, JSON_NUMBER);
	const char *text = json_get_text(v, name);
	int64_t ns = 0;

	if (text && value_instant(text, 0, &ns))
		return ns;
	if (!n)
		return 0;
	ns = strtoll(n->text, NULL, 10);
	return ns < 100 * NSEC_PER_SEC ? ns * NSEC_PER_SEC : ns;
}

static void meta_read(int dir, struct journal_place *j)
{
	int fd = openat(dir, "meta.json", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct json_doc d = { 0 };
	char *text = xalloc(META_MAX);
	ssize_t n = fd < 0 ? -1 : read(fd, text, META_MAX);
	struct err e;

	if (fd >= 0)
		close(fd);
	if (n > 0 && !json_parse(&d, text, (size_t)n, &e)) {
		const char *name = json_get_text(d.root, "name");
		const char *image = json_get_text(d.root, "image");

		if (name)
			text_clean(name, strlen(name), j->name, sizeof(j->name));
		if (image)
			text_clean(image, strlen(image), j->image, sizeof(j->image));
		j->created = time_get(d.root, "created");
		if (!j->created)
			j->created = time_get(d.root, "started");
		j->ended = time_get(d.root, "ended");
		json_free(&d);
	}
	free(text);
}

/* The number of records up to the end of a segment. */
static uint64_t segment_records(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct journal_head h;
	uint64_t records = 0;

	for (off_t at = 0;
	     fd >= 0 && pread(fd, &h, sizeof(h), at) == sizeof(h) && h.magic == JOURNAL_BLOCK_MAGIC;
	     at += BLOCK_SIZE(&h))
		records = h.seq + h.count - 1;
	if (fd >= 0)
		close(fd);
	return records;
}

static bool is_segment(const char *name)
{
	size_t n = strspn(name, "0123456789");

	return n >= 8 && !strcmp(name + n, ".vjs");
}

/* Its size, and what its last segment says. */
static void files_read(int dir, struct journal_place *j)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char last[64] = "";

	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name;
		struct stat st;

		if (!fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			j->size += (uint64_t)st.st_blocks * 512;
		/* A longer number is a larger one. */
		if (is_segment(name) && strlen(name) < sizeof(last) &&
		    (strlen(name) > strlen(last) ||
		     (strlen(name) == strlen(last) && strcmp(name, last) > 0)))
			memcpy(last, name, strlen(name) + 1);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (*last)
		j->records = segment_records(dir, last);
}

static bool is_id(const char *name)
{
	size_t n = strlen(name);

	return n && n < sizeof(((struct journal_place *)0)->id) &&
	       strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") ==
		       n;
}

static bool place_read(int journals, const char *id, struct journal_place *j)
{
	int dir = openat(journals, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (dir < 0)
		return false;
	memset(j, 0, sizeof(*j));
	memcpy(j->id, id, strnlen(id, sizeof(j->id) - 1));
	meta_read(dir, j);
	files_read(dir, j);
	/* Whoever appends has it locked. */
	j->running = flock(dir, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (!j->created && !fstat(dir, &st))
		j->created = st.st_mtim.tv_sec * NSEC_PER_SEC;
	close(dir);
	return true;
}

/* ---- all of them ---- */

static int newest_first(const void *a, const void *b)
{
	const struct journal_place *x = a, *y = b;

	if (x->created != y->created)
		return x->created > y->created ? -1 : 1;
	return strcmp(x->id, y->id);
}

int journal_places(struct buf *ret, struct err *e)
{
	char path[4096];
	struct dirent *entry;
	DIR *d;

	if (journal_path(NULL, path, sizeof(path), e) < 0)
		return -1;
	d = opendir(path);
	if (!d && errno == ENOENT)
		return 0;
	if (!d)
		return err_set(e, ERR_FAILED, "cannot read '%s': %s", path, strerror(errno));
	while ((entry = readdir(d))) {
		struct journal_place j;

		if (is_id(entry->d_name) && place_read(dirfd(d), entry->d_name, &j))
			buf_add(ret, &j, sizeof(j));
	}
	closedir(d);
	if (ret->len)
		qsort(ret->p, BUF_COUNT(ret, struct journal_place), sizeof(struct journal_place),
		      newest_first);
	return 0;
}

int journal_find(const char *cell, struct journal_place *ret, struct err *e)
{
	const struct journal_place *named = NULL, *begun = NULL, *whole = NULL;
	struct buf all = { 0 };
	unsigned nbegun = 0;

	if (journal_places(&all, e) < 0)
		return -1;
	for (size_t i = 0; i < BUF_COUNT(&all, struct journal_place); i++) {
		const struct journal_place *j = BUF_ITEM(&all, struct journal_place, i);

		if (!strcmp(j->id, cell))
			whole = j;
		if (!named && *j->name && !strcmp(j->name, cell))
			named = j;
		if (*cell && !strncmp(j->id, cell, strlen(cell))) {
			begun = j;
			nbegun++;
		}
	}
	if (!whole)
		whole = named ? named : nbegun == 1 ? begun : NULL;
	if (whole)
		*ret = *whole;
	buf_free(&all);
	if (whole)
		return 0;
	if (nbegun > 1)
		return err_set(e, ERR_AMBIGUOUS,
			       "'%s' is the beginning of the ids of %u journals" REMEDY
			       "'viv journal ls' lists them",
			       cell, nbegun);
	return err_set(e, ERR_NOT_FOUND,
		       "there is no journal of a cell '%s'" REMEDY
		       "'viv journal ls' lists those that there are; --journal off makes none",
		       cell);
}

static int files_remove(int dir, struct err *e)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int rc = 0;

	if (!d) {
		rc = err_set(e, ERR_FAILED, "cannot read it: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return rc;
	}
	/* A sealer may remove a raw file at the same time. */
	while (!rc && (entry = readdir(d)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    unlinkat(dir, entry->d_name, 0) < 0 && errno != ENOENT)
			rc = err_set(e, ERR_FAILED, "cannot remove %s: %s", entry->d_name,
				     strerror(errno));
	closedir(d);
	return rc;
}

int journal_remove(const struct journal_place *j, struct err *e)
{
	char path[4096];
	bool gone = false;
	int dir, all, rc;

	if (journal_path(j->id, path, sizeof(path), e) < 0)
		return -1;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir < 0)
		return err_set(e, ERR_FAILED, "cannot open the journal '%s': %s", path,
			       strerror(errno));
	if (flock(dir, LOCK_EX | LOCK_NB) < 0) {
		rc = errno == EWOULDBLOCK
			     ? err_set(e, ERR_IN_USE,
				       "the journal of cell %s is being written" REMEDY
				       "stop the cell first",
				       j->id)
			     : err_set(e, ERR_FAILED, "cannot lock the journal '%s': %s", path,
				       strerror(errno));
		close(dir);
		return rc;
	}
	all = openat(dir, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A sealer that is at work may make a file in between. */
	for (int i = 0; i < 4; i++) {
		rc = files_remove(dir, e);
		gone = !rc && rmdir(path) == 0;
		if (rc || gone || errno != ENOTEMPTY)
			break;
	}
	if (!rc && !gone)
		rc = err_set(e, ERR_FAILED, "cannot remove it: %s", strerror(errno));
	if (gone && all >= 0)
		journal_gone_note(all, j->id, "asked");
	if (all >= 0)
		close(all);
	if (rc < 0)
		err_wrap_note(e, "cannot remove the journal '%s'", path);
	close(dir);
	return rc;
}
