/* A write past the end leaves zeros in between; pwrite leaves the offset alone. */
#include "guest.h"

int main(void)
{
	static char buf[20000];
	struct stat st;
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	SHOW(pwrite(fd, "tail", 4, 10000));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(write(fd, "head", 4));
	SHOW(lseek(fd, 15000, SEEK_SET));
	SHOW(write(fd, "end", 3));
	SHOW(fstat(fd, &st));
	SHOW(st.st_size);
	memset(buf, 'x', sizeof(buf));
	SHOW(pread(fd, buf, sizeof(buf), 0));
	int zeros = 0;
	for (int i = 0; i < 15003; i++)
		zeros += buf[i] == 0;
	SHOW(zeros);
	printf("%.4s %.4s %.3s\n", buf, buf + 10000, buf + 15000);
	SHOW(pwrite(fd, "x", 1, -1));
	SHOW(pwrite(fd, "", 0, 20000));
	SHOW(fstat(fd, &st));
	SHOW(st.st_size);

	/* Offsets beyond 32 bits. */
	SHOW(pwrite(fd, "far", 3, 5ll << 30));
	SHOW(fstat(fd, &st));
	CHECK(st.st_size == (5ll << 30) + 3);
	CHECK(st.st_blocks * 512ll < st.st_size);
	SHOW(pread(fd, buf, 8, (5ll << 30) - 2));
	CHECK(memcmp(buf, "\0\0far", 5) == 0);
	unlink("f");
	return 0;
}
