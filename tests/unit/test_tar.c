/* Tar archives: numbers of headers, and trees that are packed and unpacked again, with names around
 * every limit of the format. */
/* objects: src/files/tarhead.c src/files/tarpack.c src/files/tarunpack.c src/files/stored.c src/files/walk.c src/base/buf.c src/base/log.c */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "files/tar.h"
#include "tap.h"

static bool number_is(const char *field, size_t n, int64_t want)
{
	int64_t got = -99;

	return tar_number(field, n, &got) && got == want;
}

static void numbers(void)
{
	char field[12];
	int64_t v;

	ok(number_is("0000644\0", 8, 0644), "octal");
	ok(number_is("   644 \0", 8, 0644), "octal between spaces");
	ok(number_is("\0\0\0\0\0\0\0", 8, 0), "nothing");
	ok(number_is("77777777777", 11, 077777777777), "the largest one");
	ok(number_is("\x80\0\0\0\0\0\0\0\0\0\1\0", 12, 256), "base 256");
	ok(number_is("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe", 12, -2), "below zero");
	ok(!tar_number("\x80\0\0\1\0\0\0\0\0\0\0\0", 12, &v), "too large");
	ok(!tar_number("12x4567", 8, &v), "no number");
	ok(!tar_number("-1", 3, &v), "a sign");
	tar_number_put(field, 12, 077777777777);
	ok(number_is(field, 12, 077777777777), "there and back");
}

/* ---- trees ---- */

static struct buf archive;

static int archive_write(void *arg, const void *data, size_t n)
{
	(void)arg;
	buf_add(&archive, data, n);
	return 0;
}

static ssize_t archive_read(void *arg, void *buf, size_t n)
{
	size_t *at = arg;

	n = MIN(n, MIN(archive.len - *at, (size_t)1000));
	memcpy(buf, archive.p + *at, n);
	*at += n;
	return (ssize_t)n;
}

static void file_make(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT, 0640);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		exit(2);
	close(fd);
}

/* A path of that length below dir, with its directories. */
static void path_make(int dir, size_t n, char *path)
{
	memset(path, 'p', n);
	path[n] = '\0';
	for (size_t i = 200; i + 1 < n; i += 201) {
		path[i] = '\0';
		mkdirat(dir, path, 0755);
		path[i] = '/';
	}
}

static bool is_same(int dir, const char *path, const char *text)
{
	char got[64] = "";
	int fd = openat(dir, path, O_RDONLY);
	ssize_t n = read(fd, got, sizeof(got) - 1);

	close(fd);
	return n == (ssize_t)strlen(text) && !strcmp(got, text);
}

static void trees(int top)
{
	static const size_t lengths[] = { 90,  97,  98,	 99,  100, 101, 250, 900,
					  978, 979, 980, 981, 982, 990, 3000 };
	const struct tar_out out = { .write = archive_write };
	size_t at = 0;
	const struct tar_in in = { .read = archive_read, .arg = &at };
	struct tar_rules rules = { .uid = -1, .gid = -1, .rename = "b" };
	char about[TAR_ABOUT], path[4096], name[32];
	struct stat x, y;
	int a, b;

	mkdirat(top, "a", 0755);
	a = openat(top, "a", O_RDONLY | O_DIRECTORY);
	for (unsigned i = 0; i < ARRAY_LEN(lengths); i++) {
		path_make(a, lengths[i], path);
		snprintf(name, sizeof(name), "%zu", lengths[i]);
		file_make(a, path, name);
	}
	path_make(a, 101, path);
	ok(linkat(a, path, a, "hard", 0) == 0 && symlinkat(path, a, "soft") == 0, "links are made");
	eq(tar_pack(&out, top, "a", "a", about), 0, "packed");
	ok(archive.len % TAR_BLOCK == 0, "in whole blocks");
	eq(tar_unpack(&in, top, &rules, about), 0, "unpacked under another name");
	b = openat(top, "b", O_RDONLY | O_DIRECTORY);
	ok(b >= 0, "it is there");
	for (unsigned i = 0; i < ARRAY_LEN(lengths); i++) {
		path_make(a, lengths[i], path);
		snprintf(name, sizeof(name), "%zu", lengths[i]);
		ok(is_same(b, path, name), name);
	}
	path_make(a, 101, path);
	ok(fstatat(b, "hard", &x, 0) == 0 && fstatat(b, path, &y, 0) == 0 && x.st_ino == y.st_ino,
	   "a link is one");
	ok((x.st_mode & 07777) == 0640, "the mode");
	ok(is_same(b, "soft", "101"), "a symbolic link");
	at = archive.len - 2 * TAR_BLOCK;
	eq(tar_unpack(&in, top, &rules, about), 0, "an empty one");
	at = 100;
	eq(tar_unpack(&in, top, &rules, about), -EILSEQ, "the middle of one");
	archive.len = 700;
	at = 0;
	eq(tar_unpack(&in, top, &rules, about), -EILSEQ, "half of one");
	eq(tar_pack(&out, top, "none", "none", about), -ENOENT, "nothing");
}

int main(void)
{
	char dir[] = "/tmp/viv-tar.XXXXXX", command[64];
	int top;

	numbers();
	if (!mkdtemp(dir) || (top = open(dir, O_RDONLY | O_DIRECTORY)) < 0)
		return 2;
	trees(top);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) ? 2 : tap_end();
}
