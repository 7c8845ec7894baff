/*
 * O_TRUNC empties the file but keeps inode, mode and other links; an existing file's mode ignores
 * O_CREAT's.
 */
#include "guest.h"

static long long size_of(const char *path)
{
	struct stat st;
	return stat(path, &st) ? -1 : (long long)st.st_size;
}

int main(void)
{
	struct stat a, b;
	put_file("f", "0123456789");
	SHOW(chmod("f", 0640));
	SHOW(link("f", "g"));
	SHOW(stat("f", &a));
	int old = open("f", O_RDONLY);
	char buf[16];
	SHOW(read(old, buf, 4));

	int fd = open("f", O_WRONLY | O_CREAT | O_TRUNC, 0777);
	SHOW(size_of("f"));
	SHOW(size_of("g"));
	SHOW(stat("f", &b));
	CHECK(a.st_ino == b.st_ino && a.st_dev == b.st_dev);
	printf("mode %o\n", b.st_mode & 07777);
	/* The older descriptor keeps its offset, which is now beyond the end. */
	SHOW(read(old, buf, 4));
	SHOW(write(fd, "abcdefgh", 8));
	SHOW(read(old, buf, 4));
	printf("%.4s\n", buf);

	SHOWOK(open("f", O_RDONLY));
	SHOW(size_of("f"));
	SHOWOK(open("f", O_RDWR | O_TRUNC));
	SHOW(size_of("f"));
	SHOW(open("missing", O_WRONLY | O_TRUNC));
	unlink("f");
	unlink("g");
	return 0;
}
