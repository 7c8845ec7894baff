/*
 * O_CREAT|O_EXCL makes a file or fails with EEXIST, also when the last component is a dangling
 * symlink.
 */
#include "guest.h"

int main(void)
{
	int fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0600);
	CHECK(fd >= 0);
	SHOW(write(fd, "abc", 3));
	SHOW(open("f", O_RDWR | O_CREAT | O_EXCL, 0600));
	SHOW(open("f", O_RDWR | O_CREAT | O_EXCL | O_TRUNC, 0600));
	printf("content: %s\n", get_file("f"));

	SHOW(symlink("nowhere", "dangling"));
	SHOW(open("dangling", O_WRONLY | O_CREAT | O_EXCL, 0600));
	SHOW(access("nowhere", F_OK));
	/* Without O_EXCL the link's target is made. */
	SHOWOK(open("dangling", O_WRONLY | O_CREAT, 0600));
	SHOW(access("nowhere", F_OK));

	SHOW(mkdir("d", 0755));
	SHOW(open("d", O_RDONLY | O_CREAT | O_EXCL, 0600));
	SHOW(unlink("f"));
	SHOW(unlink("dangling"));
	SHOW(unlink("nowhere"));
	SHOW(rmdir("d"));
	return 0;
}
