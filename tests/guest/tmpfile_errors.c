/* O_TMPFILE wants a directory and a writable mode; with O_EXCL the file can never be linked. */
#include "guest.h"

int main(void)
{
	char name[64];
	put_file("f", "x");
	SHOW(open("f", O_TMPFILE | O_RDWR, 0600));
	SHOW(open("missing", O_TMPFILE | O_RDWR, 0600));
	SHOW(open(".", O_TMPFILE | O_RDONLY, 0600));
	SHOWOK(open(".", O_TMPFILE | O_WRONLY, 0600));
	SHOW(open(".", O_TMPFILE | O_RDWR | O_CREAT, 0600));
	int fd = open(".", O_TMPFILE | O_RDWR | O_EXCL, 0600);
	CHECK(fd >= 0);
	SHOW(write(fd, "x", 1));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	SHOW(linkat(AT_FDCWD, name, AT_FDCWD, "g", AT_SYMLINK_FOLLOW));
	SHOWOK(open("/dev/shm", O_TMPFILE | O_RDWR, 0600));
	unlink("f");
	return 0;
}
