/* The parts of a container image by name: files of a directory, or of an archive. An archive's are
 * unpacked into the work directory under numbers, as they may come in any order and the list of
 * them last. Symbolic and hard links between them (old versions of docker save make them) are
 * followed by name, never by the host. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "import/container.h"
#include "import/progress.h"

#define PARTS_MAX 10000

struct part {
	size_t name; /* in text */
	size_t target; /* of a link, in text; else 0 */
	uint64_t size;
};

/* A path without '.' and '..', relative to the directory of base; false: it leads outside. */
static bool path_clean(const char *base, const char *path, char *out, size_t size)
{
	size_t len = 0;
	const char *slash = base ? strrchr(base, '/') : NULL;

	if (path[0] != '/' && slash) {
		len = (size_t)(slash - base);
		if (len >= size)
			return false;
		memcpy(out, base, len);
	}
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !memcmp(path, "..", 2)) {
			if (!len)
				return false;
			while (len && out[--len] != '/')
				;
		} else if (n && !(n == 1 && path[0] == '.')) {
			if (len + n + 2 > size)
				return false;
			if (len)
				out[len++] = '/';
			memcpy(out + len, path, n);
			len += n;
		}
		path += n;
		while (*path == '/')
			path++;
	}
	out[len] = '\0';
	return len > 0;
}

static const char *part_text(const struct parts *p, size_t at)
{
	return (const char *)p->text.p + at;
}

static size_t text_add(struct parts *p, const char *text)
{
	return buf_add(&p->text, text, strlen(text) + 1);
}

static int part_write(struct parts *p, struct import *im, struct archive *a, size_t number,
		      uint64_t *total, struct err *e)
{
	char name[32];
	int fd, r;

	snprintf(name, sizeof(name), "%zu", number);
	fd = openat(p->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(e, ERR_FAILED, "cannot write to '%s': %s", im->store->path,
			       strerror(errno));
	for (;;) {
		const void *data;
		size_t n;
		int64_t at;

		r = archive_read_data_block(a, &data, &n, &at);
		if (r != ARCHIVE_OK || interrupted())
			break;
		*total += n;
		if (*total > im->objects.max_total || pwrite(fd, data, n, at) != (ssize_t)n) {
			r = ARCHIVE_FATAL;
			int err = errno;

			if (*total > im->objects.max_total)
				archive_set_error(a, EFBIG, "larger than --max-size allows");
			else
				archive_set_error(a, err, "cannot write to '%s': %s",
						  im->store->path, strerror(err));
			break;
		}
		progress_show();
	}
	close(fd);
	if (r == ARCHIVE_EOF)
		return 0;
	return err_set(e, ERR_FAILED, "%s",
		       interrupted() ? "interrupted" : archive_error_string(a));
}

static int part_add(struct parts *p, struct import *im, struct archive *a, struct archive_entry *ae,
		    uint64_t *total, struct err *e)
{
	const char *path = archive_entry_pathname(ae), *hard = archive_entry_hardlink(ae);
	const char *link = hard ? hard : archive_entry_symlink(ae);
	char clean[1024];
	struct part part = { 0 };
	size_t number = BUF_COUNT(&p->names, struct part);

	if (!path ||
	    (!S_ISDIR(archive_entry_mode(ae)) && !path_clean(NULL, path, clean, sizeof(clean))))
		return err_set(e, ERR_FAILED, "the name '%.200s' leads out of the archive",
			       path ? path : "");
	if (S_ISDIR(archive_entry_mode(ae)))
		return 0;
	if (number >= PARTS_MAX)
		return err_set(e, ERR_FAILED, "a container image of more than %d parts", PARTS_MAX);
	part.name = text_add(p, clean);
	if (link) {
		if (!path_clean(hard ? NULL : clean, link, clean, sizeof(clean)))
			return err_set(e, ERR_FAILED, "the link '%.200s' leads out of the archive",
				       path);
		part.target = text_add(p, clean);
	} else if (S_ISREG(archive_entry_mode(ae))) {
		if (part_write(p, im, a, number, total, e) < 0)
			return -1;
	} else {
		return err_set(e, ERR_FAILED,
			       "'%.200s' is not a regular file; it does not belong here", path);
	}
	buf_add(&p->names, &part, sizeof(part));
	return 0;
}

int parts_unpack(struct parts *p, struct import *im, struct archive *a, struct archive_entry *first,
		 struct err *e)
{
	struct archive_entry *ae = first;
	uint64_t total = 0;
	int r = ARCHIVE_OK;

	*p = (struct parts){ .dir = -1, .flat = true };
	text_add(p, ""); /* no part's text is at 0 */
	if (mkdirat(im->work.fd, "parts", 0700) < 0 ||
	    (p->dir = openat(im->work.fd, "parts", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return err_set(e, ERR_FAILED, "cannot write to '%s': %s", im->store->path,
			       strerror(errno));
	while (r != ARCHIVE_EOF) {
		if (part_add(p, im, a, ae, &total, e) < 0)
			return -1;
		r = archive_read_next_header(a, &ae);
		if (r < ARCHIVE_WARN || interrupted())
			return err_set(e, ERR_FAILED, "%s",
				       interrupted() ? "interrupted" : archive_error_string(a));
	}
	return 0;
}

/* The last part of that name: the number of its file. */
static bool part_find(const struct parts *p, const char *name, size_t *ret)
{
	for (unsigned links = 0; links < 8; links++) {
		const struct part *found = NULL;

		for (size_t i = BUF_COUNT(&p->names, struct part); i-- > 0 && !found;) {
			const struct part *part = BUF_ITEM(&p->names, struct part, i);

			if (!strcmp(part_text(p, part->name), name)) {
				found = part;
				*ret = i;
			}
		}
		if (!found)
			return false;
		if (!found->target)
			return true;
		name = part_text(p, found->target);
	}
	return false;
}

int parts_open(struct parts *p, const char *name, struct err *e)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	char clean[1024], file[32];
	struct stat st;
	size_t number;
	int fd = -1;

	errno = ENOENT;
	if (!path_clean(NULL, name, clean, sizeof(clean)))
		return err_set(e, ERR_FAILED, "the name '%.200s' leads out of the image", name);
	if (!p->flat) {
		fd = (int)syscall(SYS_openat2, p->dir, clean, &how, sizeof(how));
	} else if (part_find(p, clean, &number)) {
		snprintf(file, sizeof(file), "%zu", number);
		fd = openat(p->dir, file, O_RDONLY | O_CLOEXEC);
	}
	if (fd < 0)
		return err_set(e, ERR_FAILED, "'%.200s' of the image cannot be opened: %s", clean,
			       strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return err_set(e, ERR_FAILED, "'%.200s' of the image is not a regular file", clean);
	}
	return fd;
}

bool parts_have(struct parts *p, const char *name)
{
	struct err e;
	int fd = parts_open(p, name, &e);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void parts_fini(struct parts *p)
{
	if (p->flat && p->dir >= 0)
		close(p->dir);
	buf_free(&p->names);
	buf_free(&p->text);
}
