/* Unpacking tar archives; see tar.h. An archive is a stranger's: its names, its links and its
 * sizes.
 *
 * A path is taken apart: a leading slash and "." are dropped, ".." is refused. Where its last name
 * belongs is opened with openat2() and RESOLVE_BENEATH, so that links in the tree are followed as
 * far as they stay in it, whether they were there before or the archive made them. In that
 * directory the last name is made, and never followed: what is there and is no directory is removed
 * before. A directory stays what it is, and so does a link to one (a link /lib of an image is not
 * replaced because an archive has a directory of that name).
 *
 * Modes and times of directories are set at the end. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "files/tar.h"

#define TEXT_MAX 65536 /* of a long name or a pax header of one entry */
#define PAX_MAX (1u << 20)
#define DIRS_MAX 100000
#define BENEATH 8 /* RESOLVE_BENEATH */
#define IN_ROOT 16 /* RESOLVE_IN_ROOT */
#define NO_MAGIC 2 /* RESOLVE_NO_MAGICLINKS */

struct later {
	char *path;
	uint32_t mode;
	int64_t mtime;
};

struct unpack {
	const struct tar_in *in;
	const struct tar_rules *rules;
	const struct tar_visit *visit; /* NULL: what is read is unpacked */
	int dir;
	char *about;
	struct tar_entry e;
	char path[TEXT_MAX + 1], link[TEXT_MAX + 1]; /* of the entry; "": as in the header */
	int64_t uid, gid, mtime, size; /* of a pax header; -1: not given */
	bool has_mtime;
	/* the header of the entry, whose attributes are set when it is there; NULL: none */
	char *pax;
	size_t npax;
	int parent; /* the directory of the entry before; -1 */
	char parent_path[TEXT_MAX + 1];
	struct later *later;
	size_t nlater;
	char buffer[256u << 10];
};

/* ---- reading ---- */

/* Exactly n bytes; 0 for none at all when may_end; -errno. */
static int take(struct unpack *u, void *buf, size_t n, bool may_end)
{
	size_t got = 0;

	while (got < n) {
		ssize_t some = u->in->read(u->in->arg, (char *)buf + got, n - got);

		if (some < 0)
			return (int)some;
		if (some == 0)
			return may_end && !got ? 0 : -EILSEQ;
		got += (size_t)some;
	}
	return 1;
}

static int skip(struct unpack *u, uint64_t n)
{
	while (n) {
		size_t some = (size_t)MIN(n, (uint64_t)sizeof(u->buffer));
		int ret = take(u, u->buffer, some, false);

		if (ret < 0)
			return ret;
		n -= some;
	}
	return 0;
}

static uint64_t padding(uint64_t n)
{
	return -n & (TAR_BLOCK - 1);
}

/* ---- headers of the entry that follows ---- */

/* A long name of GNU tar. */
static int text_take(struct unpack *u, char *text)
{
	uint64_t n = u->e.size;
	int ret;

	if (n > TEXT_MAX)
		return -EILSEQ;
	ret = n ? take(u, text, (size_t)n, false) : 1;
	text[n] = '\0';
	return ret < 0 ? ret : skip(u, padding(n));
}

static bool text_set(char *to, const char *value, size_t n)
{
	if (n > TEXT_MAX || memchr(value, 0, n))
		return false;
	memcpy(to, value, n);
	to[n] = '\0';
	return true;
}

static bool number_set(int64_t *to, const char *value, size_t n)
{
	char text[32], *end;

	if (!n || n >= sizeof(text))
		return false;
	memcpy(text, value, n);
	text[n] = '\0';
	errno = 0;
	*to = strtoll(text, &end, 10);
	return !errno && (*end == '\0' || *end == '.');
}

static int pax_apply(struct unpack *u, const char *key, const char *value, size_t n)
{
	bool ok = true;

	if (!strcmp(key, "path"))
		ok = text_set(u->path, value, n);
	else if (!strcmp(key, "linkpath"))
		ok = text_set(u->link, value, n);
	else if (!strcmp(key, "size"))
		ok = number_set(&u->size, value, n) && u->size >= 0;
	else if (!strcmp(key, "uid"))
		ok = number_set(&u->uid, value, n) && u->uid >= 0;
	else if (!strcmp(key, "gid"))
		ok = number_set(&u->gid, value, n) && u->gid >= 0;
	else if (!strcmp(key, "mtime"))
		ok = u->has_mtime = number_set(&u->mtime, value, n);
	else if (!strncmp(key, "GNU.sparse.", 11))
		return -ENOTSUP;
	return ok ? 0 : -EILSEQ;
}

