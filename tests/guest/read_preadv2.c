/* preadv2: an offset of -1 means the file's own offset; unknown flags are EOPNOTSUPP. */
#include "guest.h"
#include <sys/uio.h>

int main(void)
{
	char a[5] = "", b[5] = "";
	struct iovec iov[2] = { { a, 4 }, { b, 4 } };
	put_file("f", "0123456789abcdef");
	int fd = open("f", O_RDONLY);
	SHOW(preadv2(fd, iov, 2, 4, 0));
	printf("%s %s\n", a, b);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(preadv2(fd, iov, 2, -1, 0));
	printf("%s %s\n", a, b);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(preadv2(fd, iov, 2, -2, 0));
	SHOW(preadv2(fd, iov, 2, 0, 1 << 30));
	SHOW(preadv2(fd, iov, 2, 15, 0));
	SHOW(preadv2(fd, iov, 2, 16, 0));
	int p[2];
	SHOW(pipe(p));
	SHOW(write(p[1], "pipe", 4));
	SHOW(preadv2(p[0], iov, 2, 0, 0));
	SHOW(preadv2(p[0], iov, 2, -1, 0));
	printf("%s\n", a);
	unlink("f");
	return 0;
}
