/* A host in memory, for tests that pull its plug: the functions of host/host.h that a layer with a
 * disk uses, on files that lie in memory shared with child processes, so that a child can die in
 * the middle of a call and another can look at what is left.
 *
 * For each file and directory it knows what was synced and which changes came after. After a power
 * cut there is what was synced, a prefix of the later changes of each file (the last one possibly
 * torn), and any of the later changes of each directory.
 *
 * fake->die_at: the call with this number never returns (a write may be half done). fake->fail_at:
 * it returns fake->fail_with; with fake->fail_on all later ones that write do, too. */
#ifndef VIV_TESTS_UNIT_FAKEHOST_H
#define VIV_TESTS_UNIT_FAKEHOST_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host/host.h"

#define FAKE_BYTES (512UL << 20)
#define FAKE_FDS 4096
#define FAKE_ROOT_FD 100
#define FAKE_DIED 42

struct fino;

struct fent {
	struct fent *next;
	struct fino *ino;
	char name[40];
};

/* A change that was not synced. */
struct fop {
	struct fop *next;
	enum { F_WRITE, F_SIZE, F_ADD, F_REMOVE, F_RENAME } kind;
	size_t off, len;
	char *bytes;
	struct fino *ino;
	char name[40], to[40];
};

struct fino {
	bool dir;
	unsigned nlink;
	size_t size, cap, synced_size, synced_cap;
	char *data, *synced_data;
	struct timespec mtime, ctime;
	struct fent *ents, *synced_ents;
	struct fop *ops, **ops_tail;
	struct fino *all;
	unsigned number;
};

struct fake {
	size_t used;
	struct fino *root, *all;
	unsigned inodes;
	unsigned calls, die_at, fail_at;
	int fail_with;
	bool fail_on;
	uint64_t rng;
	struct {
		struct fino *ino;
		struct fent *at;
		bool listed;
	} fds[FAKE_FDS];
	int64_t clock;
	/* for the test: */
	unsigned acked, synced, active, broken_at;
	uint8_t failed[512];
	uint8_t waits[512]; /* a sync that is on its way */
	bool broken;
	bool bare; /* a power cut leaves nothing but what was synced */
	unsigned besides; /* how often a change waited */
	size_t start; /* the files begin here */
};

static struct fake *fake;

static uint64_t fake_random(void)
{
	fake->rng ^= fake->rng << 13;
	fake->rng ^= fake->rng >> 7;
	fake->rng ^= fake->rng << 17;
	return fake->rng;
}

static void *fake_alloc(size_t n)
{
	void *p = (char *)fake + fake->used;

	fake->used += ALIGN_UP(n, (size_t)16);
	if (fake->used > FAKE_BYTES) {
		fprintf(stderr, "fakehost: out of memory\n");
		_exit(99);
	}
	memset(p, 0, n);
	return p;
}

static struct fino *fino_new(bool dir)
{
	struct fino *i = fake_alloc(sizeof(*i));

	i->dir = dir;
	i->ops_tail = &i->ops;
	i->all = fake->all;
	i->number = ++fake->inodes;
	fake->all = i;
	return i;
}

