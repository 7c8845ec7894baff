/* See dirchanges.h. */
#include "cli/dirchanges.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRIES_MAX 400000u
#define DEPTH_MAX 128u

struct dir_entry {
	uint32_t path; /* offset in paths */
	uint32_t mode;
	uint64_t size, inode;
	struct timespec changed;
};

struct walk {
	struct dir_list *t;
	char path[8192];
};

static const char *sorted_paths;

static int entry_order(const void *a, const void *b)
{
	return strcmp(sorted_paths + ((const struct dir_entry *)a)->path,
		      sorted_paths + ((const struct dir_entry *)b)->path);
}

static void entry_add(struct walk *w, const struct stat *st)
{
	struct dir_entry n = { .path = (uint32_t)buf_add(&w->t->paths, w->path,
							 strlen(w->path) + 1),
			       .mode = st->st_mode,
			       .size = S_ISDIR(st->st_mode) ? 0 : (uint64_t)st->st_size,
			       .inode = st->st_ino };

	/* A directory's time is that of its entries, which are here themselves. */
	if (!S_ISDIR(st->st_mode))
		n.changed = st->st_mtim;
	buf_add(&w->t->entries, &n, sizeof(n));
}

/* Recursion is as deep as DEPTH_MAX at most. Takes fd. */
static void dir_walk(struct walk *w, int fd, unsigned depth)
{
	size_t n = strlen(w->path);
	DIR *d = fdopendir(fd);
	struct dirent *de;
	struct stat st;

	if (!d) {
		close(fd);
		w->t->cut = true;
		return;
	}
	while ((de = readdir(d))) {
		int sub;

		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (BUF_COUNT(&w->t->entries, struct dir_entry) >= ENTRIES_MAX ||
		    n + strlen(de->d_name) + 2 > sizeof(w->path)) {
			w->t->cut = true;
			break;
		}
		if (fstatat(dirfd(d), de->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (n)
			strcpy(w->path + n, "/");
		strcpy(w->path + n + (n ? 1 : 0), de->d_name);
		entry_add(w, &st);
		if (S_ISDIR(st.st_mode)) {
			sub = depth < DEPTH_MAX
				      ? openat(dirfd(d), de->d_name,
					       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
				      : -1;
			if (sub >= 0)
				dir_walk(w, sub, depth + 1);
			else
				w->t->cut = true;
		}
		w->path[n] = '\0';
	}
	closedir(d);
}

void dir_read(struct dir_list *t, const char *dir)
{
	struct walk *w = xalloc(sizeof(*w));
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*t = (struct dir_list){ 0 };
	w->t = t;
	if (fd >= 0)
		dir_walk(w, fd, 0);
	else
		t->cut = true;
	free(w);
	sorted_paths = (char *)t->paths.p;
	if (t->entries.len)
		qsort(t->entries.p, BUF_COUNT(&t->entries, struct dir_entry),
		      sizeof(struct dir_entry), entry_order);
}

void dir_free(struct dir_list *t)
{
	buf_free(&t->entries);
	buf_free(&t->paths);
}

static bool is_same(const struct dir_entry *a, const struct dir_entry *b)
{
	return a->mode == b->mode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
	       a->changed.tv_nsec == b->changed.tv_nsec &&
	       (S_ISDIR(a->mode) || a->inode == b->inode);
}

void dir_compare(const struct dir_list *before, const struct dir_list *after, dir_fn fn, void *arg)
{
	size_t n = BUF_COUNT(&before->entries, struct dir_entry), i = 0;
	size_t m = BUF_COUNT(&after->entries, struct dir_entry), j = 0;

	while (i < n || j < m) {
		const struct dir_entry *a =
			i < n ? BUF_ITEM(&before->entries, struct dir_entry, i) : NULL;
		const struct dir_entry *b =
			j < m ? BUF_ITEM(&after->entries, struct dir_entry, j) : NULL;
		const char *old = a ? (char *)before->paths.p + a->path : NULL;
		const char *new = b ? (char *)after->paths.p + b->path : NULL;
		int order = !a ? 1 : !b ? -1 : strcmp(old, new);

		if (order < 0)
			fn(arg, 'D', old);
		else if (order > 0)
			fn(arg, 'A', new);
		else if (!is_same(a, b))
			fn(arg, 'C', new);
		i += order <= 0;
		j += order >= 0;
	}
}
