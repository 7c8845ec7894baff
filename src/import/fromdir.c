/* A directory of the host as a source. Directories are opened by their path from the top, without
 * following any link and without leaving the tree, so a tree that changes meanwhile gives odd files
 * at worst, never others. Another file system below is not entered, as by tar --one-file-system.
 * Left out: sockets, which mean nothing to anyone but their makers. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "import/import.h"
#include "import/progress.h"

#define READ_SIZE (1u << 20)

struct inode_key {
	dev_t dev;
	ino_t ino;
	uint32_t node;
	uint32_t next;
};

struct source {
	struct import *im;
	int top;
	dev_t dev;
	const char *shown;
	struct buf queue; /* struct waiting: directories to be read */
	struct buf paths; /* their paths */
	struct buf inodes; /* struct inode_key of files with several names */
	uint32_t buckets[65536];
	uint8_t *block;
	bool apart; /* hard links are files of their own */
};

struct waiting {
	uint32_t node;
	uint32_t len;
	uint64_t path;
};

static int source_failed(const struct source *s, const char *path, const char *name, struct err *e)
{
	if (errno == EINTR && interrupted())
		return err_set(e, ERR_FAILED, "interrupted");
	return err_set(e, ERR_FAILED, "cannot read '%s/%s%s%s': %s", s->shown, path,
		       *path ? "/" : "", name, strerror(errno));
}

static uint32_t rdev_encode(dev_t dev)
{
	uint32_t major = major(dev), minor = minor(dev);

	return (minor & 0xff) | major << 8 | (minor & ~0xffu) << 12;
}

/* ---- hard links ---- */

static struct inode_key *inode_find(struct source *s, const struct stat *st)
{
	uint64_t h = ((uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 40) * 0x9e3779b97f4a7c15u;
	uint32_t *bucket = &s->buckets[h >> 48];
	struct inode_key *k;

	for (uint32_t i = *bucket; i; i = k->next) {
		k = BUF_ITEM(&s->inodes, struct inode_key, i - 1);
		if (k->ino == st->st_ino && k->dev == st->st_dev)
			return k;
	}
	k = buf_more(&s->inodes, sizeof(*k));
	*k = (struct inode_key){ st->st_dev, st->st_ino, TREE_NONE, *bucket };
	*bucket = (uint32_t)BUF_COUNT(&s->inodes, struct inode_key);
	return k;
}

/* ---- attributes ---- */

/* Of what the descriptor (or, for what cannot be opened, the path below /proc) stands for. */
static int xattrs_read(struct source *s, uint32_t node, const char *proc, bool follow,
		       struct err *e)
{
	static char names[65536], values[INDEX_XATTRS_MAX];
	struct tree_xattr list[256];
	size_t n = 0, used = 0;
	ssize_t len = follow ? listxattr(proc, names, sizeof(names))
			     : llistxattr(proc, names, sizeof(names));

	for (char *p = names; len > 0 && p < names + len && n < ARRAY_LEN(list);
	     p += strlen(p) + 1) {
		ssize_t got;

		if (!tree_xattr_is_kept(p))
			continue;
		got = follow ? getxattr(proc, p, values + used, sizeof(values) - used)
			     : lgetxattr(proc, p, values + used, sizeof(values) - used);
		if (got < 0)
			continue; /* gone, or not for us to read */
		list[n++] = (struct tree_xattr){ p, values + used, (size_t)got };
		used += (size_t)got;
	}
	return n ? tree_set_xattrs(&s->im->tree, node, list, n, e) : 0;
}

static int xattrs_read_fd(struct source *s, uint32_t node, int fd, struct err *e)
{
	char proc[64];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	return xattrs_read(s, node, proc, true, e);
}

/* ---- files ---- */

static int content_read(struct source *s, int fd, const struct stat *st, bool pyc, uint32_t node,
			const char *path, const char *name, struct err *e)
{
	struct objects *o = &s->im->objects;
	bool sparse = (uint64_t)st->st_blocks * 512 < (uint64_t)st->st_size;
	uint64_t at = 0;
	uint32_t object;
	int64_t pyc_time;

	if (object_start(o, (uint64_t)st->st_size, pyc, e) < 0)
		return -1;
	for (;;) {
		size_t want = READ_SIZE;
		ssize_t n;

		if (sparse) {
			off_t data = lseek(fd, (off_t)at, SEEK_DATA), hole;

			if (data < 0 && errno == ENXIO)
				break; /* a hole up to the end */
			if (data > (off_t)at)
				at = (uint64_t)data;
			hole = lseek(fd, (off_t)at, SEEK_HOLE);
			if (hole > (off_t)at)
				want = MIN(want, (size_t)(hole - (off_t)at));
		}
		n = pread(fd, s->block, want, (off_t)at);
		if (n < 0 && errno == EINTR && !interrupted())
			continue;
		if (n < 0)
			return source_failed(s, path, name, e);
		if (!n || interrupted())
			break;
		if (object_write(o, s->block, (size_t)n, at, e) < 0)
			return -1;
		at += (uint64_t)n;
		progress_show();
	}
	if (interrupted())
		return err_set(e, ERR_FAILED, "interrupted");
	if (sparse)
		at = MAX(at, (uint64_t)st->st_size);
	if (object_end(o, at, &object, &pyc_time, e) < 0)
		return -1;
	import_content(s->im, node, object, at, pyc_time);
	return 0;
}

static void attr_of(const struct source *s, const struct stat *st, struct tree_attr *attr)
{
	*attr = (struct tree_attr){ .mode = st->st_mode,
				    .uid = st->st_uid,
				    .gid = st->st_gid,
				    .mtime = (uint32_t)st->st_mtime,
				    .rdev = rdev_encode(st->st_rdev) };
	import_owner(s->im, attr);
}

static int regular_read(struct source *s, int dir, uint32_t parent, const char *path,
			const char *name, struct err *e)
{
	/* O_NONBLOCK: what has become a FIFO since it was looked at does not stop us. */
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t len = strlen(name);
	struct tree_attr attr;
	struct stat st;
	uint32_t node;
	int result;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		result = source_failed(s, path, name, e);
		if (fd >= 0)
			close(fd);
		return result;
	}
	attr_of(s, &st, &attr);
	node = tree_put(&s->im->tree, parent, name, len, &attr, e);
	result = node == TREE_NONE ? -1 : xattrs_read_fd(s, node, fd, e);
	if (!result)
		result = content_read(s, fd, &st, import_is_pyc(name, len), node, path, name, e);
	close(fd);
	if (!result && st.st_nlink > 1 && !s->apart)
		inode_find(s, &st)->node = node;
	return result;
}

