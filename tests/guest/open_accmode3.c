/* Access mode 3 asks for read and write permission and then allows neither; it is for ioctl. */
#include "guest.h"

int main(void)
{
	char c;
	struct stat st;
	put_file("f", "abc");
	int fd = open("f", O_ACCMODE);
	CHECK(fd >= 0);
	SHOW(fcntl(fd, F_GETFL) & O_ACCMODE);
	SHOW(read(fd, &c, 1));
	SHOW(write(fd, "x", 1));
	SHOW(fstat(fd, &st));
	SHOW(st.st_size);
	SHOW(lseek(fd, 1, SEEK_SET));
	SHOW(mkdir("d", 0755));
	SHOW(open("d", O_ACCMODE));
	unlink("f");
	rmdir("d");
	return 0;
}