/* The records of a pax header, one after the other, given to fn. They are cut into pieces in place,
 * and can be read once more. */
static int
pax_each(struct unpack *u,
	 int (*fn)(struct unpack *u, const char *key, const char *value, size_t n, int fd), int fd)
{
	char *p = u->pax, *end = u->pax + u->npax;

	while (p < end) {
		char *rest, *equals;
		size_t len = 0, digits = 0;
		int ret;

		while (p + digits < end && p[digits] >= '0' && p[digits] <= '9' && digits < 7)
			len = len * 10 + (size_t)(p[digits++] - '0');
		rest = p + digits + 1;
		if (!digits || len > (size_t)(end - p) || len < digits + 3 || p[digits] != ' ' ||
		    p[len - 1] != '\n')
			return -EILSEQ;
		equals = memchr(rest, '=', len - digits - 2);
		if (!equals || memchr(rest, 0, (size_t)(equals - rest)))
			return -EILSEQ;
		*equals = '\0';
		ret = fn(u, rest, equals + 1, (size_t)(p + len - 1 - (equals + 1)), fd);
		*equals = '=';
		if (ret < 0)
			return ret;
		p += len;
	}
	return 0;
}

static int pax_read(struct unpack *u, const char *key, const char *value, size_t n, int fd)
{
	(void)fd;
	return pax_apply(u, key, value, n);
}

static int pax_xattr(struct unpack *u, const char *key, const char *value, size_t n, int fd)
{
	static const char prefix[] = "SCHILY.xattr.";
	const char *name = key + sizeof(prefix) - 1;

	/* Who may not set one, or a place that has none, does without. */
	if (!strncmp(key, prefix, sizeof(prefix) - 1) &&
	    (!u->rules->plain || !strncmp(name, "user.", 5)))
		(void)!fsetxattr(fd, name, value, n, 0);
	return 0;
}

static int pax_take(struct unpack *u)
{
	uint64_t n = u->e.size;
	int ret;

	if (n > PAX_MAX)
		return -EILSEQ;
	free(u->pax);
	u->npax = 0;
	u->pax = malloc((size_t)n + 1);
	if (!u->pax)
		return -ENOMEM;
	ret = n ? take(u, u->pax, (size_t)n, false) : 1;
	if (ret < 0)
		return ret;
	u->npax = (size_t)n;
	ret = skip(u, padding(n));
	return ret < 0 ? ret : pax_each(u, pax_read, -1);
}

static void entry_reset(struct unpack *u)
{
	u->path[0] = u->link[0] = '\0';
	u->uid = u->gid = u->size = -1;
	u->has_mtime = false;
	free(u->pax);
	u->pax = NULL;
	u->npax = 0;
}

/* What the header itself says, where nothing before it did. */
static void entry_complete(struct unpack *u, const struct tar_header *h)
{
	if (!u->path[0]) {
		size_t n = 0;

		/* Only POSIX's own form has a prefix; GNU's has other things there. */
		if (!memcmp(h->magic, "ustar\0", 6) && h->prefix[0])
			n = (size_t)snprintf(u->path, TEXT_MAX, "%.155s/", h->prefix);
		snprintf(u->path + n, TEXT_MAX - n, "%.100s", h->name);
	}
	if (!u->link[0])
		snprintf(u->link, TEXT_MAX, "%.100s", h->link);
	if (u->size >= 0)
		u->e.size = (uint64_t)u->size;
	if (u->uid >= 0)
		u->e.uid = u->uid;
	if (u->gid >= 0)
		u->e.gid = u->gid;
	if (u->has_mtime)
		u->e.mtime = u->mtime;
	if (u->rules->plain)
		u->e.mode &= 01777;
	/* As old archives say it. */
	if (u->e.type == '0' && u->path[0] && u->path[strlen(u->path) - 1] == '/')
		u->e.type = '5';
}

/* ---- paths ---- */

