/* See walk.h. One open directory for each level; a level more than the limits allow is an entry
 * with an error, like one that may not be read. */
#include "files/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/stored.h"

struct walk {
	DIR *dirs[WALK_DEPTH];
	size_t lens[WALK_DEPTH]; /* of the path of each */
	struct stat stats[WALK_DEPTH];
	unsigned depth; /* how many are open */
	int root;
	const char *name; /* of the first, in root */
	char path[WALK_PATH + 300];
	walk_fn fn;
	void *arg;
};

static int dir_of(const struct walk *w, unsigned depth)
{
	return depth ? dirfd(w->dirs[depth - 1]) : w->root;
}

static struct walk_entry entry_at(const struct walk *w, unsigned depth, const char *name,
				  size_t len)
{
	return (struct walk_entry){
		.dir = dir_of(w, depth), .name = name, .path = w->path, .len = len, .depth = depth
	};
}

static int error_tell(struct walk *w, struct walk_entry e, int err)
{
	e.err = err;
	return w->fn(w->arg, &e, WALK_ERROR);
}

/* The entry whose path is in w->path, len bytes of it: told, and a directory entered. */
static int entry_visit(struct walk *w, const char *name, size_t len)
{
	struct walk_entry e = entry_at(w, w->depth, name, len);
	int ret, fd;

	if (fstatat(e.dir, name, &e.st, AT_SYMLINK_NOFOLLOW) < 0) {
		ret = -errno;
		/* Gone since the directory was read: as if it had never been there. */
		if (!w->depth || ret == -ENOENT)
			return w->depth ? 0 : ret;
		return error_tell(w, e, -ret);
	}
	ret = stored_entry(e.dir, name, &e.st);
	if (ret < 0)
		return w->depth ? error_tell(w, e, -ret) : ret;
	ret = w->fn(w->arg, &e, WALK_AT);
	if (ret || !S_ISDIR(e.st.st_mode))
		return ret < 0 ? ret : 0;
	if (w->depth == WALK_DEPTH || len >= WALK_PATH)
		return error_tell(w, e, ENAMETOOLONG);
	fd = openat(e.dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	w->dirs[w->depth] = fd < 0 ? NULL : fdopendir(fd);
	if (!w->dirs[w->depth]) {
		ret = errno;
		if (fd >= 0)
			close(fd);
		return ret == ENOENT && w->depth ? 0 : error_tell(w, e, ret);
	}
	w->stats[w->depth] = e.st;
	w->lens[w->depth++] = len;
	return 0;
}

/* The rest of a directory cannot be read, for errno err; 0: that was all of it. */
static int level_leave(struct walk *w, int err)
{
	size_t len = w->lens[w->depth - 1], above = w->depth > 1 ? w->lens[w->depth - 2] : 0;
	struct walk_entry e;
	const char *name = w->name;
	int ret;

	w->path[len] = '\0';
	if (w->depth > 1)
		name = w->path + above + (above && w->path[above - 1] == '/' ? 0 : 1);
	e = entry_at(w, w->depth - 1, name, len);
	ret = err ? error_tell(w, e, err) : 0;
	if (ret < 0)
		return ret;
	e.st = w->stats[w->depth - 1];
	ret = w->fn(w->arg, &e, WALK_LEAVE);
	if (ret == WALK_AGAIN) {
		rewinddir(w->dirs[w->depth - 1]);
		return 0;
	}
	closedir(w->dirs[--w->depth]);
	return ret < 0 ? ret : 0;
}

static int level_step(struct walk *w)
{
	size_t len = w->lens[w->depth - 1], n;
	struct dirent *d;

	errno = 0;
	d = readdir(w->dirs[w->depth - 1]);
	if (!d)
		return level_leave(w, errno);
	if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
		return 0;
	n = strlen(d->d_name);
	if (len && w->path[len - 1] != '/')
		w->path[len++] = '/';
	if (len + n >= sizeof(w->path))
		return 0; /* longer than any name is */
	memcpy(w->path + len, d->d_name, n + 1);
	return entry_visit(w, w->path + len, len + n);
}

int walk_tree(int dir, const char *name, const char *shown, walk_fn fn, void *arg)
{
	struct walk *w = malloc(sizeof(*w));
	int ret = -ENOMEM;

	if (!w)
		return ret;
	w->depth = 0;
	w->root = dir;
	w->name = name;
	w->fn = fn;
	w->arg = arg;
	ret = -ENAMETOOLONG;
	if (strlen(shown) < WALK_PATH) {
		strcpy(w->path, shown);
		ret = entry_visit(w, name, strlen(shown));
	}
	while (ret == 0 && w->depth)
		ret = level_step(w);
	while (w->depth)
		closedir(w->dirs[--w->depth]);
	free(w);
	return ret;
}
