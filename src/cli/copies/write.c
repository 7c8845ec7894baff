/* Writing a merge to the host's directory; see copies.h. The only code that does.
 *
 * Every path is walked anew, from the directory's own descriptor, beneath it and without following
 * a link (openat2), so a directory that has become a link meanwhile is an error, not a way out. A
 * file is written under another name in the directory where it belongs and renamed; what is there
 * has to be what the plan saw. Files get no rights but those of the host's file, or of a new one,
 * and the right to be executed. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/copies/copies.h"

#define TEMP_SIZE 64

static int failed(struct delta *d, const char *what, int err)
{
	snprintf(d->failed, sizeof(d->failed), "%s: %s", what,
		 err == ELOOP || err == EXDEV ? "a directory of its path is a link now"
					      : strerror(err));
	return -1;
}

static mode_t mask(void)
{
	mode_t m = umask(0);

	umask(m);
	return m;
}

/* The mode that d's file gets. */
static mode_t mode_of(const struct plan *p, const struct delta *d)
{
	const struct base *b = base_find(p->copied, d->path);
	bool exec = d->mode & 0100, exec_was = b && b->type == 'f' && (b->mode & 0100);
	mode_t mode;

	if (d->was.type != 'f')
		return (exec ? 0777 : 0666) & ~mask();
	mode = d->was.st.st_mode & 0777;
	if (exec == exec_was)
		return mode;
	return exec ? mode | (mode & 0444) >> 2 : mode & ~(mode_t)0111;
}

static void temp_name(char *to)
{
	static unsigned n;

	snprintf(to, TEMP_SIZE, ".viv-merge.%d.%u", (int)getpid(), n++);
}

/* Is what is there now what the plan saw? */
static bool is_unchanged(int dir, const char *name, const struct delta *d)
{
	struct host_state now = { 0 };

	if (fstatat(dir, name, &now.st, AT_SYMLINK_NOFOLLOW) == 0)
		now.type = S_ISREG(now.st.st_mode)   ? 'f'
			   : S_ISDIR(now.st.st_mode) ? 'd'
			   : S_ISLNK(now.st.st_mode) ? 'l'
						     : 'o';
	return host_same(&now, &d->was);
}

/* ---- content ---- */

static int content_copy(const struct plan *p, const struct delta *d, int fd)
{
	char data[65536];
	uint64_t at = 0;

	while (at < d->size) {
		size_t want = (size_t)MIN(d->size - at, (uint64_t)sizeof(data));
		ssize_t n = pread(p->spool, data, want, (off_t)(d->at + at));

		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		for (ssize_t done = 0; done < n;) {
			ssize_t some = write(fd, data + done, (size_t)(n - done));

			if (some < 0 && errno != EINTR)
				return -errno;
			done += MAX(some, 0);
		}
		at += (uint64_t)n;
	}
	return 0;
}

static int temp_make(const struct plan *p, const struct delta *d, int dir, const char *temp)
{
	int fd, ret;

	if (d->type == 'l')
		return symlinkat(d->target, dir, temp) < 0 ? -errno : 0;
	fd = openat(dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = content_copy(p, d, fd);
	if (ret == 0 && fchmod(fd, mode_of(p, d)) < 0)
		ret = -errno;
	if (close(fd) < 0 && ret == 0)
		ret = -errno;
	if (ret < 0)
		unlinkat(dir, temp, 0);
	return ret;
}

/* Makes room where the host has a directory, or d is one. */
static int place_clear(struct delta *d, int dir, const char *name)
{
	bool was_dir = d->was.type == 'd';

	if (!d->was.type || was_dir == (d->type == 'd'))
		return 0;
	if (unlinkat(dir, name, was_dir ? AT_REMOVEDIR : 0) < 0)
		return failed(d, "cannot replace it", errno);
	d->was = (struct host_state){ 0 };
	return 0;
}

static int mode_write(const struct plan *p, struct delta *d, int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err;
	struct stat st;

	if (fd < 0)
		return failed(d, "cannot open it", errno);
	/* Its other names may be anywhere. */
	if (fstat(fd, &st) < 0 || st.st_nlink > 1) {
		close(fd);
		return failed(d, "cannot change its mode", EMLINK);
	}
	err = fchmod(fd, mode_of(p, d)) < 0 ? errno : 0;
	close(fd);
	return err ? failed(d, "cannot change its mode", err) : 0;
}

/* Gives it its name; where nothing was, nothing is replaced. */
static int temp_rename(int dir, const char *temp, const char *name, bool fresh)
{
	return (int)syscall(SYS_renameat2, dir, temp, dir, name, fresh ? RENAME_NOREPLACE : 0);
}

/* A file or a link, under the name that it is to have. */
static int content_write(const struct plan *p, struct delta *d, int dir, const char *name,
			 bool fresh)
{
	char temp[TEMP_SIZE];
	int ret;

	temp_name(temp);
	ret = temp_make(p, d, dir, temp);
	if (ret < 0)
		return failed(d, "cannot write it", -ret);
	if (!fresh && !is_unchanged(dir, name, d))
		ret = failed(d, "not written", ESTALE);
	else if (temp_rename(dir, temp, name, fresh || !d->was.type) < 0)
		ret = failed(d, "cannot write it", errno);
	if (ret < 0)
		unlinkat(dir, temp, 0);
	return ret;
}

/* A link is there, whatever it goes through: does it stay in the directory? */
static bool link_leads_out(const struct plan *p, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, p->root, path, &how, sizeof(how));

	if (fd < 0)
		return errno != ENOENT;
	close(fd);
	return false;
}

