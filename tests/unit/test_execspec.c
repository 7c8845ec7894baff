/* What a process in a running cell is to be: written, read, and refused when it is damaged. */
/* objects: src/wire/execspec.c src/wire/memfd.c */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire/execspec.h"
#include "tap.h"

static char word_a[] = "sh", word_b[] = "", word_c[] = "a b";
static char var_a[] = "A=1", var_b[] = "B=", bad_var[] = "none";
static char *argv[] = { word_a, word_b, word_c, NULL }, *envp[] = { var_a, var_b, NULL };

static const struct execspec whole = {
	.flags = EXECSPEC_CELL_ENV, .argv = argv, .envp = envp, .cwd = "/tmp", .user = "nobody"
};

static void round_trip(void)
{
	struct execspec_view v;
	size_t size = 0;
	void *map = NULL;
	int fd = execspec_write(&whole);

	ok(fd >= 0 && execspec_map(fd, &v, &map, &size) == 0, "a spec is read");
	ok(v.argc == 3 && v.envc == 2 && v.flags == EXECSPEC_CELL_ENV, "counts and flags");
	ok(v.words_size == 15 && !memcmp(v.words, "sh\0\0a b\0A=1\0B=\0", 15), "words follow each other");
	ok(!strcmp(v.cwd, "/tmp") && !strcmp(v.user, "nobody"), "directory and user");
	execspec_unmap(map, size);
	close(fd);
}

static void refused_by_writer(void)
{
	char *none[] = { NULL }, *bad[] = { bad_var, NULL };
	struct execspec s = whole;
	char *big = malloc(3 << 20);

	s.argv = none;
	ok(execspec_write(&s) == -EINVAL, "no word");
	s = whole;
	s.envp = bad;
	ok(execspec_write(&s) == -EINVAL, "a variable without a value");
	memset(big, 'x', (3 << 20) - 1);
	big[(3 << 20) - 1] = 0;
	s = whole;
	s.cwd = big;
	ok(execspec_write(&s) == -E2BIG, "too long");
	free(big);
}

/* A file that can still change is not believed, whatever is in it. */
static void refused_unsealed(void)
{
	struct execspec_view v;
	int good = execspec_write(&whole), fd = memfd_create("spec", MFD_ALLOW_SEALING);
	char bytes[4096];
	ssize_t n = pread(good, bytes, sizeof(bytes), 0);
	size_t size;
	void *map;

	ok(n > 0 && write(fd, bytes, (size_t)n) == n && execspec_map(fd, &v, &map, &size) == -EINVAL, "not sealed");
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	ok(execspec_map(fd, &v, &map, &size) == -EINVAL, "not sealed against writing");
	fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE);
	ok(execspec_map(fd, &v, &map, &size) == 0, "sealed");
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	ok(execspec_map(fd, &v, &map, &size) == -EINVAL, "no memory file");
	close(fd);
	close(good);
}

/* Every length, and every byte changed in some ways: refused, or a view that lies inside. */
static void damaged(void)
{
	int fd = execspec_write(&whole);
	char bytes[4096], *copy;
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
	static const unsigned char with[] = { 0, 1, 2, 0x7f, 0x80, 0xff };
	struct execspec_view v;
	unsigned shorter = 0;
	bool inside = true;

	for (ssize_t len = 0; len < n; len++) {
		copy = malloc((size_t)len + 1); /* exact, so that a sanitizer sees more */
		memcpy(copy, bytes, (size_t)len);
		shorter += execspec_check(copy, (size_t)len, &v) == 0;
		free(copy);
	}
	ok(!shorter, "no shorter one is taken");
	for (ssize_t at = 0; at < n; at++)
		for (size_t i = 0; i < sizeof(with); i++) {
			copy = malloc((size_t)n);
			memcpy(copy, bytes, (size_t)n);
			copy[at] = (char)with[i];
			if (execspec_check(copy, (size_t)n, &v) == 0) {
				const char *end = copy + n;

				inside &= v.words >= copy && v.words + v.words_size <= end &&
					  (!v.cwd || (v.cwd >= copy && v.cwd < end)) && (!v.user || (v.user >= copy && v.user < end));
			}
			free(copy);
		}
	ok(inside, "whatever is taken lies inside");
	close(fd);
}

int main(void)
{
	round_trip();
	refused_by_writer();
	refused_unsealed();
	damaged();
	return tap_end();
}
