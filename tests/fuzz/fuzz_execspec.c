/* The spec of a process in a running cell, as a keeper passes it on. A first byte of 0 or 1: the
 * input is a whole spec; else it is patched over one that is well made (offset, length, bytes). */
/* objects: src/wire/execspec.c src/wire/memfd.c */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "wire/execspec.h"

const char fuzz_name[] = "execspec";
const size_t fuzz_max = 2048;

static char *good;
static size_t good_size;

void fuzz_init(void)
{
	char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char[]){ "true" }, NULL };
	char *envp[] = { (char[]){ "PATH=/bin" }, (char[]){ "A=b" }, NULL };
	struct execspec s = { .argv = argv, .envp = envp, .cwd = "/", .user = "root" };
	int fd = execspec_write(&s);

	good_size = (size_t)lseek(fd, 0, SEEK_END);
	good = malloc(good_size);
	if (!good || pread(fd, good, good_size, 0) != (ssize_t)good_size)
		exit(2);
	close(fd);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	struct execspec_view v;
	size_t len, words = 0;
	char *spec;

	if (!size)
		return;
	len = data[0] < 2 ? size - 1 : good_size;
	spec = malloc(len ? len : 1);
	if (!spec)
		return;
	if (data[0] < 2) {
		memcpy(spec, data + 1, len);
	} else {
		memcpy(spec, good, len);
		for (size_t at = 1; at + 3 <= size;) {
			size_t off = data[at] % len, n = data[at + 1];

			n = MIN(MIN(n, size - at - 2), len - off);
			memcpy(spec + off, data + at + 2, n);
			at += 2 + n;
		}
	}
	if (execspec_check(spec, len, &v) == 0) {
		const char *s = v.words;

		FUZZ_CHECK(v.argc > 0);
		/* As the kernel walks them. */
		for (size_t i = 0; i < (size_t)v.argc + v.envc; i++) {
			size_t n = strlen(s) + 1;

			FUZZ_CHECK(i < v.argc || strchr(s, '='));
			words += n;
			s += n;
		}
		FUZZ_CHECK(words == v.words_size);
		FUZZ_CHECK(!v.cwd || strlen(v.cwd) < len);
		FUZZ_CHECK(!v.user || strlen(v.user) < len);
	}
	free(spec);
}
