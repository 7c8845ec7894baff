/* Directories for work in progress. A maker holds a lock on its directory for as long as it lives,
 * so one without a lock belongs to nobody and whoever finds it removes it. */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"

static bool name_make(struct work *w)
{
	uint64_t random = 0;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return false;
	snprintf(w->name, sizeof(w->name), "tmp/%d.%016llx", getpid(), (unsigned long long)random);
	return true;
}

int work_new(const struct store *s, struct work *w, struct err *e)
{
	int tmp = store_dir(s, "tmp");

	w->fd = -1;
	if (tmp < 0)
		return err_set(e, ERR_FAILED, "cannot make '%s/tmp': %s", s->path, strerror(errno));
	close(tmp);
	for (unsigned tries = 0; tries < 100; tries++) {
		if (!name_make(w))
			continue;
		if (mkdirat(s->fd, w->name, 0700) < 0) {
			if (errno == EEXIST)
				continue;
			break;
		}
		w->fd = openat(s->fd, w->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		/* Somebody who collects may have come between; then it is gone or going. */
		if (w->fd >= 0 && flock(w->fd, LOCK_EX | LOCK_NB) == 0 &&
		    file_is_still(s->fd, w->name, w->fd))
			return 0;
		if (w->fd >= 0)
			close(w->fd);
		else
			unlinkat(s->fd, w->name, AT_REMOVEDIR);
		w->fd = -1;
	}
	return err_set(e, ERR_FAILED, "cannot make a directory in '%s/tmp': %s", s->path,
		       strerror(errno));
}

int work_adopt(const struct store *s, struct work *w, const char *path, int fd)
{
	int tmp = store_dir(s, "tmp");

	if (tmp < 0)
		return -1;
	close(tmp);
	do {
		while (!name_make(w))
			;
	} while (faccessat(s->fd, w->name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	if (renameat(s->fd, path, s->fd, w->name) < 0)
		return -1;
	w->fd = fd;
	return 0;
}

void work_free(const struct store *s, struct work *w)
{
	if (w->fd < 0)
		return;
	if (file_is_still(s->fd, w->name, w->fd))
		tree_remove(s->fd, w->name);
	close(w->fd);
	w->fd = -1;
}

unsigned work_collect(const struct store *s)
{
	int tmp = openat(s->fd, "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = tmp < 0 ? NULL : fdopendir(tmp);
	struct dirent *de;
	unsigned n = 0;

	if (!d) {
		if (tmp >= 0)
			close(tmp);
		return 0;
	}
	while ((de = readdir(d))) {
		int fd;

		if (de->d_name[0] == '.')
			continue;
		fd = openat(tmp, de->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0)
			continue;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 && tree_remove(tmp, de->d_name) == 0)
			n++;
		close(fd);
	}
	closedir(d);
	return n;
}
