/* The boot spec: bytes in a sealed memfd, as viv gives them. A first byte of 0 or 1: the input is a
 * whole spec; else it is patched over one that is well made (offset, length, bytes), which reaches
 * what lies behind the checks of the head. */
/* objects: src/wire/bootspec.c src/wire/memfd.c */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "wire/bootspec.h"

const char fuzz_name[] = "bootspec";
const size_t fuzz_max = 4096;

static char *good;
static size_t good_size;

void fuzz_init(void)
{
	char *argv[] = { (char[]){ "/bin/sh" }, (char[]){ "-c" }, (char[]){ "true" }, NULL };
	char *envp[] = { (char[]){ "PATH=/bin" }, (char[]){ "A=b" }, NULL };
	struct bootspec s = { .argv = argv, .envp = envp, .workdir = "/", .hostname = "cell", .cpus = 1, .nmounts = 2 };
	int fd;

	s.mounts[0] = (struct mount_spec){ .dst = "/m", .kind = "host", .fd = 6 };
	s.mounts[1] = (struct mount_spec){ .dst = "/t", .kind = "tmpfs", .size = 4096 };
	fd = bootspec_write(&s);
	good_size = (size_t)lseek(fd, 0, SEEK_END);
	good = malloc(good_size);
	if (!good || pread(fd, good, good_size, 0) != (ssize_t)good_size)
		exit(2);
	close(fd);
}

/* Every string must end inside what was mapped; the sanitizer does not know mappings, a fault
 * does. */
static size_t string_use(const char *s)
{
	return s ? strlen(s) : 0;
}

void fuzz_one(const uint8_t *data, size_t size)
{
	char *spec;
	size_t len = size, used = 0;
	struct bootspec out;
	int fd;

	if (!size)
		return;
	len = data[0] < 2 ? size - 1 : good_size;
	spec = malloc(len + 1);
	if (!spec)
		return;
	if (data[0] < 2) {
		memcpy(spec, data + 1, len);
	} else {
		memcpy(spec, good, len);
		for (size_t at = 1; at + 4 <= size;) {
			size_t off = ((size_t)data[at] | (size_t)data[at + 1] << 8) % len, n = data[at + 2];

			n = MIN(MIN(n, size - at - 3), len - off);
			memcpy(spec + off, data + at + 3, n);
			at += 3 + n;
		}
	}
	fd = memfd_create("spec", 0);
	if (fd < 0 || write(fd, spec, len) != (ssize_t)len)
		exit(2);
	if (bootspec_read(fd, &out) == 0) {
		FUZZ_CHECK(out.argv[0]);
		for (char **s = out.argv; *s; s++)
			used += string_use(*s);
		for (char **s = out.envp; *s; s++)
			used += string_use(*s);
		used += string_use(out.workdir) + string_use(out.hostname) + string_use(out.groups);
		FUZZ_CHECK(out.nmounts <= SPEC_MAX_MOUNTS && out.nulimits <= SPEC_ULIMITS);
		for (uint32_t i = 0; i < out.nmounts; i++)
			used += string_use(out.mounts[i].dst) + string_use(out.mounts[i].kind);
		FUZZ_CHECK(used < 1ul << 40);
		/* The mapping is private to this input: a spec is read once by a kernel, many times
		 * here. */
		munmap(out.map, out.map_size);
	}
	close(fd);
	free(spec);
}
