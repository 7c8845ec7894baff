/* See runspec.h. */
#include "store/runspec.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

#define FILE_NAME "run.json"

/* Not synced, which would double the time of a start: after a power cut it may be the one before,
 * or one that is refused, and the cell starts without a command. */
int runspec_write(const struct disk *d, const char *text, size_t size)
{
	char *before = NULL;
	size_t n = 0;
	bool same;
	int err;

	if (!size)
		return unlinkat(d->dir, FILE_NAME, 0) < 0 && errno != ENOENT ? -errno : 0;
	if (size > RUNSPEC_MAX)
		return -EFBIG;
	same = file_read_all(d->dir, FILE_NAME, RUNSPEC_MAX, &before, &n) == 0 && n == size &&
	       !memcmp(before, text, size);
	free(before);
	if (same)
		return 0;
	/* Whoever has the disk locked is the only one who writes it. */
	err = file_draft(d->dir, FILE_NAME ".new", text, size);
	if (!err && renameat(d->dir, FILE_NAME ".new", d->dir, FILE_NAME) < 0)
		err = -errno;
	if (err)
		unlinkat(d->dir, FILE_NAME ".new", 0);
	return err;
}

static int64_t stamp_of(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * NSEC_PER_SEC + st->st_mtim.tv_nsec;
}

int runspec_read(int store, const char *disk, int64_t *stamp, char **ret)
{
	char path[8 + DISK_ID_LEN];
	struct stat st;
	int dir, fd, err = 0;

	*ret = NULL;
	snprintf(path, sizeof(path), "disks/%s", disk);
	dir = openat(store, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return -errno;
	fd = file_open(dir, FILE_NAME);
	close(dir);
	if (fd < 0)
		return fd == -ELOOP ? -EPERM : fd;
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (st.st_uid != geteuid() || (st.st_mode & 077))
		err = -EPERM;
	if (!err && stamp_of(&st) != *stamp)
		err = file_read_fd(fd, RUNSPEC_MAX, ret, NULL);
	else
		close(fd);
	if (!err)
		*stamp = stamp_of(&st);
	return err;
}
