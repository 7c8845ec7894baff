/* read moves the offset, pread does not; the end of a file is a short count and then 0. */
#include "guest.h"

int main(void)
{
	char buf[64];
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	SHOW(read(fd, buf, 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(pread(fd, buf, 3, 8));
	printf("%.2s\n", buf);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(read(fd, buf, 64));
	SHOW(read(fd, buf, 64));
	SHOW(read(fd, buf, 0));
	SHOW(pread(fd, buf, 4, 10));
	SHOW(pread(fd, buf, 4, 1ll << 40));
	SHOW(pread(fd, buf, 4, -1));
	SHOW(pread(fd, buf, 4, INT64_MAX));
	SHOW(lseek(fd, 100, SEEK_SET));
	SHOW(read(fd, buf, 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	/* What another descriptor appends is seen at once. */
	int w = open("f", O_WRONLY | O_APPEND);
	SHOW(lseek(fd, 0, SEEK_END));
	SHOW(write(w, "ab", 2));
	SHOW(read(fd, buf, 64));
	printf("%.2s\n", buf);
	unlink("f");
	return 0;
}