static int beside_write(const struct plan *p, struct delta *d, int dir, const char *name)
{
	char other[300];

	if ((size_t)snprintf(other, sizeof(other), "%s.theirs", name) > 255)
		return failed(d, "cannot write it", ENAMETOOLONG);
	return content_write(p, d, dir, other, true);
}

static int delta_write(const struct plan *p, struct delta *d, unsigned flags)
{
	const char *name;
	int dir = host_parent(p->root, d->path, &name), ret;

	if (dir < 0)
		return failed(d, "cannot write it", -dir);
	if (d->conflict)
		ret = (flags & WRITE_BESIDE) && d->type != 'd' ? beside_write(p, d, dir, name)
							       : failed(d, "conflict", EEXIST);
	else if (!is_unchanged(dir, name, d))
		ret = failed(d, "not written", ESTALE);
	else if (!d->content)
		ret = mode_write(p, d, dir, name);
	else if (place_clear(d, dir, name) < 0)
		ret = -1;
	else if (d->type == 'd')
		ret = mkdirat(dir, name, 0777) < 0 ? failed(d, "cannot make it", errno) : 0;
	else
		ret = content_write(p, d, dir, name, false);
	close(dir);
	return ret;
}

static int delta_delete(const struct plan *p, struct delta *d)
{
	const char *name;
	int dir = host_parent(p->root, d->path, &name), ret = 0;

	if (dir < 0)
		return -dir == ENOENT ? 0 : failed(d, "cannot delete it", -dir);
	if (!is_unchanged(dir, name, d))
		ret = failed(d, "not deleted", ESTALE);
	else if (unlinkat(dir, name, d->was.type == 'd' ? AT_REMOVEDIR : 0) < 0 && errno != ENOENT)
		ret = failed(d, "cannot delete it", errno);
	close(dir);
	return ret;
}

/* ---- all of it ---- */

static bool is_wanted(const struct delta *d, unsigned flags)
{
	return !d->refused && !d->done &&
	       (!d->conflict || ((flags & WRITE_BESIDE) && d->kind != 'D' && d->type != 'd'));
}

static unsigned deletions_write(struct plan *p, bool first)
{
	unsigned bad = 0;

	/* What is in a directory before the directory. */
	for (size_t i = p->n; i-- > 0;) {
		struct delta *d = &p->v[i];
		bool replaced = false;

		if (d->kind != 'D' || d->written || d->failed[0] || !is_wanted(d, 0))
			continue;
		for (const char *s = d->path; first && (s = strchr(s, '/')); s++) {
			char *above = xstrndup(d->path, (size_t)(s - d->path));
			const struct delta *a = delta_find(p, above);

			free(above);
			replaced |= a && a->kind != 'D' && a->type != 'd' && is_wanted(a, 0);
		}
		if (first && !replaced)
			continue;
		if (delta_delete(p, d) < 0)
			bad++;
		else
			d->written = true;
	}
	return bad;
}

/* Links come last: what they lead to is there. */
static unsigned additions_write(struct plan *p, unsigned flags, bool links)
{
	unsigned bad = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct delta *d = &p->v[i];

		if (d->kind == 'D' || (d->type == 'l') != links || !is_wanted(d, flags))
			continue;
		if (delta_write(p, d, flags) < 0)
			bad++;
		else
			d->written = true;
	}
	return bad;
}

/* A link may lead through others, of the host's or of this merge. */
static unsigned links_check(struct plan *p)
{
	unsigned bad = 0;

	for (size_t i = 0; i < p->n; i++) {
		struct delta *d = &p->v[i];
		const char *name;
		int dir;

		if (!d->written || d->type != 'l' || d->conflict || !link_leads_out(p, d->path))
			continue;
		dir = host_parent(p->root, d->path, &name);
		if (dir >= 0)
			unlinkat(dir, name, 0);
		if (dir >= 0)
			close(dir);
		d->written = false;
		snprintf(d->failed, sizeof(d->failed),
			 "it leads out of the directory by way of another link, and was removed");
		bad++;
	}
	return bad;
}

/* What the host has now is what the record says from here on. */
static void record_update(struct plan *p)
{
	struct copied *c = p->copied;
	struct buf list = { 0 };

	for (size_t i = 0; i < c->n; i++) {
		const struct delta *d = delta_find(p, c->base[i].path);

		if (d && !d->conflict && (d->written || d->done) && !d->refused)
			free(c->base[i].path);
		else
			buf_add(&list, &c->base[i], sizeof(c->base[i]));
	}
	for (size_t i = 0; i < p->n; i++) {
		const struct delta *d = &p->v[i];
		struct base b = { 0 };
		struct host_state s;

		if (d->kind == 'D' || d->refused || d->conflict || (!d->written && !d->done))
			continue;
		host_look(p->root, d->path, &s);
		if (s.type != d->type)
			continue;
		base_set(&b, &s);
		b.path = xstrndup(d->path, strlen(d->path));
		memcpy(b.hash, d->hash, SHA1_SIZE);
		buf_add(&list, &b, sizeof(b));
	}
	free(c->base);
	c->base = (struct base *)(void *)list.p;
	c->n = BUF_COUNT(&list, struct base);
	base_sort(c);
}

unsigned plan_write(struct plan *p, unsigned flags)
{
	unsigned bad = deletions_write(p, true);

	bad += additions_write(p, flags, false);
	bad += additions_write(p, flags, true);
	bad += links_check(p);
	bad += deletions_write(p, false);
	record_update(p);
	return bad;
}
