/* Unpacking tar archives (viv-files, viv cp): the input is an archive, by the first byte with its
 * sums made right, unpacked with other rules, or into a root of its own. Whatever it is, nothing
 * outside of the directory may change. */
/* objects: src/files/tarhead.c src/files/tarunpack.c src/store/files.c src/base/log.c src/base/err.c src/base/jsontext.c src/base/utf8.c src/base/buf.c */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/tar.h"
#include "fuzz.h"
#include "store/files.h"

const char fuzz_name[] = "untar";
const size_t fuzz_max = 16384;

static int top = -1;

struct source {
	const uint8_t *data;
	size_t left;
};

void fuzz_init(void)
{
	char dir[4096];
	const char *tmp = getenv("TMPDIR");
	int fd;

	snprintf(dir, sizeof(dir), "%s/fuzz-untar.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir) || (top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
	    mkdirat(top, "out", 0755) < 0)
		exit(2);
	fd = openat(top, "out/kept", O_WRONLY | O_CREAT, 0644);
	if (fd < 0 || write(fd, "kept", 4) != 4)
		exit(2);
	close(fd);
	umask(0);
}

static ssize_t source_read(void *arg, void *buf, size_t n)
{
	struct source *s = arg;

	n = MIN(n, MIN(s->left, (size_t)700)); /* in pieces that fit nothing */
	memcpy(buf, s->data, n);
	s->data += n;
	s->left -= n;
	return (ssize_t)n;
}

/* Headers where they are expected get the right sum. */
static void sums_mend(uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at + TAR_BLOCK <= size) {
		struct tar_header h;
		struct tar_entry e;

		memcpy(&h, data + at, sizeof(h));
		tar_number_put(h.sum, 7, tar_sum(&h));
		h.sum[7] = ' ';
		memcpy(data + at, &h, sizeof(h));
		at += TAR_BLOCK;
		if (tar_parse(&h, &e) && e.size < size)
			at += ALIGN_UP((size_t)e.size, (size_t)TAR_BLOCK);
	}
}

/* "out" is as it was, and nothing is beside it. */
static void outside_check(void)
{
	char text[8] = "";
	int fd = openat(top, "out", O_RDONLY | O_DIRECTORY), n = 0;
	DIR *d = fdopendir(fd);
	struct dirent *e;
	struct stat st;

	while ((e = readdir(d)))
		n++;
	FUZZ_CHECK(n == 3);
	FUZZ_CHECK(fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0755 && st.st_uid == geteuid());
	closedir(d);
	fd = openat(top, "out/kept", O_RDONLY | O_NOFOLLOW);
	FUZZ_CHECK(fd >= 0 && read(fd, text, sizeof(text)) == 4 && !memcmp(text, "kept", 4));
	FUZZ_CHECK(fstat(fd, &st) == 0 && (st.st_mode & 07777) == 0644 && st.st_nlink == 1);
	close(fd);
	d = fdopendir(openat(top, ".", O_RDONLY | O_DIRECTORY));
	for (n = 0; (e = readdir(d)); n++)
		;
	FUZZ_CHECK(n == 4);
	closedir(d);
}

/* Reading without unpacking (viv merge): paths are clean, and a file has as many bytes as its entry
 * says. */
static uint64_t left;

static int visit_entry(void *arg, const struct tar_entry *e, const char *path, const char *link)
{
	(void)arg;
	FUZZ_CHECK(left == 0 && *path && *path != '/' && link);
	FUZZ_CHECK(strcmp(path, "..") && strncmp(path, "../", 3) && !strstr(path, "/../"));
	FUZZ_CHECK(!(e->mode & 06000));
	left = e->type == '0' && e->size % 3 ? e->size : 0;
	return left > 0;
}

static int visit_data(void *arg, const void *data, size_t n)
{
	(void)arg;
	FUZZ_CHECK(data && n && n <= left);
	left -= n;
	return 0;
}

static void visited(struct source s)
{
	const struct tar_in in = { .read = source_read, .arg = &s };
	const struct tar_visit v = { .entry = visit_entry, .data = visit_data };
	char about[TAR_ABOUT];
	int ret;

	left = 0;
	ret = tar_read(&in, &v, about);
	FUZZ_CHECK(ret <= 0 && (ret < 0 || !left));
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct source s;
	const struct tar_in in = { .read = source_read, .arg = &s };
	struct tar_rules rules = { .uid = -1, .gid = -1 };
	char about[TAR_ABOUT];
	uint8_t *copy;
	int dir, ret;

	if (size < 2)
		return;
	copy = malloc(size);
	memcpy(copy, data, size);
	rules.owners = data[0] & 1;
	rules.rename = data[0] & 2 ? "new" : NULL;
	rules.in_root = data[0] & 4;
	if (data[0] & 8)
		sums_mend(copy + 1, size - 1);
	s = (struct source){ copy + 1, size - 1 };
	visited(s);
	FUZZ_CHECK(mkdirat(top, "in", 0755) == 0);
	dir = openat(top, "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_CHECK(symlinkat("../out", dir, "away") == 0 && mkdirat(dir, "d", 0755) == 0);
	ret = tar_unpack(&in, dir, &rules, about);
	FUZZ_CHECK(ret <= 0 && memchr(about, 0, sizeof(about)));
	close(dir);
	outside_check();
	free(copy);
	FUZZ_CHECK(tree_remove(top, "in") == 0);
}
