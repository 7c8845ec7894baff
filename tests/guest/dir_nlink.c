/*
 * A directory's link count is 2 and one for each subdirectory; files do not count; a removed one
 * has 0.
 */
#include "guest.h"

static int links(const char *path)
{
	struct stat st;
	return stat(path, &st) ? -1 : (int)st.st_nlink;
}

int main(void)
{
	struct stat st;
	mkdir("d", 0755);
	SHOW(links("d"));
	mkdir("d/a", 0755);
	mkdir("d/b", 0755);
	SHOW(links("d"));
	put_file("d/f", "x");
	symlink("a", "d/l");
	SHOW(links("d"));
	SHOW(links("d/a"));
	SHOW(rename("d/b", "d/a/b"));
	SHOW(links("d"));
	SHOW(links("d/a"));
	SHOW(rmdir("d/a/b"));
	SHOW(links("d/a"));
	int fd = open("d/a", O_RDONLY);
	SHOW(rmdir("d/a"));
	SHOW(links("d"));
	SHOW(fstat(fd, &st));
	SHOW(st.st_nlink);
	unlink("d/f");
	unlink("d/l");
	rmdir("d");
	return 0;
}
