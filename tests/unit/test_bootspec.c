/* The boot spec survives the way through its memfd, and a damaged one is refused. */
/* objects: src/wire/bootspec.c src/wire/memfd.c */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "wire/bootspec.h"
#include "tap.h"

/* A copy of the file with one byte changed is refused or read, but never leads outside. */
static bool damage_is_harmless(int fd)
{
	static char buf[65536];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	for (ssize_t i = 0; i < n; i++) {
		struct bootspec s;
		int copy = memfd_create("copy", 0), err;
		char keep = buf[i];
		size_t bytes = 0;

		buf[i] = (char)0xff;
		if (write(copy, buf, (size_t)n) != n)
			return false;
		buf[i] = keep;
		err = bootspec_read(copy, &s);
		close(copy);
		if (err)
			continue;
		for (char **a = s.argv; *a; a++)
			bytes += strlen(*a);
		for (char **e = s.envp; *e; e++)
			bytes += strlen(*e);
		for (uint32_t m = 0; m < s.nmounts; m++)
			bytes += strlen(s.mounts[m].dst) + strlen(s.mounts[m].kind);
		bytes += s.groups ? strlen(s.groups) : 0;
		if (bytes > (size_t)n || s.nulimits > SPEC_ULIMITS)
			return false;
	}
	return n > 0;
}

int main(void)
{
	char a0[] = "sh", a1[] = "-c", a2[] = "", e0[] = "A=b", kind[] = "tmpfs";
	char *argv[] = { a0, a1, a2, NULL }, *envp[] = { e0, NULL }, *none[] = { NULL };
	struct bootspec in = { .argv = argv,
			       .envp = envp,
			       .workdir = "/w",
			       .hostname = "cell",
			       .uid = 7,
			       .groups = "video,7",
			       .nulimits = 1,
			       .ulimits = { { .resource = 7, .soft = 1, .hard = 2 } },
			       .memory = 1UL << 40,
			       .trace_fd = -1,
			       .nmounts = 1,
			       .mounts = { { .dst = "/m", .kind = kind, .fd = -1, .size = 5 } } };
	struct bootspec out;
	int fd = bootspec_write(&in);

	ok(fd >= 0, "written");
	ok(write(fd, "x", 1) < 0 && ftruncate(fd, 0) < 0, "sealed");
	ok(bootspec_read(fd, &out) == 0, "read");
	ok(!strcmp(out.argv[0], "sh") && !strcmp(out.argv[1], "-c") && !*out.argv[2] &&
		   !out.argv[3],
	   "arguments");
	ok(!strcmp(out.envp[0], "A=b") && !out.envp[1], "environment");
	ok(!strcmp(out.workdir, "/w") && !strcmp(out.hostname, "cell"), "strings");
	ok(out.uid == 7 && out.memory == 1UL << 40 && out.trace_fd == -1, "numbers");
	ok(out.nmounts == 1 && !strcmp(out.mounts[0].dst, "/m") &&
		   !strcmp(out.mounts[0].kind, "tmpfs") && out.mounts[0].size == 5,
	   "mounts");
	ok(damage_is_harmless(fd), "damage is refused or harmless");
	in.argv = none;
	ok(bootspec_write(&in) == -EINVAL, "no command");
	in.argv = argv;
	ok(!strcmp(out.groups, "video,7") && out.nulimits == 1 && out.ulimits[0].hard == 2,
	   "groups and limits of processes");
	in.nulimits = SPEC_ULIMITS + 1;
	ok(bootspec_write(&in) == -EINVAL, "too many limits");
	in.nulimits = 0;
	in.nmounts = SPEC_MAX_MOUNTS + 1;
	ok(bootspec_write(&in) == -EINVAL, "too many mounts");
	return tap_end();
}
