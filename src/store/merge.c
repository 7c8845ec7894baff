/* See merge.h. */
#include "store/merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "store/files.h"

/* What is below data/ was written by a kernel: no link is followed, and no kernel makes one there
 * that is sound. */
static int open_beneath(int dir, const char *path, int flags)
{
	struct open_how how = { .flags = (unsigned)flags | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd >= 0 ? fd : errno == ELOOP ? -EBADMSG : -errno;
}

/* Kernels of other users read it, whatever the umask says. */
static int dir_make(int at, const char *path)
{
	int fd = mkdirat(at, path, 0755) < 0 ? -errno
					     : open_beneath(at, path, O_RDONLY | O_DIRECTORY);

	if (fd >= 0 && fchmod(fd, 0755) < 0) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static int file_make(int at, const char *name)
{
	int fd = openat(at, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || fchmod(fd, 0644) == 0)
		return fd < 0 ? -errno : fd;
	close(fd);
	return -EPERM;
}

int merge_start(struct disk *d, struct merged *m)
{
	char path[32];
	int err, c;

	*m = (struct merged){ .dir = -1, .log = -1 };
	err = disk_layer_reserve(d, &m->n);
	if (err)
		return err;
	snprintf(path, sizeof(path), "data/%" PRIu32, m->n);
	m->dir = dir_make(d->dir, path);
	c = m->dir < 0 ? m->dir : dir_make(m->dir, "c");
	err = c < 0 ? c : 0;
	if (!err) {
		close(c);
		m->log = file_make(m->dir, "log");
		err = m->log < 0 ? m->log : 0;
	}
	if (err)
		merge_drop(m, d);
	return err;
}

void merge_drop(struct merged *m, struct disk *d)
{
	if (m->log >= 0)
		close(m->log);
	if (m->dir >= 0)
		close(m->dir);
	m->dir = m->log = -1;
	(void)disk_layer_forget(d, m->n);
}

/* ---- contents ---- */

/* Of one number the highest layer comes first. */
static int content_compare(const void *a, const void *b)
{
	const struct merge_content *x = a, *y = b;
	unsigned xx = x->number & 0xff, yy = y->number & 0xff;

	if (xx != yy)
		return xx < yy ? -1 : 1;
	if (x->index != y->index)
		return x->index > y->index ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int data_copy(int in, int out, off_t size)
{
	off_t at = 0, end, to;

	while (at < size && (at = lseek(in, at, SEEK_DATA)) >= 0) {
		end = lseek(in, at, SEEK_HOLE);
		if (end < 0)
			return -errno;
		for (to = at; at < end;) {
			ssize_t n = copy_file_range(in, &at, out, &to, (size_t)(end - at), 0);

			if (n == 0)
				return -EIO;
			if (n < 0 && errno != EINTR)
				return -errno;
		}
	}
	if (at < 0 && errno != ENXIO)
		return -errno;
	return ftruncate(out, size) < 0 ? -errno : 0;
}

static int content_copy(int from, int to, const char *name, const struct stat *st)
{
	int in = open_beneath(from, name, O_RDONLY | O_NOCTTY | O_NONBLOCK), out, err;

	if (in < 0)
		return in;
	out = file_make(to, name);
	err = out < 0 ? out : data_copy(in, out, st->st_size);
	if (!err && futimens(out, (struct timespec[]){ st->st_atim, st->st_mtim }) < 0)
		err = -errno;
	if (out >= 0)
		close(out);
	close(in);
	return err == -EEXIST ? 0 : err;
}

/* Could the kernel of the disk write to a file of another one, if it had a link to it? Without root
 * all disks are of one user. */
static bool is_exposed(const struct disk *d, const struct disk_link *l, const struct stat *st)
{
	return l->fd >= 0 && st->st_uid == d->uid;
}

static int content_stat(int from, uint64_t number, char name[24], struct stat *st)
{
	snprintf(name, 24, "%" PRIx64, number);
	if (fstatat(from, name, st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? -EBADMSG : -errno;
	return S_ISREG(st->st_mode) ? 0 : -EBADMSG;
}

/* A copy where it has to be one, or the host has no room for one more link. */
static int content_link(const struct disk *d, const struct disk_link *l, int from, int to,
			uint64_t number)
{
	char name[24];
	struct stat st;
	int err = content_stat(from, number, name, &st);

	if (err || is_exposed(d, l, &st))
		return err ? err : content_copy(from, to, name, &st);
	if (linkat(from, name, to, name, 0) == 0 || errno == EEXIST)
		return 0;
	if (errno == EMLINK || errno == EXDEV || errno == EPERM || errno == EOPNOTSUPP)
		return content_copy(from, to, name, &st);
	return -errno;
}

/* c/XX of a layer of the chain. */
static int contents_open(const struct disk *d, const struct disk_link *l, unsigned xx, int flags)
{
	char path[48];

	if (l->fd >= 0)
		snprintf(path, sizeof(path), "c/%02x", xx);
	else
		snprintf(path, sizeof(path), "data/%" PRIu32 "/c/%02x", l->ref.n, xx);
	return open_beneath(l->fd >= 0 ? l->fd : d->dir, path, flags | O_DIRECTORY);
}

void merge_sort(struct merge_content *contents, size_t n)
{
	if (n)
		qsort(contents, n, sizeof(*contents), content_compare);
}

/* Of one directory of contents. Takes fd. */
static uint64_t dir_gain(int fd, uint32_t index, const struct merge_content *contents, size_t n)
{
	DIR *dir = fdopendir(fd);
	uint64_t gain = 0;
	struct dirent *e;

	if (!dir)
		close(fd);
	while (dir && (e = readdir(dir))) {
		char *end;
		struct merge_content c = { index, strtoull(e->d_name, &end, 16) };
		struct stat st;

		if (e->d_name[0] == '.' || *end ||
		    (n && bsearch(&c, contents, n, sizeof(c), content_compare)))
			continue;
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_nlink == 1)
			gain += (uint64_t)st.st_blocks * 512;
	}
	if (dir)
		closedir(dir);
	return gain;
}

uint64_t merge_gain(const struct disk *d, const struct disk_chain *chain, unsigned last,
		    const struct merge_content *contents, size_t n)
{
	uint64_t gain = 0;

	for (unsigned i = chain->n - MIN(last, chain->n); i < chain->n; i++)
		for (unsigned xx = 0; xx < 256; xx++) {
			int fd = contents_open(d, &chain->links[i], xx, O_RDONLY);

			if (fd >= 0)
				gain += dir_gain(fd, i, contents, n);
		}
	return gain;
}

uint64_t merge_cost(const struct disk *d, const struct disk_chain *chain,
		    const struct merge_content *contents, size_t n)
{
	uint64_t cost = 0;
	int from = -1;

	for (size_t i = 0; i < n; i++) {
		const struct merge_content *c = &contents[i], *last = i ? c - 1 : NULL;
		unsigned xx = c->number & 0xff;
		char name[24];
		struct stat st;

		if (c->index >= chain->n || chain->links[c->index].fd < 0)
			continue;
		if (from < 0 || !last || (last->number & 0xff) != xx || last->index != c->index) {
			if (from >= 0)
				close(from);
			from = contents_open(d, &chain->links[c->index], xx, O_PATH);
		}
		if (from >= 0 && content_stat(from, c->number, name, &st) == 0 &&
		    is_exposed(d, &chain->links[c->index], &st))
			cost += (uint64_t)st.st_blocks * 512;
	}
	if (from >= 0)
		close(from);
	return cost;
}

static int contents_make(const struct merged *m, unsigned xx)
{
	char path[8];

	snprintf(path, sizeof(path), "c/%02x", xx);
	return dir_make(m->dir, path);
}

int merge_link(struct merged *m, const struct disk *d, const struct disk_chain *chain,
	       const struct merge_content *contents, size_t n)
{
	int from = -1, to = -1, err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		const struct merge_content *c = &contents[i], *last = i ? c - 1 : NULL;
		unsigned xx = c->number & 0xff;
		bool other_dir = !last || (last->number & 0xff) != xx;

		if (last && !content_compare(c, last))
			continue;
		if (c->index >= chain->n) {
			err = -EBADMSG;
			break;
		}
		if (other_dir) {
			if (to >= 0)
				close(to);
			to = contents_make(m, xx);
		}
		if (other_dir || last->index != c->index) {
			if (from >= 0)
				close(from);
			from = contents_open(d, &chain->links[c->index], xx, O_PATH);
		}
		err = to < 0	 ? to
		      : from < 0 ? from
				 : content_link(d, &chain->links[c->index], from, to, c->number);
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return err;
}

/* ---- the end ---- */

int merge_sync(struct merged *m)
{
	if (syncfs(m->dir) < 0)
		return -errno;
	close(m->log);
	close(m->dir);
	m->log = m->dir = -1;
	return 0;
}
