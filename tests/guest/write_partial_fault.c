/*
 * A source that becomes unmapped half way: what could be read is written and counted; EFAULT only
 * when nothing was.
 */
#include "guest.h"
#include <sys/mman.h>
#include <sys/uio.h>

int main(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *m = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(m != MAP_FAILED);
	CHECK(munmap(m + page, page) == 0);
	char *edge = m + page;
	memcpy(edge - 8, "abcdefgh", 8);
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	SHOW(write(fd, edge, 4));
	SHOW(lseek(fd, 0, SEEK_END));
	SHOW(write(fd, edge - 8, 20));
	SHOW(lseek(fd, 0, SEEK_CUR));
	printf("%s\n", get_file("f"));
	struct iovec iov[3] = { { edge - 3, 3 }, { edge, 5 }, { edge - 8, 5 } };
	SHOW(writev(fd, iov, 3));
	printf("%s\n", get_file("f"));
	SHOW(writev(fd, iov + 1, 2));
	SHOW(write(fd, (void *)8, 0));
	printf("%s\n", get_file("f"));
	SHOW(write(fd, (void *)-4096l, 1));
	int p[2];
	SHOW(pipe(p));
	SHOW(write(p[1], edge, 1));
	SHOW(write(p[1], (void *)8, 0));
	unlink("f");
	return 0;
}
