/* What a kernel says about a disk, read as the word of a stranger. */
/* objects: src/keeper/disk/changes.c src/base/err.c src/base/buf.c src/base/jsontext.c src/base/utf8.c */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keeper/disk/changes.h"
#include "tap.h"

static const char *bytes;
static size_t nbytes;
static int status;

/* Instead of a kernel: a pipe with what it would say. */
int disk_kernel_start(struct rootfs *p, const struct run_tell *what, struct disk_kernel *t, struct err *e)
{
	int fds[2];

	(void)p, (void)what, (void)e;
	if (pipe(fds) < 0 || write(fds[1], bytes, nbytes) != (ssize_t)nbytes)
		abort();
	close(fds[1]);
	*t = (struct disk_kernel){ .pid = 0, .fd = fds[0] };
	return 0;
}

int disk_kernel_stop(struct disk_kernel *t)
{
	return disk_kernel_end(t, NULL);
}

int disk_kernel_end(struct disk_kernel *t, struct err *e)
{
	(void)e;
	(void)t;
	return status;
}

/* How many paths are told before the end; -1: it makes no sense. */
static int changes(const char *p, size_t n, bool contents)
{
	static struct disk_link links[2];
	static struct view v = { .rootfs.chain = { .links = links, .n = 2 } };
	struct change_stream s;
	struct change one;
	struct err e;
	int count = 0, r;

	bytes = p;
	nbytes = n;
	if (changes_open(&s, &v, 0, contents, &e) < 0)
		abort();
	while ((r = changes_next(&s, &one, &e)) > 0) {
		count++;
		change_fini(&one);
	}
	changes_close(&s);
	return r < 0 ? -1 : count;
}

#define CHANGES(text, contents) changes(text, sizeof(text) - 1, contents)
#define FILE0 "f 644 0 0 0 -2 0 1.5 -\0"
#define DIR0 "d 755 0 0 0 -2 0 1.5 -\0"

static void lists(void)
{
	eq(CHANGES("", false), 0, "nothing");
	eq(CHANGES("/a\0-\0" FILE0, false), 1, "a file");
	eq(CHANGES("/\0" DIR0 DIR0 "/a\0-\0" DIR0 "/a/b\0-\0" FILE0 "/a!\0" FILE0 "-\0", false), 4,
	   "the order of a walk");
	eq(CHANGES("/a!\0-\0" FILE0 "/a/b\0-\0" FILE0, false), -1, "another order");
	eq(CHANGES("/a\0-\0" FILE0 "/a\0-\0" FILE0, false), -1, "a path twice");
	eq(CHANGES("/a\0-\0-\0", false), -1, "neither was nor is");
	eq(CHANGES("/a\0-\0f 644 0 0 0 1 7 1.5 -\0", false), 1, "a content of the chain");
	eq(CHANGES("/a\0-\0f 644 0 0 0 2 7 1.5 -\0", false), -1, "a content of no layer");
	eq(CHANGES("/a\0-\0f 644 0 0 0 1 ../7 1.5 -\0", false), -1, "a content with no number");
	eq(CHANGES("/a\0-\0f 17777 0 0 0 1 7 1.5 -\0", false), -1, "a mode that there is not");
	eq(CHANGES("/a\0-\0x 644 0 0 0 1 7 1.5 -\0", false), -1, "a kind that there is not");
	eq(CHANGES("/a\0-\0" FILE0 "/b\0-\0", false), -1, "the end is missing");
	eq(CHANGES("/a\0-\0f 644 0 0 1 1 7 1.5 +\0x", false), -1, "a content nobody asked for");
	status = 1;
	eq(CHANGES("/a\0-\0" FILE0, false), -1, "a kernel that failed");
	status = 0;
}

static void paths(void)
{
	static char long_name[600], deep[70000];

	eq(CHANGES("a\0-\0" FILE0, false), -1, "no slash");
	eq(CHANGES("/../a\0-\0" FILE0, false), -1, "up");
	eq(CHANGES("/a/..\0-\0" FILE0, false), -1, "up at the end");
	eq(CHANGES("/a/./b\0-\0" FILE0, false), -1, "a dot");
	eq(CHANGES("//a\0-\0" FILE0, false), -1, "an empty name");
	eq(CHANGES("/a/\0-\0" FILE0, false), -1, "an empty name at the end");
	eq(CHANGES("/..a/.b/...\0-\0" FILE0, false), 1, "names with dots");
	memset(long_name, 'x', sizeof(long_name));
	long_name[0] = '/';
	long_name[256] = 0;
	memcpy(long_name + 257, "-\0" FILE0, 2 + sizeof(FILE0) - 1);
	eq(changes(long_name, 257 + 2 + sizeof(FILE0) - 1, false), 1, "255 bytes");
	long_name[256] = 'x';
	long_name[257] = 0;
	memcpy(long_name + 258, "-\0" FILE0, 2 + sizeof(FILE0) - 1);
	eq(changes(long_name, 258 + 2 + sizeof(FILE0) - 1, false), -1, "256 bytes");
	for (unsigned i = 0; i < 60000; i += 2)
		memcpy(deep + i, "/a", 2);
	eq(changes(deep, 60000, false), -1, "no end");
}

static void contents(void)
{
	eq(CHANGES("/a\0-\0f 644 0 0 3 1 7 1.5 +\0x\0y/b\0-\0l 777 0 0 2 -2 0 1.5 +\0to", true), 2,
	   "contents");
	eq(CHANGES("/a\0-\0f 644 0 0 3 1 7 1.5 +\0xy", true), -1, "a content that is short");
	eq(CHANGES("/a\0-\0f 644 0 0 4194305 1 7 1.5 +\0x", true), -1, "a content that is too large");
	eq(CHANGES("/a\0-\0f 644 0 0 99999999999 1 7 1.5 !\0", true), 1, "one that is not told");
	eq(CHANGES("/a\0f 644 0 0 3 1 7 1.5 =\0f 600 0 0 3 1 7 1.5 =\0", true), 1, "the same");
	eq(CHANGES("/a\0f 644 0 0 3 1 7 1.5 =\0f 600 0 0 3 1 7 1.5 !\0", true), -1, "half the same");
	eq(CHANGES("/a\0-\0f 644 0 0 3 1 7 1.5 -\0", true), -1, "no content");
	eq(CHANGES("/a\0-\0d 755 0 0 3 1 7 1.5 +\0xxx", true), -1, "a directory's");
	eq(CHANGES("/a\0-\0l 777 0 0 3 1 7 1.5 !\0", true), -1, "a link without its text");
}

int main(void)
{
	lists();
	paths();
	contents();
	return tap_end();
}
