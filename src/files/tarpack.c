/* Making tar archives; see tar.h. The tree is walked once, and what is written depends on what is
 * there at that moment: a file that shrinks is filled up with zeros, one that grows is cut off, one
 * that vanishes is left out. Files with several links are remembered, as many as there is room for;
 * more of them are packed as files of their own. Sockets are left out. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files/stored.h"
#include "files/tar.h"
#include "files/walk.h"

#define BUFFER (256u << 10)
#define PAX_MAX (192u << 10)
#define XATTRS_MAX (128u << 10) /* of that; the rest is enough for all else */
#define LINKS 16384 /* slots of the table */
#define LINK_TEXTS (8u << 20)
#define OCTAL_7 07777777
#define OCTAL_11 077777777777

struct link {
	uint64_t dev, ino;
	char *path; /* NULL: free */
};

struct pack {
	const struct tar_out *o;
	char *about;
	struct link *links;
	size_t nlinks, link_bytes;
	char pax[PAX_MAX];
	size_t npax;
	char xattr[65536 + 1];
	char names[65536];
	char target[4097];
	char buffer[BUFFER];
	size_t used; /* of buffer, not written yet */
};

/* ---- writing ---- */

static int flush(struct pack *p)
{
	int ret = p->used ? p->o->write(p->o->arg, p->buffer, p->used) : 0;

	p->used = 0;
	return ret;
}

static int put(struct pack *p, const void *data, size_t n)
{
	const char *from = data;
	int ret = 0;

	while (n && ret == 0) {
		size_t some = MIN(n, BUFFER - p->used);

		if (from)
			memcpy(p->buffer + p->used, from, some);
		else
			memset(p->buffer + p->used, 0, some);
		p->used += some;
		n -= some;
		from = from ? from + some : NULL;
		if (p->used == BUFFER)
			ret = flush(p);
	}
	return ret;
}

static int pad(struct pack *p, uint64_t size)
{
	return put(p, NULL, (size_t)(-size & (TAR_BLOCK - 1)));
}

/* ---- headers ---- */

/* "LENGTH KEY=VALUE\n", where LENGTH counts itself. */
static void pax_add(struct pack *p, const char *key, const void *value, size_t n)
{
	size_t rest = strlen(key) + n + 3, len = rest + 1;

	while (len != rest + (size_t)snprintf(NULL, 0, "%zu", len))
		len = rest + (size_t)snprintf(NULL, 0, "%zu", len);
	if (p->npax + len > PAX_MAX)
		return;
	p->npax += (size_t)snprintf(p->pax + p->npax, PAX_MAX - p->npax, "%zu %s=", len, key);
	memcpy(p->pax + p->npax, value, n);
	p->npax += n;
	p->pax[p->npax++] = '\n';
}

static void pax_number(struct pack *p, const char *key, int64_t v)
{
	char text[32];

	pax_add(p, key, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)v));
}

static void header_end(struct tar_header *h)
{
	memcpy(h->magic,
	       "ustar\0"
	       "00",
	       8);
	tar_number_put(h->sum, 7, tar_sum(h));
	h->sum[7] = ' ';
}

static int pax_put(struct pack *p)
{
	struct tar_header h = { .name = "pax", .type = 'x' };
	size_t n = p->npax;
	int ret;

	if (!n)
		return 0;
	tar_number_put(h.mode, 8, 0644);
	tar_number_put(h.uid, 8, 0);
	tar_number_put(h.gid, 8, 0);
	tar_number_put(h.size, 12, n);
	tar_number_put(h.mtime, 12, 0);
	header_end(&h);
	p->npax = 0;
	ret = put(p, &h, sizeof(h));
	if (ret == 0)
		ret = put(p, p->pax, n);
	return ret ? ret : pad(p, n);
}

static void text_put(struct pack *p, char *field, size_t n, const char *key, const char *text)
{
	size_t len = strlen(text);

	if (len > n)
		pax_add(p, key, text, len);
	memcpy(field, text, MIN(len, n));
}

static void number_put(struct pack *p, char *field, size_t n, const char *key, int64_t v)
{
	bool fits = v >= 0 && v <= (n == 8 ? OCTAL_7 : OCTAL_11);

	if (!fits)
		pax_number(p, key, v);
	tar_number_put(field, n, fits ? (uint64_t)v : 0);
}

static int header_put(struct pack *p, const struct stat *st, char type, const char *path,
		      const char *link, uint64_t size)
{
	struct tar_header h = { .type = type };
	struct tar_count *count = p->o->count;
	int ret;

	if (count && strcmp(path, "./")) {
		count->entries++;
		count->bytes += size;
	}
	text_put(p, h.name, sizeof(h.name), "path", path);
	text_put(p, h.link, sizeof(h.link), "linkpath", link);
	tar_number_put(h.mode, 8, st->st_mode & 07777);
	number_put(p, h.uid, 8, "uid", st->st_uid);
	number_put(p, h.gid, 8, "gid", st->st_gid);
	number_put(p, h.size, 12, "size", (int64_t)size);
	number_put(p, h.mtime, 12, "mtime", st->st_mtim.tv_sec);
	if (type == '3' || type == '4') {
		tar_number_put(h.major, 8, major(st->st_rdev) & OCTAL_7);
		tar_number_put(h.minor, 8, minor(st->st_rdev) & OCTAL_7);
	}
	header_end(&h);
	ret = pax_put(p);
	return ret ? ret : put(p, &h, sizeof(h));
}