static void fake_reset(uint64_t seed)
{
	if (!fake) {
		fake = mmap(NULL, FAKE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (fake == MAP_FAILED)
			abort();
	}
	memset(fake, 0, sizeof(*fake));
	fake->used = ALIGN_UP(sizeof(*fake), (size_t)4096);
	fake->rng = seed * 0x9e3779b97f4a7c15ULL + 1;
	fake->clock = 1700000000LL * NSEC_PER_SEC;
	fake->root = fino_new(true);
}

static struct fop *fop_add(struct fino *i, int kind)
{
	struct fop *o = fake_alloc(sizeof(*o));

	o->kind = kind;
	*i->ops_tail = o;
	i->ops_tail = &o->next;
	return o;
}

/* Every call passes here: 0, or the error to return. */
static int fake_step(bool writes)
{
	unsigned n = ++fake->calls;

	if (fake->die_at && n == fake->die_at)
		_exit(FAKE_DIED);
	if (fake->fail_at && n >= fake->fail_at &&
	    (n == fake->fail_at || (fake->fail_on && writes)))
		return fake->fail_with;
	return 0;
}

static struct fent *fent_find(struct fent *list, const char *name)
{
	while (list && strcmp(list->name, name))
		list = list->next;
	return list;
}

static void fent_add(struct fent **list, const char *name, struct fino *ino)
{
	struct fent *e = fake_alloc(sizeof(*e));

	snprintf(e->name, sizeof(e->name), "%s", name);
	e->ino = ino;
	e->next = *list;
	*list = e;
}

static void fent_remove(struct fent **list, const char *name)
{
	for (; *list; list = &(*list)->next)
		if (!strcmp((*list)->name, name)) {
			*list = (*list)->next;
			return;
		}
}

static struct fent *fent_copy(struct fent *list)
{
	struct fent *out = NULL;

	for (; list; list = list->next)
		fent_add(&out, list->name, list->ino);
	return out;
}

static struct fino *fake_dir(int fd)
{
	return fd == FAKE_ROOT_FD	  ? fake->root
	       : fd >= 0 && fd < FAKE_FDS ? fake->fds[fd].ino
					  : NULL;
}

/* The directory that the last part of path is in. */
static struct fino *fake_walk(int fd, const char *path, char last[40])
{
	struct fino *at = fake_dir(fd);

	for (;;) {
		size_t n = strcspn(path, "/");

		snprintf(last, 40, "%.*s", (int)n, path);
		if (!path[n])
			return at && at->dir ? at : NULL;
		struct fent *e = at && at->dir ? fent_find(at->ents, last) : NULL;
		at = e ? e->ino : NULL;
		path += n + 1;
	}
}

static int fake_fd(struct fino *i)
{
	for (int fd = FAKE_ROOT_FD + 1; fd < FAKE_FDS; fd++)
		if (!fake->fds[fd].ino) {
			fake->fds[fd].ino = i;
			fake->fds[fd].at = NULL;
			fake->fds[fd].listed = false;
			return fd;
		}
	return -EMFILE;
}

static void fake_grow(char **p, size_t *cap, size_t n)
{
	size_t c = *cap ? *cap : 256;
	char *q;

	if (n <= *cap)
		return;
	while (c < n)
		c *= 2;
	q = fake_alloc(c);
	memcpy(q, *p ? *p : "", *p ? *cap : 0);
	*p = q;
	*cap = c;
}

static struct timespec fake_now(void)
{
	fake->clock += 1000;
	return (struct timespec){ fake->clock / NSEC_PER_SEC, fake->clock % NSEC_PER_SEC };
}

static void fino_write(struct fino *i, const char *p, size_t n, size_t off)
{
	fake_grow(&i->data, &i->cap, off + n);
	if (off > i->size)
		memset(i->data + i->size, 0, off - i->size);
	if (n)
		memcpy(i->data + off, p, n);
	i->size = MAX(i->size, off + n);
}

static void fino_size(struct fino *i, size_t n)
{
	fake_grow(&i->data, &i->cap, n);
	if (n > i->size)
		memset(i->data + i->size, 0, n - i->size);
	i->size = n;
}

static void fino_sync(struct fino *i)
{
	i->ops = NULL;
	i->ops_tail = &i->ops;
	if (i->dir) {
		i->synced_ents = fent_copy(i->ents);
		return;
	}
	fake_grow(&i->synced_data, &i->synced_cap, i->size);
	if (i->size)
		memcpy(i->synced_data, i->data, i->size);
	i->synced_size = i->size;
}

/* ---- the plug ---- */

static void power_file(struct fino *i)
{
	unsigned n = 0, keep;

	for (struct fop *o = i->ops; o; o = o->next)
		n++;
	keep = fake_random() % 4 == 0 ? n : (unsigned)(fake_random() % (n + 1));
	if (fake->bare)
		i->ops = NULL;
	i->data = NULL;
	i->size = i->cap = 0;
	fino_write(i, i->synced_data ? i->synced_data : "", i->synced_size, 0);
	for (struct fop *o = i->ops; o; o = o->next, n--) {
		if (!keep--) {
			if (o->kind == F_WRITE && fake_random() % 2)
				fino_write(i, o->bytes, fake_random() % (o->len + 1), o->off);
			break;
		}
		if (o->kind == F_WRITE)
			fino_write(i, o->bytes, o->len, o->off);
		else
			fino_size(i, o->len);
	}
}

static void power_dir(struct fino *i)
{
	i->ents = fent_copy(i->synced_ents);
	for (struct fop *o = fake->bare ? NULL : i->ops; o; o = o->next) {
		if (fake_random() % 3 == 0)
			continue;
		if (o->kind != F_ADD)
			fent_remove(&i->ents, o->name);
		if (o->kind == F_RENAME)
			fent_remove(&i->ents, o->to);
		if (o->kind == F_RENAME)
			fent_add(&i->ents, o->to, o->ino);
		if (o->kind == F_ADD && !fent_find(i->ents, o->name))
			fent_add(&i->ents, o->name, o->ino);
	}
}

/* The processes are gone; with power also what was not synced. */
static void fake_reboot(bool power)
{
	for (struct fino *i = fake->all; power && i; i = i->all) {
		if (i->dir)
			power_dir(i);
		else
			power_file(i);
		fino_sync(i);
	}
	memset(fake->fds, 0, sizeof(fake->fds));
	fake->die_at = fake->fail_at = 0;
	fake->calls = 0;
}

/* ---- host.h ---- */

int host_close(int fd)
{
	if (fd > FAKE_ROOT_FD && fd < FAKE_FDS)
		fake->fds[fd].ino = NULL;
	return 0;
}

int64_t host_pread(int fd, void *buf, size_t n, int64_t off)
{
	struct fino *i = fake_dir(fd);
	int r = fake_step(false);

	if (r < 0)
		return r;
	if (!i || i->dir)
		return -EBADF;
	if ((size_t)off >= i->size)
		return 0;
	n = MIN(n, i->size - (size_t)off);
	memcpy(buf, i->data + off, n);
	return (int64_t)n;
}

int64_t host_pwrite(int fd, const void *buf, size_t n, int64_t off)
{
	struct fino *i = fake_dir(fd);
	struct fop *o;
	int r;

	if (!i || i->dir)
		return -EBADF;
	if (fake->die_at && fake->calls + 1 == fake->die_at) /* killed half way */
		fino_write(i, buf, fake_random() % (n + 1), (size_t)off);
	r = fake_step(true);
	if (r < 0) {
		/* A part may have been written. */
		if (fake_random() % 2 && n > 1) {
			n = 1 + fake_random() % (n - 1);
			fino_write(i, buf, n, (size_t)off);
			o = fop_add(i, F_WRITE);
			o->off = (size_t)off;
			o->len = n;
			o->bytes = fake_alloc(n);
			memcpy(o->bytes, buf, n);
		}
		return r;
	}
	o = fop_add(i, F_WRITE);
	o->off = (size_t)off;
	o->len = n;
	o->bytes = fake_alloc(n + 1);
	memcpy(o->bytes, buf, n);
	fino_write(i, buf, n, (size_t)off);
	i->mtime = i->ctime = fake_now();
	return (int64_t)n;
}

/* A new entry of a directory. */
static void fake_add(struct fino *d, const char *name, struct fino *i)
{
	struct fop *o = fop_add(d, F_ADD);

	fent_add(&d->ents, name, i);
	strcpy(o->name, name);
	o->ino = i;
}

/* An entry of a directory that is there, for a call: the directory, its name there and the entry;
 * or -errno. */
static int fake_entry(int dirfd, const char *path, bool changes, struct fino **d, char last[40],
		      struct fent **e)
{
	int r;

	*d = fake_walk(dirfd, path, last);
	*e = *d ? fent_find((*d)->ents, last) : NULL;
	r = fake_step(changes);
	return r < 0 ? r : *e ? 0 : -ENOENT;
}

static int fake_open(int dirfd, const char *path, int flags)
{
	char last[40];
	struct fino *d, *i;
	struct fent *e;
	int r = fake_step(flags & O_CREAT);

	if (r < 0)
		return r;
	if (!strcmp(path, "."))
		return fake_dir(dirfd) ? fake_fd(fake_dir(dirfd)) : -EBADF;
	d = fake_walk(dirfd, path, last);
	if (!d)
		return -ENOENT;
	e = fent_find(d->ents, last);
	if (e && (flags & O_CREAT) && (flags & O_EXCL))
		return -EEXIST;
	if (!e && !(flags & O_CREAT))
		return -ENOENT;
	if (e && (flags & O_DIRECTORY) && !e->ino->dir)
		return -ENOTDIR;
	if (e)
		return fake_fd(e->ino);
	i = fino_new(false);
	i->nlink = 1;
	i->mtime = i->ctime = fake_now();
	fake_add(d, last, i);
	return fake_fd(i);
}

int host_open_beneath(int dirfd, const char *path, int flags, mode_t mode)
{
	(void)mode;
	return fake_open(dirfd, path, flags);
}

int host_openat(int dirfd, const char *path, int flags, mode_t mode)
{
	(void)mode;
	return fake_open(dirfd, path, flags);
}

static void fake_stat(const struct fino *i, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_mode = i->dir ? S_IFDIR | 0755 : S_IFREG | 0644;
	st->st_size = (off_t)i->size;
	st->st_blocks = (blkcnt_t)(ALIGN_UP(i->size, (size_t)4096) / 512);
	st->st_mtim = i->mtime;
	st->st_ctim = i->ctime;
	st->st_nlink = i->nlink;
	st->st_ino = i->number;
}

int host_fstat(int fd, struct stat *st)
{
	int r = fake_step(false);

	if (r < 0)
		return r;
	if (!fake_dir(fd))
		return -EBADF;
	fake_stat(fake_dir(fd), st);
	return 0;
}

int host_fstatat(int dirfd, const char *name, struct stat *st, int flags)
{
	char last[40];
	struct fino *d;
	struct fent *e;
	int r = fake_entry(dirfd, name, false, &d, last, &e);

	(void)flags;
	if (r == 0)
		fake_stat(e->ino, st);
	return r;
}

int host_fstatfs(int fd, struct statfs *st)
{
	(void)fd;
	memset(st, 0, sizeof(*st));
	return 0;
}

int host_mkdirat(int dirfd, const char *name, mode_t mode)
{
	char last[40];
	struct fino *d = fake_walk(dirfd, name, last);
	int r = fake_step(true);

	(void)mode;
	if (r < 0)
		return r;
	if (!d)
		return -ENOENT;
	if (fent_find(d->ents, last))
		return -EEXIST;
	fake_add(d, last, fino_new(true));
	return 0;
}

int host_unlinkat(int dirfd, const char *name, int flags)
{
	char last[40];
	struct fino *d;
	struct fent *e;
	int r = fake_entry(dirfd, name, true, &d, last, &e);

	(void)flags;
	if (r < 0)
		return r;
	e->ino->nlink--;
	fent_remove(&d->ents, last);
	strcpy(fop_add(d, F_REMOVE)->name, last);
	return 0;
}

int host_renameat2(int odirfd, const char *oname, int ndirfd, const char *nname, unsigned flags)
{
	char ol[40], nl[40];
	struct fino *od = fake_walk(odirfd, oname, ol), *nd = fake_walk(ndirfd, nname, nl), *i;
	struct fent *e = od ? fent_find(od->ents, ol) : NULL;
	struct fop *o;
	int r = fake_step(true);

	(void)flags;
	if (r < 0)
		return r;
	if (!e || !nd)
		return -ENOENT;
	i = e->ino;
	fent_remove(&od->ents, ol);
	fent_remove(&nd->ents, nl);
	fent_add(&nd->ents, nl, i);
	if (od == nd) {
		o = fop_add(od, F_RENAME);
		strcpy(o->name, ol);
		strcpy(o->to, nl);
		o->ino = i;
		return 0;
	}
	strcpy(fop_add(od, F_REMOVE)->name, ol);
	strcpy(fop_add(nd, F_REMOVE)->name, nl);
	o = fop_add(nd, F_ADD);
	strcpy(o->name, nl);
	o->ino = i;
	return 0;
}

int host_linkat(int odirfd, const char *oname, int ndirfd, const char *nname, int flags)
{
	char ol[40], nl[40];
	struct fino *od = fake_walk(odirfd, oname, ol), *nd = fake_walk(ndirfd, nname, nl);
	struct fent *e = od ? fent_find(od->ents, ol) : NULL;
	int r = fake_step(true);

	(void)flags;
	if (r < 0)
		return r;
	if (!e || !nd)
		return -ENOENT;
	if (fent_find(nd->ents, nl))
		return -EEXIST;
	e->ino->nlink++;
	fake_add(nd, nl, e->ino);
	return 0;
}

int host_utimensat(int dirfd, const char *name, const struct timespec ts[2], int flags)
{
	struct fino *i = fake_dir(dirfd);
	int r = fake_step(true);

	(void)name, (void)flags;
	if (r < 0)
		return r;
	if (!i)
		return -EBADF;
	if (ts[1].tv_nsec != UTIME_OMIT)
		i->mtime = ts[1];
	i->ctime = fake_now();
	return 0;
}

int host_ftruncate(int fd, int64_t size)
{
	struct fino *i = fake_dir(fd);
	int r = fake_step(true);

	if (r < 0)
		return r;
	if (!i)
		return -EBADF;
	fop_add(i, F_SIZE)->len = (size_t)size;
	fino_size(i, (size_t)size);
	i->mtime = i->ctime = fake_now();
	return 0;
}

int host_fallocate(int fd, int mode, int64_t off, int64_t len)
{
	int r = fake_step(true);

	(void)fd, (void)mode, (void)off, (void)len;
	return r < 0 ? r : 0;
}

int host_fsync(int fd, bool data_only)
{
	struct fino *i = fake_dir(fd);
	int r = fake_step(true);

	(void)data_only;
	if (r < 0)
		return r;
	if (!i)
		return -EBADF;
	fino_sync(i);
	return 0;
}

int host_dup(int fd)
{
	struct fino *i = fake_dir(fd);
	int r = fake_step(false);

	return r < 0 ? r : i ? fake_fd(i) : -EBADF;
}

int host_syncfs(int fd)
{
	int r = fake_step(true);

	(void)fd;
	if (r < 0)
		return r;
	for (struct fino *i = fake->all; i; i = i->all)
		fino_sync(i);
	return 0;
}

int host_write_all(int fd, const void *buf, size_t n)
{
	(void)fd, (void)buf, (void)n;
	return 0;
}

int64_t host_lseek(int fd, int64_t off, int whence)
{
	(void)fd, (void)off, (void)whence;
	return -EINVAL;
}

int64_t host_copy_range(int in, int64_t in_off, int out, int64_t out_off, size_t n)
{
	(void)in, (void)in_off, (void)out, (void)out_off, (void)n;
	return -EXDEV;
}

int host_reflink(int dst, int src)
{
	(void)dst, (void)src;
	return -EOPNOTSUPP;
}

int64_t host_getdents(int fd, void *buf, size_t size)
{
	struct fino *d = fake_dir(fd);
	size_t at = 0;
	int r = fake_step(false);

	if (r < 0)
		return r;
	if (!d || !d->dir)
		return -ENOTDIR;
	if (!fake->fds[fd].listed)
		fake->fds[fd].at = d->ents;
	fake->fds[fd].listed = true;
	for (struct fent *e = fake->fds[fd].at; e; e = e->next) {
		struct dirent64 *out = (struct dirent64 *)((char *)buf + at);
		size_t len = ALIGN_UP(offsetof(struct dirent64, d_name) + strlen(e->name) + 1,
				      (size_t)8);

		if (at + len > size)
			break;
		out->d_reclen = (unsigned short)len;
		out->d_type = DT_UNKNOWN;
		strcpy(out->d_name, e->name);
		at += len;
		fake->fds[fd].at = e->next;
	}
	return (int64_t)at;
}

int host_fcntl(int fd, int cmd, long arg)
{
	(void)fd, (void)arg;
	return cmd == F_SETLEASE && arg == F_RDLCK ? -EAGAIN : 0;
}

void host_random(void *buf, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((char *)buf)[i] = (char)fake_random();
}

uint64_t host_max_files(void)
{
	return 1024;
}

int64_t host_clock(int clock_id)
{
	(void)clock_id;
	return fake->clock;
}

#endif
