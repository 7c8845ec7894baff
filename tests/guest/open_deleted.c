/*
 * A file lives on while it is open: readable, writable, no links, "(deleted)" in /proc; its name
 * can be reused.
 */
#include "guest.h"

int main(void)
{
	char buf[64], name[64], target[4200];
	struct stat a, b;
	put_file("f", "old content");
	int fd = open("f", O_RDWR);
	SHOW(fstat(fd, &a));
	SHOW(a.st_nlink);
	SHOW(unlink("f"));
	SHOW(fstat(fd, &a));
	SHOW(a.st_nlink);
	SHOW(read(fd, buf, 3));
	SHOW(pwrite(fd, "OLD", 3, 0));
	SHOW(ftruncate(fd, 100000));
	SHOW(access("f", F_OK));

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	ssize_t n = readlink(name, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	CHECK(n > 12 && strcmp(target + n - 12, "/f (deleted)") == 0);
	int again = open(name, O_RDONLY);
	SHOW(read(again, buf, 11));
	printf("%.11s\n", buf);
	SHOW(linkat(AT_FDCWD, name, AT_FDCWD, "g", AT_SYMLINK_FOLLOW));
	SHOW(unlink("f"));

	put_file("f", "new");
	SHOW(stat("f", &b));
	CHECK(a.st_ino != b.st_ino);
	SHOW(pread(fd, buf, 3, 0));
	printf("%.3s %s\n", buf, get_file("f"));
	SHOW(fstat(fd, &a));
	SHOW(a.st_size);
	unlink("f");
	return 0;
}
