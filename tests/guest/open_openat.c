/*
 * openat: relative to a directory descriptor, which an absolute path ignores; the directory may be
 * renamed.
 */
#include "guest.h"

int main(void)
{
	char cwd[4096], path[4200];
	SHOW(mkdir("d", 0755));
	put_file("d/f", "in d");
	int dir = open("d", O_RDONLY | O_DIRECTORY);
	int file = open("d/f", O_RDONLY);
	SHOWOK(openat(dir, "f", O_RDONLY));
	SHOW(openat(dir, "missing", O_RDONLY));
	SHOW(openat(file, "f", O_RDONLY));
	SHOW(openat(file, "", O_RDONLY));
	SHOW(openat(-5, "f", O_RDONLY));
	SHOWOK(openat(-5, "/dev/null", O_RDONLY));
	SHOWOK(openat(AT_FDCWD, "d/f", O_RDONLY));
	CHECK(getcwd(cwd, sizeof(cwd)));
	snprintf(path, sizeof(path), "%s/d/f", cwd);
	CHECK(openat(file, path, O_RDONLY) >= 0);
	SHOWOK(openat(dir, "../d/f", O_RDONLY));
	SHOWOK(openat(dir, ".", O_RDONLY));

	SHOW(rename("d", "e"));
	SHOWOK(openat(dir, "f", O_RDONLY));
	SHOWOK(openat(dir, "new", O_WRONLY | O_CREAT, 0644));
	SHOW(access("e/new", F_OK));
	SHOW(mkdirat(dir, "sub", 0755));
	SHOW(unlinkat(dir, "sub", AT_REMOVEDIR));
	SHOW(unlinkat(dir, "new", 0));
	SHOW(unlinkat(dir, "f", 0));
	SHOW(rmdir("e"));
	SHOW(openat(dir, "new", O_WRONLY | O_CREAT, 0644));
	SHOWOK(openat(dir, ".", O_RDONLY));
	return 0;
}
