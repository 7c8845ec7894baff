/* Where the store is, its directories and its lock. */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRY_STEPS 400
#define TRY_STEP_US 5000

int store_path(char *path, size_t size, struct err *e)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;

	if (data && *data) {
		if (*data != '/')
			return err_set(e, ERR_FAILED,
				       "XDG_DATA_HOME is '%s'" REMEDY "it must be an absolute path",
				       data);
		n = snprintf(path, size, "%s/vivarium", data);
	} else if (home && *home) {
		if (*home != '/')
			return err_set(e, ERR_FAILED,
				       "HOME is '%s'" REMEDY "it must be an absolute path", home);
		n = snprintf(path, size, "%s/.local/share/vivarium", home);
	} else if (!geteuid()) {
		n = snprintf(path, size, "/var/lib/vivarium");
	} else {
		return err_set(e, ERR_FAILED,
			       "neither XDG_DATA_HOME nor HOME is set" REMEDY
			       "set one to say where images "
			       "are kept");
	}
	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_FAILED, "the path in %s is too long",
			       data && *data ? "XDG_DATA_HOME" : "HOME");
	return 0;
}

int store_run_path(char *path, size_t size, struct err *e)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char store[4096];
	int n;

	if (runtime && *runtime == '/') {
		n = snprintf(path, size, "%s/vivarium", runtime);
	} else if (!geteuid() && access("/run", W_OK) == 0) {
		n = snprintf(path, size, "/run/vivarium");
	} else {
		if (store_path(store, sizeof(store), e) < 0)
			return -1;
		n = snprintf(path, size, "%s/run", store);
	}
	if (n < 0 || (size_t)n >= size)
		return err_set(e, ERR_FAILED, "the path in XDG_RUNTIME_DIR is too long");
	return 0;
}

/* What to say about a path that the environment gave. */
static const char *path_origin(void)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

	return data && *data ? " (from XDG_DATA_HOME)" : home && *home ? " (from HOME)" : "";
}

static int path_make(char *path)
{
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST && errno != EROFS)
			return -1;
		*p = c;
		if (!c)
			return 0;
	}
}

int store_open(struct store *s, struct err *e)
{
	struct stat st;

	s->fd = -1;
	if (store_path(s->path, sizeof(s->path), e) < 0)
		return -1;
	s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->fd < 0 && errno == ENOENT) {
		char path[sizeof(s->path)];

		strcpy(path, s->path);
		if (path_make(path) < 0)
			return err_set(e, ERR_FAILED, "cannot make '%s'%s: %s", path, path_origin(),
				       strerror(errno));
		s->fd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (s->fd < 0 || fstat(s->fd, &st) < 0)
		return err_set(e, ERR_FAILED, "cannot open '%s'%s: %s", s->path, path_origin(),
			       strerror(errno));
	if (st.st_uid != geteuid()) {
		store_close(s);
		return err_set(e, ERR_FAILED, "'%s'%s belongs to user %u, not to you", s->path,
			       path_origin(), st.st_uid);
	}
	if (st.st_mode & 077 && fchmod(s->fd, 0700) < 0) {
		store_close(s);
		return err_set(e, ERR_FAILED, "cannot close '%s' to others: %s", s->path,
			       strerror(errno));
	}
	return 0;
}

void store_close(struct store *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

int store_dir(const struct store *s, const char *name)
{
	int fd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	char part[256];

	if (fd >= 0 || errno != ENOENT || strlen(name) >= sizeof(part))
		return fd;
	for (const char *slash = name; (slash = strchr(slash, '/')); slash++) {
		memcpy(part, name, (size_t)(slash - name));
		part[slash - name] = '\0';
		if (mkdirat(s->fd, part, 0755) < 0 && errno != EEXIST)
			return -1;
	}
	if (mkdirat(s->fd, name, 0755) < 0 && errno != EEXIST)
		return -1;
	return openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

int store_list(const struct store *s, const char *name, size_t size,
	       bool (*take)(int dir, const char *file, void *entry),
	       int (*compare)(const void *, const void *), void **ret, size_t *ret_n, struct err *e)
{
	int fd = openat(s->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char *list = NULL;
	size_t n = 0;
	struct dirent *de;

	*ret = NULL;
	*ret_n = 0;
	if (!d) {
		int err = errno;

		if (fd >= 0)
			close(fd);
		return err == ENOENT ? 0
				     : err_set(e, ERR_FAILED, "cannot read '%s/%s': %s", s->path,
					       name, strerror(err));
	}
	while ((de = readdir(d))) {
		char *grown = realloc(list, (n + 1) * size);

		if (!grown) {
			free(list);
			closedir(d);
			return err_set(e, ERR_FAILED, "out of memory");
		}
		list = grown;
		n += take(fd, de->d_name, list + n * size);
	}
	closedir(d);
	if (n)
		qsort(list, n, size, compare);
	*ret = list;
	*ret_n = n;
	return 0;
}

int store_lock(const struct store *s, bool exclusive, void (*waiting)(void), struct err *e)
{
	int how = exclusive ? LOCK_EX : LOCK_SH;
	int fd = openat(s->fd, "lock", O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_set(e, ERR_FAILED, "cannot open '%s/lock': %s", s->path,
			       strerror(errno));
	if (flock(fd, how | LOCK_NB) == 0)
		return fd;
	if (errno == EWOULDBLOCK) {
		if (waiting)
			waiting();
		if (flock(fd, how) == 0)
			return fd;
	}
	err_set(e, ERR_FAILED,
		errno == EINTR ? "interrupted while waiting for '%s/lock': %s"
			       : "cannot lock '%s/lock': %s",
		s->path, strerror(errno));
	close(fd);
	return -1;
}

int store_lock_try(const struct store *s)
{
	int fd = openat(s->fd, "lock", O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	for (int i = 0; fd >= 0 && i < TRY_STEPS; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		usleep(TRY_STEP_US);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}
