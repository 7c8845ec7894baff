/* The host's directory: what is in it, and whether that has changed; see copies.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/copies/copies.h"
#include "files/walk.h"

#define LINK_MAX_BYTES 4096

static int64_t ns(struct timespec t)
{
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static char type_of(mode_t mode)
{
	return S_ISREG(mode) ? 'f' : S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : 'o';
}

static bool file_hash(int fd, uint8_t ret[SHA1_SIZE])
{
	char data[65536];
	struct sha1 s;
	ssize_t n;

	sha1_init(&s);
	while ((n = read(fd, data, sizeof(data))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		sha1_add(&s, data, (size_t)n);
	}
	sha1_end(&s, ret);
	return true;
}

/* Of what is called name in dir. */
static bool named_hash(int dir, const char *name, char type, uint8_t ret[SHA1_SIZE])
{
	char text[LINK_MAX_BYTES];
	struct sha1 s;
	ssize_t n;
	bool good;
	int fd;

	memset(ret, 0, SHA1_SIZE);
	if (type == 'l') {
		n = readlinkat(dir, name, text, sizeof(text));
		sha1_init(&s);
		sha1_add(&s, text, (size_t)MAX(n, 0));
		sha1_end(&s, ret);
		return n >= 0;
	}
	if (type != 'f')
		return true;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	good = file_hash(fd, ret);
	close(fd);
	return good;
}

void base_set(struct base *b, const struct host_state *s)
{
	b->type = s->type;
	b->mode = s->st.st_mode & 07777;
	b->size = (uint64_t)s->st.st_size;
	b->ino = s->st.st_ino;
	b->mtime = ns(s->st.st_mtim);
	b->ctime = ns(s->st.st_ctim);
}

/* ---- all of it ---- */

struct scan {
	struct buf list; /* struct base */
	char failed[512];
};

static int scan_entry(void *arg, const struct walk_entry *w, enum walk_when when)
{
	struct scan *s = arg;
	struct host_state h = { .st = w->st };
	struct base b = { 0 };

	if (when == WALK_LEAVE || (!w->depth && when == WALK_AT))
		return 0;
	if (when == WALK_ERROR) {
		snprintf(s->failed, sizeof(s->failed), "%s", w->path);
		return -w->err;
	}
	h.type = type_of(w->st.st_mode);
	if (h.type == 'o')
		return 0;
	base_set(&b, &h);
	if (!named_hash(w->dir, w->name, h.type, b.hash)) {
		int err = errno;

		snprintf(s->failed, sizeof(s->failed), "%s", w->path);
		return -err;
	}
	b.path = xstrndup(w->path + 2, w->len - 2); /* behind "./" */
	buf_add(&s->list, &b, sizeof(b));
	return 0;
}

int copied_scan(struct copied *c, struct err *e)
{
	struct scan s = { 0 };
	struct stat st;
	int fd = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(e, errno == ENOENT ? ERR_NOT_FOUND : ERR_FAILED,
			       "cannot copy '%s': %s", c->dir, strerror(errno));
	c->dev = st.st_dev;
	c->ino = st.st_ino;
	ret = walk_tree(fd, ".", ".", scan_entry, &s);
	close(fd);
	c->base = (struct base *)(void *)s.list.p;
	c->n = BUF_COUNT(&s.list, struct base);
	base_sort(c);
	return ret < 0 ? err_set(e, ERR_FAILED, "cannot read '%s' of '%s': %s", s.failed, c->dir,
				 strerror(-ret))
		       : 0;
}

int copied_open(const struct copied *c, int *ret, struct err *e)
{
	struct stat st;
	int fd = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(e, ERR_NOT_FOUND, "cannot open '%s', which was copied: %s", c->dir,
			       strerror(errno));
	if (st.st_dev != c->dev || st.st_ino != c->ino) {
		close(fd);
		return err_set(e, ERR_CHANGED,
			       "'%s' is not the directory that was copied" REMEDY
			       "'viv cp' copies files out of the cell",
			       c->dir);
	}
	*ret = fd;
	return 0;
}

/* ---- single paths ---- */

static int beneath(int root, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned)flags | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int host_parent(int root, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int fd;

	*name = slash ? slash + 1 : path;
	dir = slash ? xstrndup(path, (size_t)(slash - path)) : xstrndup(".", 1);
	fd = beneath(root, dir, O_PATH | O_DIRECTORY);
	free(dir);
	return fd;
}

void host_look(int root, const char *path, struct host_state *ret)
{
	const char *name;
	int dir = host_parent(root, path, &name);

	*ret = (struct host_state){ 0 };
	if (dir < 0) {
		ret->type = dir == -ENOENT ? 0 : '!';
		return;
	}
	if (fstatat(dir, name, &ret->st, AT_SYMLINK_NOFOLLOW) == 0)
		ret->type = type_of(ret->st.st_mode);
	else
		ret->type = errno == ENOENT ? 0 : '!';
	close(dir);
}

bool host_hash(int root, const char *path, const struct host_state *s, uint8_t ret[SHA1_SIZE])
{
	const char *name;
	int dir = host_parent(root, path, &name);
	bool good = dir >= 0 && named_hash(dir, name, s->type, ret);

	if (dir >= 0)
		close(dir);
	return good;
}

bool host_is_base(int root, const struct base *b, const struct host_state *s)
{
	uint8_t hash[SHA1_SIZE];

	if (s->type != b->type)
		return false;
	if (s->type == 'd')
		return true;
	if ((uint64_t)s->st.st_size != b->size)
		return false;
	if (s->st.st_ino == b->ino && ns(s->st.st_mtim) == b->mtime &&
	    ns(s->st.st_ctim) == b->ctime)
		return true;
	return host_hash(root, b->path, s, hash) && !memcmp(hash, b->hash, SHA1_SIZE);
}

bool host_same(const struct host_state *a, const struct host_state *b)
{
	if (a->type != b->type || !a->type)
		return a->type == b->type;
	return a->st.st_ino == b->st.st_ino && a->st.st_dev == b->st.st_dev &&
	       (a->type == 'd' ||
		(a->st.st_size == b->st.st_size && ns(a->st.st_mtim) == ns(b->st.st_mtim) &&
		 ns(a->st.st_ctim) == ns(b->st.st_ctim)));
}
