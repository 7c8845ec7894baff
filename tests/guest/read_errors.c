/* The error numbers of read, pread and readv, and that a count of 0 still checks the descriptor. */
#include "guest.h"
#include <sys/uio.h>

/* Unmapped; volatile, so that the compiler does not warn of it. */
static void *volatile bad = (void *)8;

int main(void)
{
	char buf[16];
	int p[2];
	put_file("f", "0123456789");
	int fd = open("f", O_RDONLY), w = open("f", O_WRONLY);
	SHOW(read(w, buf, 1));
	SHOW(read(w, buf, 0));
	SHOW(read(9999, buf, 1));
	SHOW(read(-1, buf, 0));
	SHOW(read(fd, bad, 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(read(fd, bad, 0));
	SHOW(read(fd, (char *)-4096, 4));
	SHOW(write(fd, "x", 1));
	SHOW(pipe(p));
	SHOW(write(p[1], "abc", 3));
	SHOW(pread(p[0], buf, 1, 0));
	SHOW(pwrite(p[1], buf, 1, 0));
	SHOW(read(p[0], bad, 3));
	SHOW(read(p[1], buf, 1));
	SHOW(write(p[0], buf, 1));
	SHOW(read(p[0], buf, 0));
	struct iovec iov = { bad, 4 };
	SHOW(readv(fd, &iov, 1));
	SHOW(readv(fd, bad, 1));
	SHOW(preadv(p[0], &iov, 1, 0));
	lseek(fd, 0, SEEK_END);
	SHOW(read(fd, bad, 4));
	unlink("f");
	return 0;
}
