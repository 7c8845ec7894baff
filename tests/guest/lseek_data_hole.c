/*
 * SEEK_DATA and SEEK_HOLE in a sparse file: islands of data are found, whatever the block size up
 * to 64 KiB.
 */
#include "guest.h"

enum { MB = 1 << 20, BLOCK = 64 << 10 };

/* Where in the file: a position is only known up to a block. */
static void where(const char *what, long long pos, long long expected)
{
	if (pos < 0)
		printf("%s: %s\n", what, ename(errno));
	else
		printf("%s: %s\n", what,
		       pos <= expected && pos > expected - BLOCK ? "as expected" : "elsewhere");
}

int main(void)
{
	static char block[BLOCK];
	memset(block, 'd', sizeof(block));
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	SHOW(ftruncate(fd, 10 * MB));
	SHOW(lseek(fd, 0, SEEK_HOLE));
	where("data in an empty sparse file", lseek(fd, 0, SEEK_DATA), 0);
	CHECK(pwrite(fd, block, BLOCK, 2 * MB) == BLOCK);
	CHECK(pwrite(fd, block, BLOCK, 6 * MB) == BLOCK);
	where("first data", lseek(fd, 0, SEEK_DATA), 2 * MB);
	where("data within data", lseek(fd, 2 * MB + 1, SEEK_DATA), 2 * MB + 1);
	where("hole after data", lseek(fd, 2 * MB, SEEK_HOLE), 2 * MB + BLOCK);
	where("second data", lseek(fd, 3 * MB, SEEK_DATA), 6 * MB);
	SHOW(lseek(fd, 3 * MB, SEEK_HOLE) - 3 * MB);
	where("no more data", lseek(fd, 7 * MB, SEEK_DATA), 0);
	SHOW(lseek(fd, 10 * MB, SEEK_HOLE));
	SHOW(lseek(fd, 10 * MB, SEEK_DATA));
	SHOW(lseek(fd, 11 * MB, SEEK_HOLE));
	SHOW(lseek(fd, -1, SEEK_DATA));

	/* A full file ends in a virtual hole. */
	int full = open("g", O_RDWR | O_CREAT, 0644);
	SHOW(write(full, "0123456789", 10));
	SHOW(lseek(full, 3, SEEK_DATA));
	SHOW(lseek(full, 3, SEEK_HOLE));
	SHOW(lseek(full, 0, SEEK_CUR));
	unlink("f");
	unlink("g");
	return 0;
}
