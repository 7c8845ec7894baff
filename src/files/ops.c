/* viv-files: what is done to names: stat, list, mkdir, move, remove. */
#include "files/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files/say.h"
#include "files/stored.h"
#include "files/walk.h"

#define NOREPLACE 1 /* RENAME_NOREPLACE, which not every libc has */
#define AGAIN_MAX 1000

int64_t word_number(const char *word, int base, int64_t other)
{
	return strcmp(word, "-") ? strtoll(word, NULL, base) : other;
}

bool word_is_on(const char *word)
{
	return !strcmp(word, "1");
}

int parent_open(int dir, const char *path, char *name)
{
	const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
	size_t n = slash ? (size_t)(slash - path) : 0;
	char *above;
	int fd;

	if (strlen(last) > 255)
		return -ENAMETOOLONG;
	strcpy(name, *last ? last : ".");
	if (!slash)
		return (fd = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0 ? -errno : fd;
	above = strndup(path, n ? n : 1);
	if (!above)
		return -ENOMEM;
	fd = openat(dir, above, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	free(above);
	return fd;
}

/* ---- looking ---- */

static void entry_say(int dir, const char *name, const char *path, const struct stat *st)
{
	char target[FILES_LINK + 1];
	ssize_t n = S_ISLNK(st->st_mode) ? readlinkat(dir, name, target, FILES_LINK) : 0;

	target[MAX(n, 0)] = '\0';
	record_say((struct files_record){ 0 }, st, path, n > 0 ? target : NULL);
}

int stat_op(char **words)
{
	bool follow = word_is_on(words[1]);
	int err = stored_check(words[0], follow ? 0 : O_NOFOLLOW);
	struct stat st;

	if (err)
		return error_say(-err, words[0]);
	if (fstatat(AT_FDCWD, words[0], &st, follow ? 0 : AT_SYMLINK_NOFOLLOW) < 0)
		return error_say(errno, words[0]);
	entry_say(AT_FDCWD, words[0], words[0], &st);
	return end_say();
}

static int list_step(void *arg, const struct walk_entry *e, enum walk_when when)
{
	const bool *recursive = arg;

	if (when == WALK_ERROR && e->depth == 0)
		return -e->err;
	if (when == WALK_ERROR)
		record_say((struct files_record){ .error = e->err }, NULL, e->path, NULL);
	else if (when == WALK_AT && e->depth)
		entry_say(e->dir, e->name, e->path, &e->st);
	return when == WALK_AT && e->depth && !*recursive ? WALK_SKIP : 0;
}

int list_op(char **words)
{
	bool recursive = word_is_on(words[1]);
	/* A link to a directory is one here, as for ls. */
	int dir = stored_open(words[0], O_PATH | O_DIRECTORY | O_CLOEXEC), ret;

	if (dir < 0)
		return error_say(-dir, words[0]);
	ret = walk_tree(dir, ".", words[0], list_step, &recursive);
	return ret < 0 ? error_say(-ret, words[0]) : end_say();
}

/* ---- changing ---- */

static int attributes_set(int dir, const char *name, mode_t mode, int64_t uid, int64_t gid)
{
	if ((uid >= 0 || gid >= 0) &&
	    fchownat(dir, name, (uid_t)uid, (gid_t)gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return fchmodat(dir, name, mode, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

int parents_make(const char *path)
{
	char *copy = strdup(path);
	int ret = 0;

	if (!copy)
		return -ENOMEM;
	for (char *p = copy + 1; ret == 0 && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			ret = -errno;
		*p = '/';
	}
	free(copy);
	return ret;
}

int mkdir_op(char **words)
{
	const char *path = words[0];
	bool parents = word_is_on(words[1]), made = true;
	mode_t mode = (mode_t)word_number(words[2], 8, 0755);
	struct stat st;
	int ret = parents ? parents_make(path) : 0;

	umask(0);
	if (ret == 0 && mkdir(path, mode) < 0)
		ret = -errno;
	/* With its parents it may be there, as for mkdir -p. */
	if (ret == -EEXIST && parents && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
		made = false;
		ret = 0;
	}
	if (ret == 0 && made)
		ret = attributes_set(AT_FDCWD, path, mode, word_number(words[3], 10, -1),
				     word_number(words[4], 10, -1));
	if (ret == 0 && stat(path, &st) < 0)
		ret = -errno;
	if (ret < 0)
		return error_say(-ret, path);
	record_say((struct files_record){ .created = made }, &st, path, NULL);
	return end_say();
}

int move_op(char **words)
{
	const char *from = words[0], *to = words[1];
	struct stat st;

	if (lstat(from, &st) < 0)
		return error_say(errno, from);
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
		    word_is_on(words[2]) ? 0 : NOREPLACE) < 0)
		return error_say(errno, errno == EXDEV ? from : to);
	if (lstat(to, &st) < 0)
		return error_say(errno, to);
	entry_say(AT_FDCWD, to, to, &st);
	return end_say();
}

struct removal {
	unsigned again;
	bool changed; /* something was removed since the last directory was begun again */
	int err;
	char about[FILES_TEXT];
};

static int removal_failed(struct removal *r, const struct walk_entry *e, int err)
{
	if (err == ENOENT)
		return 0;
	snprintf(r->about, sizeof(r->about), "%s", e->path);
	return -err;
}

static int removal_step(void *arg, const struct walk_entry *e, enum walk_when when)
{
	struct removal *r = arg;

	if (when == WALK_ERROR)
		return removal_failed(r, e, e->err);
	if (when == WALK_AT && S_ISDIR(e->st.st_mode))
		return 0;
	if (unlinkat(e->dir, e->name, when == WALK_LEAVE ? AT_REMOVEDIR : 0) == 0) {
		r->changed = true;
		return 0;
	}
	/* Somebody adds to it, or the reading of a directory that shrinks left some out. */
	if (when == WALK_LEAVE && (errno == ENOTEMPTY || errno == EEXIST) && r->changed &&
	    r->again++ < AGAIN_MAX) {
		r->changed = false;
		return WALK_AGAIN;
	}
	return removal_failed(r, e, errno);
}

int remove_op(char **words)
{
	static struct removal r;
	size_t n = strlen(words[0]);
	char name[256];
	struct stat st;
	int dir, ret;

	if (lstat(words[0], &st) < 0)
		return error_say(errno, words[0]);
	if (n > 1 && words[0][n - 1] == '/') {
		while (n > 1 && words[0][n - 1] == '/')
			words[0][--n] = '\0';
		/* What is behind a link is not removed in its place. */
		if (lstat(words[0], &st) < 0 || !S_ISDIR(st.st_mode))
			return error_say(ENOTDIR, words[0]);
	}
	if (!S_ISDIR(st.st_mode) || !word_is_on(words[1])) {
		ret = S_ISDIR(st.st_mode) ? rmdir(words[0]) : unlink(words[0]);
		return ret < 0 ? error_say(errno, words[0]) : end_say();
	}
	dir = parent_open(AT_FDCWD, words[0], name);
	if (dir < 0)
		return error_say(-dir, words[0]);
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return error_say(EBUSY, words[0]);
	ret = walk_tree(dir, name, words[0], removal_step, &r);
	return ret < 0 ? error_say(-ret, r.about[0] ? r.about : words[0]) : end_say();
}
