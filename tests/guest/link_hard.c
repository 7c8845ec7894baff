/*
 * Hard links are names of one inode: count, content and mode are shared; the last name and
 * descriptor end it.
 */
#include "guest.h"

static int links(const char *path)
{
	struct stat st;
	return lstat(path, &st) ? -1 : (int)st.st_nlink;
}

int main(void)
{
	struct stat a, b;
	put_file("f", "content");
	mkdir("d", 0755);
	SHOW(links("f"));
	SHOW(link("f", "g"));
	SHOW(link("g", "d/h"));
	SHOW(links("f"));
	stat("f", &a);
	stat("d/h", &b);
	CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	int fd = open("g", O_WRONLY | O_APPEND);
	SHOW(write(fd, " more", 5));
	SHOW(chmod("d/h", 0600));
	printf("%s\n", get_file("f"));
	stat("f", &a);
	printf("mode %o\n", a.st_mode & 07777);
	SHOW(unlink("f"));
	SHOW(links("g"));
	printf("%s\n", get_file("d/h"));
	SHOW(link("f", "x"));
	SHOW(link("g", "d/h"));
	SHOW(link("g", "missing/x"));
	SHOW(link("g/x", "x"));
	SHOW(link("d", "e"));
	SHOW(link("", "x"));
	SHOW(link("g", ""));
	SHOW(linkat(AT_FDCWD, "g", AT_FDCWD, "x", 0x8000));
	SHOW(links("g"));
	SHOW(unlink("g"));
	SHOW(unlink("d/h"));
	SHOW(fstat(fd, &a));
	SHOW(a.st_nlink);
	rmdir("d");
	return 0;
}
