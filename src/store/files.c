/* See files.h. */
#include "store/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REMOVE_DEPTH 24
#define REWINDS_MAX 100000

int file_open(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int file_read_all(int dir, const char *name, size_t max, char **ret_text, size_t *ret_size)
{
	return file_read_fd(file_open(dir, name), max, ret_text, ret_size);
}

int file_read_fd(int fd, size_t max, char **ret_text, size_t *ret_size)
{
	struct stat st;
	size_t done = 0;
	char *text = NULL;
	int err = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EINVAL;
	else if ((uint64_t)st.st_size > max)
		err = -EFBIG;
	if (!err)
		text = malloc((size_t)st.st_size + 1);
	if (!err && !text)
		err = -ENOMEM;
	while (!err && done < (size_t)st.st_size) {
		ssize_t n = read(fd, text + done, (size_t)st.st_size - done);

		if (n < 0 && errno != EINTR)
			err = -errno;
		if (n == 0)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (err) {
		free(text);
		return err;
	}
	text[done] = 0;
	*ret_text = text;
	if (ret_size)
		*ret_size = done;
	return 0;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0) {
			data += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

/* ---- syncing ---- */

static int sync_at(int dir, const char *path, int flags)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | flags), err = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		err = -errno;
	close(fd);
	return err;
}

int dir_sync(int dir, const char *path)
{
	return sync_at(dir, path, O_DIRECTORY);
}

int file_sync(int dir, const char *name)
{
	return sync_at(dir, name, O_NOFOLLOW);
}

struct sync_job {
	struct sync_item item;
	int err;
	bool started;
	pthread_t thread;
};

static void *sync_run(void *arg)
{
	struct sync_job *j = arg;

	j->err = file_sync(j->item.dir, j->item.path);
	return NULL;
}

/* Threads that do nothing else and are gone when this returns. Signals are for the caller alone. */
int sync_all(const struct sync_item *items, unsigned n)
{
	struct sync_job jobs[SYNC_MAX] = { 0 };
	sigset_t all, old;
	int err = 0;

	if (n > SYNC_MAX)
		return -EINVAL;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (unsigned i = 0; i < n; i++) {
		jobs[i].item = items[i];
		jobs[i].started =
			i + 1 < n && !pthread_create(&jobs[i].thread, NULL, sync_run, &jobs[i]);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	for (unsigned i = 0; i < n; i++)
		if (!jobs[i].started)
			sync_run(&jobs[i]);
	for (unsigned i = 0; i < n; i++) {
		if (jobs[i].started)
			pthread_join(jobs[i].thread, NULL);
		if (jobs[i].err)
			err = jobs[i].err;
	}
	return err;
}

/* ---- writing ---- */

int file_draft(int dir, const char *name, const void *data, size_t size)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, data, size);
	/* Its blocks are found now, in the same transaction of the host as its name. */
	if (!err)
		(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	close(fd);
	if (err)
		unlinkat(dir, name, 0);
	return err;
}

int file_swap(int dir, const char *name, const void *data, size_t size)
{
	char tmp[300];
	int err;

	if (snprintf(tmp, sizeof(tmp), "%s.new%d", name, (int)getpid()) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	err = file_draft(dir, tmp, data, size);
	if (!err)
		err = file_sync(dir, tmp);
	if (!err && renameat(dir, tmp, dir, name) < 0)
		err = -errno;
	if (err)
		unlinkat(dir, tmp, 0);
	return err;
}

int file_replace(int dir, const char *name, const void *data, size_t size)
{
	int err = file_swap(dir, name, data, size);

	return err ? err : dir_sync(dir, ".");
}

/* ---- removal ---- */

struct remover {
	DIR *at[REMOVE_DEPTH];
	char names[REMOVE_DEPTH][256]; /* of at[i] in at[i - 1] */
	unsigned depth;
	unsigned long moved;
};

/* Makes a directory readable for us. Not by its name: whoever made the tree may put a link there
 * meanwhile. */
static int dir_unlock(int parent, const char *name)
{
	int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), r;
	char link[32];

	if (fd < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	r = chmod(link, 0700);
	close(fd);
	return r;
}

static int level_enter(struct remover *r, int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d;

	if (fd < 0 && errno == EACCES && dir_unlock(parent, name) == 0)
		fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	snprintf(r->names[r->depth], sizeof(r->names[0]), "%s", name);
	r->at[r->depth++] = d;
	return 0;
}

/* One entry of the deepest open directory. A directory that is too deep is moved up to the first,
 * where it is found again. */
static int entry_remove(struct remover *r, const char *name)
{
	int dir = dirfd(r->at[r->depth - 1]);
	char up[64];

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	if (unlinkat(dir, name, AT_REMOVEDIR) == 0)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -errno;
	if (r->depth < REMOVE_DEPTH)
		return level_enter(r, dir, name);
	snprintf(up, sizeof(up), "viv-deep-%lu-%d", ++r->moved, (int)getpid());
	return renameat(dir, name, dirfd(r->at[0]), up) < 0 ? -errno : 0;
}

int tree_remove(int dir, const char *path)
{
	struct remover r = { 0 };
	unsigned rewinds = 0;
	int err;

	if (unlinkat(dir, path, 0) == 0)
		return 0;
	if (errno == ENOENT)
		return -ENOENT;
	err = level_enter(&r, dir, path);
	while (!err && r.depth > 0) {
		DIR *top = r.at[r.depth - 1];
		struct dirent *e = readdir(top);
		int parent;

		if (e) {
			if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
				err = entry_remove(&r, e->d_name);
			continue;
		}
		parent = r.depth > 1 ? dirfd(r.at[r.depth - 2]) : dir;
		if (unlinkat(parent, r.depth > 1 ? r.names[r.depth - 1] : path, AT_REMOVEDIR) < 0) {
			/* Something was moved here after it had been read. Not for ever: somebody
			 * may be filling it. */
			if ((errno == ENOTEMPTY || errno == EEXIST) && rewinds++ < REWINDS_MAX) {
				rewinddir(top);
				continue;
			}
			err = -errno;
		}
		closedir(top);
		r.depth--;
	}
	while (r.depth > 0)
		closedir(r.at[--r.depth]);
	return err;
}

bool file_is_still(int dir, const char *path, int fd)
{
	struct stat a, b;

	return fstat(fd, &a) == 0 && fstatat(dir, path, &b, AT_SYMLINK_NOFOLLOW) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}