/* Those of an open file, as far as there is room. */
static void xattrs_add(struct pack *p, int fd)
{
	ssize_t n = flistxattr(fd, p->names, sizeof(p->names));
	char key[300];

	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(p->names + i) + 1) {
		ssize_t size = fgetxattr(fd, p->names + i, p->xattr, sizeof(p->xattr) - 1);

		if (size < 0 || strlen(p->names + i) > 255 ||
		    p->npax + sizeof(key) + (size_t)size > XATTRS_MAX)
			continue;
		snprintf(key, sizeof(key), "SCHILY.xattr.%s", p->names + i);
		pax_add(p, key, p->xattr, (size_t)size);
	}
}

/* ---- several links to a file ---- */

/* The path under which it was packed before; NULL: not yet, and from now on it is this. */
static const char *link_find(struct pack *p, const struct stat *st, const char *path)
{
	size_t at = (st->st_ino * 0x9e3779b97f4a7c15u ^ st->st_dev) >> 20 & (LINKS - 1);

	for (;; at = (at + 1) & (LINKS - 1)) {
		struct link *l = &p->links[at];

		if (l->path && l->ino == st->st_ino && l->dev == st->st_dev)
			return l->path;
		if (l->path)
			continue;
		if (p->nlinks >= LINKS / 2 || p->link_bytes + strlen(path) > LINK_TEXTS)
			return NULL;
		l->path = strdup(path);
		if (l->path) {
			l->dev = st->st_dev;
			l->ino = st->st_ino;
			p->nlinks++;
			p->link_bytes += strlen(path);
		}
		return NULL;
	}
}

/* ---- entries ---- */

static int content_put(struct pack *p, int fd, uint64_t size)
{
	uint64_t left = size;
	int ret = 0;

	while (left && ret == 0) {
		size_t room = BUFFER - p->used;
		ssize_t n = read(fd, p->buffer + p->used, (size_t)MIN(left, (uint64_t)room));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		p->used += (size_t)n;
		left -= (uint64_t)n;
		if (p->used == BUFFER)
			ret = flush(p);
	}
	while (left && ret == 0) {
		size_t some = (size_t)MIN(left, (uint64_t)BUFFER);

		ret = put(p, NULL, some);
		left -= some;
	}
	return ret ? ret : pad(p, size);
}

static int file_put(struct pack *p, const struct walk_entry *e)
{
	const char *before = e->st.st_nlink > 1 ? link_find(p, &e->st, e->path) : NULL;
	struct stat st;
	int fd, ret;

	if (before)
		return header_put(p, &e->st, '1', e->path, before, 0);
	fd = openat(e->dir, e->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	ret = fstat(fd, &st) < 0 ? -errno : 0;
	if (ret == 0 && S_ISREG(st.st_mode)) {
		xattrs_add(p, fd);
		ret = header_put(p, &st, '0', e->path, "", (uint64_t)st.st_size);
		if (ret == 0)
			ret = content_put(p, fd, (uint64_t)st.st_size);
	}
	close(fd);
	return ret;
}

static int dir_put(struct pack *p, const struct walk_entry *e)
{
	int fd = openat(e->dir, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[WALK_PATH + 301];

	if (fd >= 0) {
		xattrs_add(p, fd);
		close(fd);
	}
	snprintf(path, sizeof(path), "%s/", e->path);
	return header_put(p, &e->st, '5', path, "", 0);
}

static int entry_put(struct pack *p, const struct walk_entry *e)
{
	ssize_t n;

	switch (e->st.st_mode & S_IFMT) {
	case S_IFREG:
		return file_put(p, e);
	case S_IFDIR:
		return dir_put(p, e);
	case S_IFLNK:
		n = readlinkat(e->dir, e->name, p->target, sizeof(p->target) - 1);
		if (n < 0)
			return errno == ENOENT ? 0 : -errno;
		p->target[n] = '\0';
		return header_put(p, &e->st, '2', e->path, p->target, 0);
	case S_IFIFO:
		return header_put(p, &e->st, '6', e->path, "", 0);
	case S_IFCHR:
		return header_put(p, &e->st, '3', e->path, "", 0);
	case S_IFBLK:
		return header_put(p, &e->st, '4', e->path, "", 0);
	default:
		return 0;
	}
}

static int pack_step(void *arg, const struct walk_entry *e, enum walk_when when)
{
	struct pack *p = arg;
	int ret = when == WALK_ERROR ? -e->err : when == WALK_AT ? entry_put(p, e) : 0;

	/* What is mounted somewhere in the tree and may not be looked at is left out. */
	if (ret == -STORED_REFUSED && e->depth)
		return 0;

	if (ret < 0)
		snprintf(p->about, TAR_ABOUT, "%s", e->path);
	return ret;
}

int tar_pack(const struct tar_out *o, int dir, const char *name, const char *shown, char *about)
{
	struct pack *p = calloc(1, sizeof(*p));
	int ret = -ENOMEM;

	about[0] = '\0';
	if (p)
		p->links = calloc(LINKS, sizeof(*p->links));
	if (p && p->links) {
		p->o = o;
		p->about = about;
		ret = walk_tree(dir, name, shown, pack_step, p);
		if (ret == 0)
			ret = put(p, NULL, 2 * TAR_BLOCK);
		if (ret == 0)
			ret = flush(p);
		for (size_t i = 0; i < LINKS; i++)
			free(p->links[i].path);
		free(p->links);
	}
	free(p);
	return ret;
}