static int other_read(struct source *s, int dir, uint32_t parent, const char *path,
		      const char *name, const struct stat *st, struct err *e)
{
	char text[INDEX_LINK_MAX + 2], proc[64 + 256];
	struct tree_attr attr;
	uint32_t node;

	attr_of(s, st, &attr);
	if (S_ISLNK(st->st_mode)) {
		ssize_t n = readlinkat(dir, name, text, sizeof(text) - 1);

		if (n < 0)
			return source_failed(s, path, name, e);
		text[n] = '\0';
		attr.link = text;
	}
	node = tree_put(&s->im->tree, parent, name, strlen(name), &attr, e);
	if (node == TREE_NONE)
		return -1;
	if (st->st_nlink > 1 && !s->apart)
		inode_find(s, st)->node = node;
	snprintf(proc, sizeof(proc), "/proc/self/fd/%d/%s", dir, name);
	progress_add(0, 1);
	return xattrs_read(s, node, proc, false, e);
}

static int dir_wait(struct source *s, const char *path, const char *name, uint32_t parent,
		    const struct stat *st, struct err *e)
{
	struct waiting w = { .path = s->paths.len };
	struct tree_attr attr;

	attr_of(s, st, &attr);
	w.node = tree_put(&s->im->tree, parent, name, strlen(name), &attr, e);
	if (w.node == TREE_NONE)
		return -1;
	progress_add(0, 1);
	if (st->st_dev != s->dev) {
		import_warn(s->im, "'%s/%s%s%s' is another file system; the image has it empty",
			    s->shown, path, *path ? "/" : "", name);
		return 0;
	}
	if (strlen(path) + strlen(name) + 2 > 4096)
		return err_set(e, ERR_FAILED, "a path longer than 4096 bytes: '%s/%.100s.../%s'",
			       s->shown, path, name);
	if (*path) {
		buf_add(&s->paths, path, strlen(path));
		buf_add(&s->paths, "/", 1);
	}
	buf_add(&s->paths, name, strlen(name));
	w.len = (uint32_t)(s->paths.len - w.path);
	buf_add(&s->queue, &w, sizeof(w));
	return 0;
}

static int entry_read(struct source *s, int dir, uint32_t parent, const char *path,
		      const char *name, struct err *e)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : source_failed(s, path, name, e);
	if (S_ISDIR(st.st_mode))
		return dir_wait(s, path, name, parent, &st, e);
	if (S_ISSOCK(st.st_mode)) {
		import_warn(s->im, "'%s/%s%s%s' is a socket; it is left out", s->shown, path,
			    *path ? "/" : "", name);
		return 0;
	}
	if (st.st_nlink > 1 && !s->apart) {
		uint32_t node = inode_find(s, &st)->node;

		if (node != TREE_NONE)
			return tree_link(&s->im->tree, parent, name, strlen(name), node, e);
	}
	if (S_ISREG(st.st_mode))
		return regular_read(s, dir, parent, path, name, e);
	return other_read(s, dir, parent, path, name, &st, e);
}

static int dir_open(const struct source *s, const char *path)
{
	struct open_how how = { .flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };

	return (int)syscall(SYS_openat2, s->top, *path ? path : ".", &how, sizeof(how));
}

