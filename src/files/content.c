/* viv-files: the bytes of a file, out and in.
 *
 * Only regular files have bytes here: a FIFO would wait for somebody, a device has no end. One that
 * is said to be empty (those of /proc are) is read until it ends. A file that shrinks while it is
 * read is an error, one that grows ends where it ended before.
 *
 * A file is written under no name (O_TMPFILE), or where the file system has none of that, under a
 * name of its own beside its place; when all is there it is renamed: who opens it sees the old one
 * or the new one. With a name, signals that tell of a client's end are ignored meanwhile, as the
 * end of the input tells the same, and what was begun is removed. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files/ops.h"
#include "files/say.h"
#include "files/stored.h"

#define BLOCK (256u << 10)
#define LINKS 40
#define NOREPLACE 1

static char block[BLOCK];

/* ---- reading ---- */

/* A regular file, opened; -errno. */
static int file_open(const char *path, struct stat *st)
{
	int fd, err = 0;

	/* Looked at before it is opened: some devices notice. */
	err = stored_check(path, 0);
	if (err)
		return err;
	if (stat(path, st) < 0)
		return -errno;
	if (!S_ISREG(st->st_mode))
		return S_ISDIR(st->st_mode) ? -EISDIR : -ENOTBLK;
	fd = stored_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	if (fstat(fd, st) < 0)
		err = -errno;
	else if (!S_ISREG(st->st_mode))
		err = -ENOTBLK;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* What of a file of size bytes is wanted; false: nothing of it can be. */
static bool range_find(char **words, uint64_t size, uint64_t *from, uint64_t *length)
{
	uint64_t a = (uint64_t)word_number(words[1], 10, 0);
	uint64_t b = (uint64_t)word_number(words[2], 10, INT64_MAX);

	*from = 0;
	*length = size;
	if (!strcmp(words[0], "all"))
		return true;
	if (!strcmp(words[0], "last")) {
		*length = MIN(a, size);
		*from = size - *length;
		return *length > 0;
	}
	if (a >= size || b < a)
		return false;
	*from = a;
	*length = MIN(b, size - 1) - a + 1;
	return true;
}

static ssize_t some_read(int fd, size_t n, uint64_t at)
{
	ssize_t got;

	do
		got = pread(fd, block, n, (off_t)at);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/* A file without a size: as much as there is. Small ones are told with their size. */
static int unsized_read(int fd, const char *path, struct stat *st, char **words)
{
	struct files_record r = { .length = UINT64_MAX };
	uint64_t at = 0;
	ssize_t n = 0;
	size_t have = 0;

	while (have < BLOCK / 2 && (n = pread(fd, block + have, BLOCK - have, (off_t)have)) > 0)
		have += (size_t)n;
	if (n < 0)
		return error_say(errno, path);
	if (n == 0) {
		st->st_size = (off_t)have;
		if (!range_find(words, have, &r.from, &r.length))
			return error_say_size(ERANGE, path, have);
		record_say(r, st, path, NULL);
		data_say(block + r.from, (size_t)r.length);
		return end_say();
	}
	record_say(r, st, path, NULL);
	data_say(block, have);
	for (at = have; (n = some_read(fd, BLOCK, at)) > 0; at += (uint64_t)n)
		data_say(block, (size_t)n);
	return n < 0 ? error_say((int)-n, path) : end_say();
}

int read_op(char **words)
{
	const char *path = words[0];
	struct files_record r = { 0 };
	struct stat st;
	int fd = file_open(path, &st);

	if (fd < 0)
		return error_say(-fd, path);
	if (!st.st_size || stored_is_made_up(fd))
		return unsized_read(fd, path, &st, words + 1);
	if (!range_find(words + 1, (uint64_t)st.st_size, &r.from, &r.length))
		return error_say_size(ERANGE, path, (uint64_t)st.st_size);
	record_say(r, &st, path, NULL);
	while (r.length) {
		ssize_t n = some_read(fd, (size_t)MIN(r.length, (uint64_t)BLOCK), r.from);

		if (n <= 0)
			return error_say(n < 0 ? (int)-n : ESTALE, path);
		data_say(block, (size_t)n);
		r.from += (uint64_t)n;
		r.length -= (uint64_t)n;
	}
	return end_say();
}

/* ---- writing ---- */

struct target {
	int dir; /* where it is, O_PATH */
	char name[256];
	bool exists;
	struct stat st;
};

/* Where the bytes go: what path is, or what the links lead to that are there, whether that exists
 * or not. */
static int target_find(const char *path, struct target *t)
{
	char text[FILES_LINK + 1];
	int dir = AT_FDCWD, next;

	snprintf(text, sizeof(text), "%s", path);
	if (strlen(path) > FILES_LINK)
		return -ENAMETOOLONG;
	for (int i = 0; i < LINKS; i++) {
		ssize_t n;

		next = parent_open(dir, text, t->name);
		if (dir >= 0)
			close(dir);
		if (next < 0)
			return next;
		dir = next;
		if (!strcmp(t->name, ".") || !strcmp(t->name, ".."))
			return -EISDIR;
		t->dir = dir;
		t->exists = fstatat(dir, t->name, &t->st, AT_SYMLINK_NOFOLLOW) == 0;
		if (!t->exists)
			return errno == ENOENT ? 0 : -errno;
		if (S_ISDIR(t->st.st_mode))
			return -EISDIR;
		if (S_ISREG(t->st.st_mode))
			return 0;
		if (!S_ISLNK(t->st.st_mode))
			return -ENOTBLK;
		n = readlinkat(dir, t->name, text, sizeof(text) - 1);
		if (n <= 0)
			return n < 0 ? -errno : -ENOENT;
		text[n] = '\0';
	}
	return -ELOOP;
}

static void name_make(char *name)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
	unsigned char r[12] = { 0 };

	(void)!getrandom(r, sizeof(r), 0);
	strcpy(name, ".viv-");
	for (unsigned i = 0; i < sizeof(r); i++)
		name[5 + i] = digits[r[i] & 31];
	name[5 + sizeof(r)] = '\0';
}

/* A new file in the target's directory. *named: it has a name already. */
static int temp_open(const struct target *t, char *name, bool *named)
{
	int fd = openat(t->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	name_make(name);
	*named = false;
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd < 0 ? -errno : fd;
	*named = true;
	fd = openat(t->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* Where nothing can be made (/proc), what is there cannot be replaced. */
	return errno == ENOENT && t->exists ? -EPERM : -errno;
}

static int all_write(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int content_take(int fd)
{
	ssize_t n;
	int ret = 0;

	while (ret == 0 && (n = data_hear(block, sizeof(block))) != 0)
		ret = n < 0 ? (int)n : all_write(fd, block, (size_t)n);
	return ret;
}

/* Mode and owner: what was given, else those of the file that is replaced. */
static int attributes_set(int fd, const struct target *t, char **words)
{
	int64_t mode = word_number(words[0], 8, t->exists ? t->st.st_mode & 07777 : 0644);
	int64_t uid = word_number(words[1], 10, t->exists ? (int64_t)t->st.st_uid : -1);
	int64_t gid = word_number(words[2], 10, t->exists ? (int64_t)t->st.st_gid : -1);
	bool given = strcmp(words[1], "-") || strcmp(words[2], "-");

	/* Who may not give a file away keeps it. */
	if ((uid >= 0 || gid >= 0) && fchown(fd, (uid_t)uid, (gid_t)gid) < 0 && given)
		return -errno;
	return fchmod(fd, (mode_t)mode) < 0 ? -errno : 0;
}

static int temp_name(int fd, const struct target *t, const char *name)
{
	char self[40];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, self, t->dir, name, AT_SYMLINK_FOLLOW) == 0 ||
	    linkat(fd, "", t->dir, name, AT_EMPTY_PATH) == 0)
		return 0;
	return -errno;
}

/* While there is a name that would be left. */
static void signals_ignore(void)
{
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
}

int write_op(char **words)
{
	const char *path = words[0];
	struct target t = { 0 };
	char name[32];
	struct stat st;
	bool named, replace = word_is_on(words[4]);
	int fd, ret;

	umask(0);
	ret = word_is_on(words[6]) ? parents_make(path) : 0;
	if (ret == 0)
		ret = target_find(path, &t);
	if (ret == 0 && t.exists && !replace)
		ret = -EEXIST;
	if (ret < 0)
		return error_say(-ret, path);
	fd = temp_open(&t, name, &named);
	if (fd < 0)
		return error_say(-fd, path);
	if (named)
		signals_ignore();
	ret = content_take(fd);
	if (ret == 0)
		ret = attributes_set(fd, &t, words + 1);
	if (ret == 0 && word_is_on(words[5]) && fsync(fd) < 0)
		ret = -errno;
	if (ret == 0 && !named) {
		signals_ignore();
		ret = temp_name(fd, &t, name);
		named = ret == 0;
	}
	if (ret == 0 &&
	    syscall(SYS_renameat2, t.dir, name, t.dir, t.name, replace ? 0 : NOREPLACE) < 0)
		ret = -errno;
	if (ret < 0) {
		if (named)
			unlinkat(t.dir, name, 0);
		return error_say(-ret, path);
	}
	if (word_is_on(words[5])) {
		int dir = openat(t.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (dir >= 0) {
			(void)!fsync(dir);
			close(dir);
		}
	}
	if (fstat(fd, &st) < 0)
		return error_say(errno, path);
	record_say((struct files_record){ .created = !t.exists }, &st, path, NULL);
	return end_say();
}
