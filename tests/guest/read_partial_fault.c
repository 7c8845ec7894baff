/*
 * A buffer that becomes unmapped half way: the bytes before it count, and only a fault at the first
 * byte is EFAULT.
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
	put_file("f", "0123456789abcdefghijklmnopqrstuvwxyz");
	int fd = open("f", O_RDONLY);

	SHOW(read(fd, edge - 8, 20));
	printf("%.8s\n", edge - 8);
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(read(fd, edge, 4));
	SHOW(lseek(fd, 0, SEEK_CUR));

	char a[6] = "";
	struct iovec iov[3] = { { a, 5 }, { edge, 5 }, { a, 5 } };
	SHOW(preadv(fd, iov, 3, 10));
	printf("%s\n", a);
	iov[0] = (struct iovec){ edge - 4, 6 };
	SHOW(preadv(fd, iov, 2, 20));
	printf("%.4s\n", edge - 4);
	iov[0] = (struct iovec){ edge, 1 };
	SHOW(preadv(fd, iov, 1, 0));

	/* A buffer that is mapped read-only faults in the same way. */
	CHECK(mprotect(m, page, PROT_READ) == 0);
	SHOW(pread(fd, m, 4, 0));
	unlink("f");
	return 0;
}
