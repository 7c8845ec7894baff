/* Looking through all journals (tend.h), at most once an hour: where no vivd runs, this is what
 * keeps 'viv run' from filling the disk with them. vivd does it each minute, and then it is never
 * due here.
 *
 * What a killed run left in raw files and rings becomes part of its journal. Then journals beyond
 * the limits go, the oldest first: renamed, so that nobody finds half of one, and removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "host/journalgone.h"
#include "journal/files.h"
#include "journal/journal.h"
#include "journal/limits.h"
#include "journal/tend.h"

#define EVERY (3600 * NSEC_PER_SEC)
#define QUIET (60 * NSEC_PER_SEC) /* what was written since then is its sealer's */

struct found {
	char id[JOURNAL_NAME_MAX];
	int64_t written;
	uint64_t bytes;
	bool left; /* something that is not sealed */
};

static int64_t now_wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static bool is_id(const char *name)
{
	size_t n = strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz");

	return n && n < JOURNAL_NAME_MAX && !name[n];
}

static void look(int dir, struct found *f)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, "..") ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		f->bytes += (uint64_t)st.st_blocks * 512;
		f->written = MAX(f->written, st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec);
		f->left |= !strncmp(e->d_name, "raw.", 4) || !strncmp(e->d_name, "ring.", 5);
	}
	if (d)
		closedir(d);
}

/* False: it is none, or is being written. */
static bool journal_find(int journals, const char *id, int64_t now, struct found *ret)
{
	int dir = journal_dir_open_at(journals, id);
	const struct buf nothing = { 0 };
	bool idle;
	struct err e;

	if (dir < 0)
		return false;
	memset(ret, 0, sizeof(*ret));
	snprintf(ret->id, sizeof(ret->id), "%.*s", JOURNAL_NAME_MAX - 1, id);
	idle = flock(dir, LOCK_EX | LOCK_NB) == 0;
	if (idle) {
		look(dir, ret);
		flock(dir, LOCK_UN);
	}
	if (idle && ret->left && now - ret->written > QUIET)
		(void)!journal_append(dir, id, &nothing, &e);
	close(dir);
	return idle;
}

static void journal_remove_one(int journals, const char *id, const char *reason)
{
	int dir = journal_dir_open_at(journals, id), fd;
	char gone[JOURNAL_NAME_MAX + 16];
	struct dirent *e;
	DIR *d;

	if (dir < 0)
		return;
	snprintf(gone, sizeof(gone), ".removed.%s", id);
	/* Whoever appends has it locked. */
	if (flock(dir, LOCK_EX | LOCK_NB) == 0 && renameat(journals, id, journals, gone) == 0) {
		journal_gone_note(journals, id, reason);
		fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		d = fd < 0 ? NULL : fdopendir(fd);
		while (d && (e = readdir(d)))
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				(void)!unlinkat(dir, e->d_name, 0);
		if (d)
			closedir(d);
		(void)!unlinkat(journals, gone, AT_REMOVEDIR);
	}
	close(dir);
}

static void journals_find(int journals, int64_t now, struct buf *ret)
{
	int fd = openat(journals, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct found f;

	if (!d && fd >= 0)
		close(fd);
	while (d && (e = readdir(d)))
		if (is_id(e->d_name) && journal_find(journals, e->d_name, now, &f))
			buf_add(ret, &f, sizeof(f));
	if (d)
		closedir(d);
}

void journals_sweep(int journals)
{
	struct journal_limits l = JOURNAL_LIMITS;
	struct buf found = { 0 }, aged = { 0 };
	int64_t now = now_wall(), at = 0;
	size_t gone;
	struct err e;

	if (limits_read(journals, &l, &at) && at <= now && now - at < EVERY)
		return;
	/* A limit that cannot be read removes nothing. */
	if (limits_environment(&l, &e) < 0)
		return;
	limits_write(journals, &l);
	journals_find(journals, now, &found);
	for (size_t i = 0; i < BUF_COUNT(&found, struct found); i++) {
		const struct found *f = BUF_ITEM(&found, struct found, i);

		buf_add(&aged, &(struct journal_aged){ i, f->written, f->bytes },
			sizeof(struct journal_aged));
	}
	gone = limits_exceeded((struct journal_aged *)(void *)aged.p,
			       BUF_COUNT(&aged, struct journal_aged), &l, now);
	for (size_t i = 0; i < gone; i++) {
		const struct journal_aged *a = BUF_ITEM(&aged, struct journal_aged, i);

		journal_remove_one(journals, BUF_ITEM(&found, struct found, a->index)->id,
				   l.age && now - a->written > l.age ? "age" : "size");
	}
	buf_free(&found);
	buf_free(&aged);
}