/* Cleans path in place: "" for the directory itself; -EXDEV when it leads out. */
static int path_clean(struct unpack *u, char *path)
{
	static char copy[TEXT_MAX + 1];
	char *to = path, *save = NULL, *part;
	bool first = true;

	strcpy(copy, path);
	path[0] = '\0';
	for (part = strtok_r(copy, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		const char *name =
			first && u->rules->rename && strcmp(part, "..") ? u->rules->rename : part;

		if (!strcmp(part, "."))
			if (!first || !u->rules->rename)
				continue;
		if (!strcmp(part, ".."))
			return -EXDEV;
		if ((size_t)(to - path) + strlen(name) + 2 > TEXT_MAX || strlen(name) > 255)
			return -ENAMETOOLONG;
		to += sprintf(to, "%s%s", to == path ? "" : "/", name);
		first = false;
	}
	return 0;
}

/* What path is below dir, links followed as long as they stay there. */
static int beneath_open(struct unpack *u, const char *path, int flags)
{
	struct {
		uint64_t flags, mode, resolve;
	} how = { (uint64_t)(flags | O_CLOEXEC), 0,
		  NO_MAGIC | (u->rules->in_root ? IN_ROOT : BENEATH) };
	long fd;

	do
		fd = syscall(SYS_openat2, u->dir, *path ? path : ".", &how, sizeof(how));
	while (fd < 0 && (errno == EAGAIN || errno == EINTR));
	return fd < 0 ? -errno : (int)fd;
}

/* The directory of that path, made if it is not there. */
static int dir_make(struct unpack *u, char *path)
{
	int fd = beneath_open(u, path, O_PATH | O_DIRECTORY), above;
	char *end = path;

	if (fd != -ENOENT)
		return fd;
	above = beneath_open(u, "", O_PATH | O_DIRECTORY);
	while (above >= 0 && *end) {
		char *name = end, was;

		end = strchrnul(name, '/');
		was = *end;
		*end = '\0';
		fd = beneath_open(u, path, O_PATH | O_DIRECTORY);
		if (fd == -ENOENT) {
			fd = mkdirat(above, name, 0755) < 0 && errno != EEXIST
				     ? -errno
				     : beneath_open(u, path, O_PATH | O_DIRECTORY);
		}
		*end = was;
		end += was != '\0';
		close(above);
		above = fd;
	}
	return above;
}

/* Opens where the last name of a clean path belongs (borrowed: it stays open for the next entry),
 * and finds that name. */
static int parent_find(struct unpack *u, char *path, char **name)
{
	char *slash = strrchr(path, '/');
	int fd;

	*name = slash ? slash + 1 : path;
	if (slash)
		*slash = '\0';
	if (u->parent < 0 || strcmp(u->parent_path, slash ? path : "")) {
		static char none[] = "";

		fd = dir_make(u, slash ? path : none);
		if (fd >= 0) {
			if (u->parent >= 0)
				close(u->parent);
			u->parent = fd;
			strcpy(u->parent_path, slash ? path : "");
		}
	} else {
		fd = u->parent;
	}
	if (slash)
		*slash = '/';
	return fd;
}

/* ---- attributes ---- */

static bool owner_find(const struct unpack *u, uid_t *uid, gid_t *gid)
{
	const struct tar_rules *r = u->rules;

	*uid = (uid_t)(r->uid >= 0 ? r->uid : r->owners ? u->e.uid : -1);
	*gid = (gid_t)(r->gid >= 0 ? r->gid : r->owners ? u->e.gid : -1);
	return *uid != (uid_t)-1 || *gid != (gid_t)-1;
}

static void times_make(int64_t mtime, struct timespec t[2])
{
	t[0] = (struct timespec){ .tv_nsec = UTIME_NOW };
	t[1] = (struct timespec){ .tv_sec = (time_t)mtime };
}

/* Of what is no file, and not followed: owner and time. */
static int named_finish(struct unpack *u, int dir, const char *name)
{
	struct timespec t[2];
	uid_t uid;
	gid_t gid;

	if (owner_find(u, &uid, &gid) && fchownat(dir, name, uid, gid, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (u->e.type != '2' && fchmodat(dir, name, u->e.mode, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	times_make(u->e.mtime, t);
	(void)!utimensat(dir, name, t, AT_SYMLINK_NOFOLLOW);
	return 0;
}

static int file_finish(struct unpack *u, int fd)
{
	struct timespec t[2];
	uid_t uid;
	gid_t gid;

	if (owner_find(u, &uid, &gid) && fchown(fd, uid, gid) < 0)
		return -errno;
	if (fchmod(fd, u->e.mode) < 0)
		return -errno;
	if (u->pax)
		(void)!pax_each(u, pax_xattr, fd);
	times_make(u->e.mtime, t);
	(void)!futimens(fd, t);
	return 0;
}

/* ---- entries ---- */

/* Makes room for something that is no directory. */
static int place_clear(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return unlinkat(dir, name, 0) < 0 ? -errno : 0;
}

static int file_make(struct unpack *u, int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	uint64_t left = u->e.size;
	int ret = fd < 0 ? -errno : 0;

	while (ret == 0 && left) {
		size_t n = (size_t)MIN(left, (uint64_t)sizeof(u->buffer)), done = 0;

		ret = take(u, u->buffer, n, false);
		if (ret < 0)
			break;
		for (ret = 0; ret == 0 && done < n;) {
			ssize_t some = write(fd, u->buffer + done, n - done);

			if (some < 0 && errno != EINTR)
				ret = -errno;
			done += (size_t)MAX(some, 0);
		}
		left -= n;
	}
	if (ret == 0)
		ret = skip(u, padding(u->e.size));
	if (ret == 0)
		ret = file_finish(u, fd);
	if (fd >= 0)
		close(fd);
	if (ret < 0 && fd >= 0)
		unlinkat(dir, name, 0);
	return ret;
}

static int dir_entry(struct unpack *u, int dir, const char *name)
{
	int fd, ret = 0;
	struct stat st;

	if (mkdirat(dir, name, 0700) < 0) {
		if (errno != EEXIST || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		if (!S_ISDIR(st.st_mode)) {
			/* Another path to a directory of the tree is as good; other links are
			 * not. */
			fd = S_ISLNK(st.st_mode) ? beneath_open(u, u->path, O_PATH | O_DIRECTORY)
						 : -EEXIST;
			if (fd >= 0)
				close(fd);
			return fd < 0 ? fd : 0;
		}
	}
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0) {
		uid_t uid;
		gid_t gid;

		if (owner_find(u, &uid, &gid) && fchown(fd, uid, gid) < 0)
			ret = -errno;
		if (u->pax)
			(void)!pax_each(u, pax_xattr, fd);
		close(fd);
	}
	if (ret == 0 && u->nlater < DIRS_MAX) {
		struct later *l = realloc(u->later, (u->nlater + 1) * sizeof(*l));

		if (!l)
			return -ENOMEM;
		u->later = l;
		l[u->nlater++] = (struct later){ strdup(u->path), u->e.mode, u->e.mtime };
		return 0;
	}
	if (ret == 0 && fchmodat(dir, name, u->e.mode, AT_SYMLINK_NOFOLLOW) < 0)
		ret = -errno;
	return ret;
}

static int link_entry(struct unpack *u, int dir, const char *name)
{
	char *target, *slash;
	int at, ret;

	ret = path_clean(u, u->link);
	if (ret < 0)
		return ret;
	slash = strrchr(u->link, '/');
	target = slash ? slash + 1 : u->link;
	if (!*target)
		return -EXDEV;
	if (slash)
		*slash = '\0';
	at = beneath_open(u, slash ? u->link : "", O_PATH | O_DIRECTORY);
	if (at < 0)
		return at;
	ret = linkat(at, target, dir, name, 0) < 0 ? -errno : 0;
	close(at);
	return ret;
}

static int node_make(struct unpack *u, int dir, const char *name)
{
	mode_t type = u->e.type == '3' ? S_IFCHR : u->e.type == '4' ? S_IFBLK : S_IFIFO;

	if (u->rules->plain && type != S_IFIFO)
		return -EPERM;
	if (mknodat(dir, name, type | 0600, makedev(u->e.major, u->e.minor)) < 0)
		return -errno;
	return named_finish(u, dir, name);
}

/* The directories whose modes and times waited for what is in them. The last one first: one that is
 * above others came before them. */
static int later_apply(struct unpack *u)
{
	int ret = 0;

	for (size_t i = u->nlater; i-- > 0;) {
		struct later *l = &u->later[i];
		struct timespec t[2];
		char *name;
		int dir = l->path ? parent_find(u, l->path, &name) : -ENOMEM;

		times_make(l->mtime, t);
		/* The archive may have led the path elsewhere meanwhile, to a link. */
		if (dir >= 0 && fchmodat(dir, name, l->mode, AT_SYMLINK_NOFOLLOW) < 0)
			ret = errno == EOPNOTSUPP ? -EXDEV : -errno;
		if (dir >= 0)
			(void)!utimensat(dir, name, t, AT_SYMLINK_NOFOLLOW);
		free(l->path);
	}
	free(u->later);
	return ret;
}

/* Gives the entry to somebody else. */
static int entry_show(struct unpack *u)
{
	const struct tar_visit *v = u->visit;
	uint64_t left = u->e.size;
	int ret = v->entry(v->arg, &u->e, u->path, u->link);

	if (ret < 0)
		return ret;
	if (ret == 0 || u->e.type != '0')
		return skip(u, u->e.size + padding(u->e.size));
	while (left) {
		size_t n = (size_t)MIN(left, (uint64_t)sizeof(u->buffer));

		ret = take(u, u->buffer, n, false);
		if (ret > 0)
			ret = v->data(v->arg, u->buffer, n);
		if (ret < 0)
			return ret;
		left -= n;
	}
	return skip(u, padding(u->e.size));
}

static int entry_unpack(struct unpack *u)
{
	char *name;
	int ret, dir;
	bool has_data = u->e.type == '0';

	snprintf(u->about, TAR_ABOUT, "%.4000s", u->path);
	ret = path_clean(u, u->path);
	if (ret < 0)
		return ret;
	if (!u->path[0]) /* the directory itself */
		return skip(u, u->e.size + padding(u->e.size));
	if (u->visit)
		return entry_show(u);
	dir = parent_find(u, u->path, &name);
	if (dir < 0)
		return dir;
	if (u->e.type == '5') {
		ret = dir_entry(u, dir, name);
	} else {
		ret = place_clear(dir, name);
		if (ret == 0 && u->e.type == '0')
			ret = file_make(u, dir, name);
		else if (ret == 0 && u->e.type == '1')
			ret = link_entry(u, dir, name);
		else if (ret == 0 && u->e.type == '2')
			ret = symlinkat(u->link, dir, name) < 0 ? -errno
								: named_finish(u, dir, name);
		else if (ret == 0)
			ret = node_make(u, dir, name);
	}
	if (ret < 0)
		return ret;
	if (u->in->count) {
		u->in->count->entries++;
		u->in->count->bytes += has_data ? u->e.size : 0;
	}
	return has_data ? 0 : skip(u, u->e.size + padding(u->e.size));
}

/* One header and what belongs to it. 1: go on, 0: that was all. */
static int step(struct unpack *u)
{
	struct tar_header h;
	int ret = take(u, &h, sizeof(h), true);

	if (ret <= 0 || tar_is_zero(&h))
		return MIN(ret, 0);
	if (!tar_parse(&h, &u->e))
		return -EILSEQ;
	switch (u->e.type) {
	case 'x':
		ret = pax_take(u);
		break;
	case 'L':
		ret = text_take(u, u->path);
		break;
	case 'K':
		ret = text_take(u, u->link);
		break;
	case 'g': /* for all that follow; what matters is repeated where it does */
	case 'V': /* the name of a volume */
		ret = skip(u, u->e.size + padding(u->e.size));
		break;
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
		entry_complete(u, &h);
		if (u->e.size > INT64_MAX - TAR_BLOCK)
			return -EILSEQ;
		ret = entry_unpack(u);
		entry_reset(u);
		break;
	default:
		ret = -ENOTSUP;
	}
	return ret < 0 ? ret : 1;
}

static int read_all(const struct tar_in *i, int dir, const struct tar_rules *r,
		    const struct tar_visit *v, char *about)
{
	struct unpack *u = calloc(1, sizeof(*u));
	int ret, set;
	ssize_t n;

	about[0] = '\0';
	if (!u)
		return -ENOMEM;
	*u = (struct unpack){
		.in = i, .rules = r, .visit = v, .dir = dir, .about = about, .parent = -1
	};
	entry_reset(u);
	do
		ret = step(u);
	while (ret > 0);
	/* What stands behind the end. */
	while (ret == 0 && (n = i->read(i->arg, u->buffer, sizeof(u->buffer))) != 0)
		ret = n < 0 ? (int)n : 0;
	set = later_apply(u);
	entry_reset(u);
	if (u->parent >= 0)
		close(u->parent);
	free(u);
	return ret < 0 ? ret : set;
}

int tar_unpack(const struct tar_in *i, int dir, const struct tar_rules *r, char *about)
{
	return read_all(i, dir, r, NULL, about);
}

int tar_read(const struct tar_in *i, const struct tar_visit *v, char *about)
{
	static const struct tar_rules none = { .uid = -1, .gid = -1, .plain = true };

	return read_all(i, -1, &none, v, about);
}