static int dir_read(struct source *s, const struct waiting *w, struct err *e)
{
	char path[4200];
	struct dirent *de;
	DIR *d;
	int fd, result;

	if (w->len)
		memcpy(path, s->paths.p + w->path, w->len);
	path[w->len] = '\0';
	fd = dir_open(s, path);
	if (fd < 0)
		return errno == ENOENT ? 0 : source_failed(s, path, "", e);
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return source_failed(s, path, "", e);
	}
	result = xattrs_read_fd(s, w->node, fd, e);
	errno = 0;
	while (!result && (de = readdir(d))) {
		if (strcmp(de->d_name, ".") && strcmp(de->d_name, ".."))
			result = entry_read(s, fd, w->node, path, de->d_name, e);
		if (!result && interrupted())
			result = err_set(e, ERR_FAILED, "interrupted");
		errno = 0;
	}
	if (!result && errno)
		result = source_failed(s, path, "", e);
	closedir(d);
	return result;
}

static struct source *source_new(struct import *im, int dir, const char *shown)
{
	struct source *s = xalloc(sizeof(*s));

	s->im = im;
	s->top = dir;
	s->shown = !strcmp(shown, "/") ? "" : shown;
	s->block = xalloc(READ_SIZE);
	return s;
}

static void source_free(struct source *s)
{
	buf_free(&s->queue);
	buf_free(&s->paths);
	buf_free(&s->inodes);
	free(s->block);
	free(s);
}

/* The last one first: the queue stays as long as the tree is deep and wide in one place. */
static int queue_run(struct source *s, struct err *e)
{
	struct waiting w;
	int result = 0;

	while (!result && s->queue.len) {
		s->queue.len -= sizeof(w);
		memcpy(&w, s->queue.p + s->queue.len, sizeof(w));
		s->paths.len = w.path + w.len;
		result = dir_read(s, &w, e);
	}
	return result;
}

int import_directory(struct import *im, int dir, const char *shown, struct err *e)
{
	struct source *s = source_new(im, dir, shown);
	struct waiting w = { .node = TREE_ROOT };
	struct tree_attr attr;
	struct stat st;
	int result;

	if (fstat(dir, &st) < 0) {
		result = source_failed(s, "", "", e);
	} else {
		struct tree_node *root = tree_node(&im->tree, TREE_ROOT);

		s->dev = st.st_dev;
		attr_of(s, &st, &attr);
		root->mode = attr.mode;
		root->uid = attr.uid;
		root->gid = attr.gid;
		buf_add(&s->queue, &w, sizeof(w));
		result = queue_run(s, e);
	}
	source_free(s);
	return result;
}

/* ---- Nix ---- */

/* One path, as 'nix-store --query --requisites' prints them, or one below another root: what counts
 * is that it ends in /nix/store/NAME. Nix may have made equal files hard links of each other, on
 * this machine and not on the next: here each is a file of its own. */
static int nix_path(struct import *im, char *path, uint32_t store, struct err *e)
{
	char *name = strrchr(path, '/');
	struct source *s;
	struct stat st;
	int dir, result;

	if (path[0] != '/' || !name || !name[1] || name - path < 10 ||
	    strncmp(name - 10, "/nix/store", 10))
		return err_set(e, ERR_FAILED, "'%.200s' is not a path of a Nix store", path);
	*name++ = '\0';
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		result = err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
				 "cannot read '%.200s/%.200s': %s", path, name, strerror(errno));
	} else {
		s = source_new(im, dir, path);
		s->dev = st.st_dev;
		s->apart = true;
		result = entry_read(s, dir, store, "", name, e);
		if (!result)
			result = queue_run(s, e);
		source_free(s);
	}
	if (dir >= 0)
		close(dir);
	return result;
}

int import_nix(struct import *im, int list, struct err *e)
{
	const struct tree_attr plain = { .mode = S_IFDIR | 0755 };
	char *line = NULL;
	size_t size = 0, paths = 0;
	ssize_t len;
	int copy = dup(list), result = 0;
	FILE *f = copy < 0 ? NULL : fdopen(copy, "r");
	uint32_t nix = tree_put(&im->tree, TREE_ROOT, "nix", 3, &plain, e);
	uint32_t store = tree_put(&im->tree, nix, "store", 5, &plain, e);

	if (!f)
		return err_set(e, ERR_FAILED, "cannot read the list: %s", strerror(errno));
	while (!result && (len = getline(&line, &size, f)) > 0) {
		while (len && (line[len - 1] == '\n' || line[len - 1] == '/'))
			line[--len] = '\0';
		if (len) {
			result = nix_path(im, line, store, e);
			paths++;
		}
	}
	free(line);
	fclose(f);
	if (!result && interrupted())
		return err_set(e, ERR_FAILED, "interrupted");
	if (!result && !paths)
		return err_set(e, ERR_FAILED, "the list of paths is empty");
	return result;
}
