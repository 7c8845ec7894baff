/*
 * readv fills buffers in order, skips empty ones and stops at the end; its vector is checked before
 * anything is read.
 */
#include "guest.h"
#include <sys/uio.h>

/* Volatile, so that the compiler does not warn of it. */
static volatile int minus_one = -1;

int main(void)
{
	char a[4] = "...", b[4] = "...", c[8] = ".......";
	struct iovec iov[3] = { { a, 3 }, { b, 3 }, { c, 7 } };
	put_file("f", "0123456789");
	int fd = open("f", O_RDONLY);
	SHOW(readv(fd, iov, 3));
	printf("%s|%s|%s\n", a, b, c);
	SHOW(lseek(fd, 1, SEEK_SET));
	iov[1].iov_len = 0;
	iov[1].iov_base = (void *)8;
	SHOW(readv(fd, iov, 3));
	printf("%s|%s|%s\n", a, b, c);
	SHOW(readv(fd, iov, 3));
	SHOW(preadv(fd, iov, 3, 7));
	printf("%s|%s|%s\n", a, b, c);
	SHOW(preadv(fd, iov, 3, -2));
	SHOW(lseek(fd, 0, SEEK_SET));
	SHOW(readv(fd, iov, 0));
	SHOW(readv(fd, iov, minus_one));
	static struct iovec many[1025];
	for (int i = 0; i < 1025; i++)
		many[i] = (struct iovec){ c, 1 };
	SHOW(readv(fd, many, 1024));
	SHOW(readv(fd, many, 1025));
	iov[1].iov_len = (size_t)-1;
	SHOW(readv(fd, iov, 3));
	unlink("f");
	return 0;
}
