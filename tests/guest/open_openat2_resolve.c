/* openat2's RESOLVE_* flags: what a walk may not do, and the error for each. */
#include "guest.h"
#include <linux/openat2.h>
#include <sys/syscall.h>

static int dir;

static void try(const char *path, uint64_t flags, uint64_t resolve, const char *what)
{
	struct open_how how = { .flags = flags, .resolve = resolve };
	int fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	printf("%-12s %s: %s\n", what, path, fd >= 0 ? "ok" : ename(errno));
	if (fd >= 0)
		close(fd);
}

int main(void)
{
	static const char *const paths[] = { "f",	"sub/../f", "../d/f", "..",  "/dev/null",
					     "in",	"inner/g",  "out",    "abs", "magic",
					     "missing", "sub/up",   "/f" };
	mkdir("d", 0755);
	mkdir("d/sub", 0755);
	put_file("d/f", "f");
	put_file("d/sub/g", "g");
	put_file("outside", "o");
	symlink("f", "d/in");
	symlink("sub", "d/inner");
	symlink("../outside", "d/out");
	symlink("/dev/null", "d/abs");
	symlink("/proc/self/exe", "d/magic");
	symlink("../f", "d/sub/up");
	dir = open("d", O_PATH);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		try(paths[i], O_RDONLY, 0, "plain");
		try(paths[i], O_RDONLY, RESOLVE_BENEATH, "beneath");
		try(paths[i], O_RDONLY, RESOLVE_IN_ROOT, "in_root");
		try(paths[i], O_RDONLY, RESOLVE_NO_SYMLINKS, "no_symlinks");
		try(paths[i], O_RDONLY, RESOLVE_NO_MAGICLINKS, "no_magic");
		/*
		 * Whether "/" is on the same mount as the current directory is the host's affair.
		 */
		if (strcmp(paths[i], "/f") != 0)
			try(paths[i], O_RDONLY, RESOLVE_NO_XDEV, "no_xdev");
	}
	try("in", O_PATH | O_NOFOLLOW, RESOLVE_NO_SYMLINKS, "nofollow");
	try("f", O_RDONLY, RESOLVE_BENEATH | RESOLVE_IN_ROOT, "both");
	unlink("d/in");
	unlink("d/inner");
	unlink("d/out");
	unlink("d/abs");
	unlink("d/magic");
	unlink("d/sub/up");
	unlink("d/sub/g");
	unlink("d/f");
	unlink("outside");
	rmdir("d/sub");
	rmdir("d");
	return 0;
}
