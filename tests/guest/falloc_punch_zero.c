/*
 * FALLOC_FL_PUNCH_HOLE and ZERO_RANGE make zeros of any range, odd edges included, without changing
 * the rest.
 */
#include "guest.h"

enum { SIZE = 1 << 20 };

static char buf[SIZE];

static void show(int fd)
{
	struct stat st;
	fstat(fd, &st);
	ssize_t n = pread(fd, buf, SIZE, 0);
	printf("size %lld", (long long)st.st_size);
	for (ssize_t i = 0; i < n;) {
		ssize_t from = i;
		while (i < n && buf[i] == buf[from])
			i++;
		printf(" %s %zd-%zd", buf[from] ? "data" : "zero", from, i);
	}
	printf("\n");
}

int main(void)
{
	struct stat a, b;
	memset(buf, 'x', SIZE);
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	SHOW(write(fd, buf, SIZE));
	fsync(fd);
	fstat(fd, &a);
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 262144, 262144));
	show(fd);
	fstat(fd, &b);
	CHECK(b.st_blocks < a.st_blocks);
	CHECK(lseek(fd, 0, SEEK_HOLE) == 262144 && lseek(fd, 262144, SEEK_DATA) == 524288);
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 100, 1000));
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, SIZE - 10, 5000));
	show(fd);
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, SIZE + 100, 5000));
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 4096));
	SHOW(fallocate(fd, FALLOC_FL_ZERO_RANGE, 600001, 3));
	show(fd);
	SHOW(fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, SIZE, 100));
	show(fd);
	SHOW(fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
		       10));
	SHOW(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 0));
	unlink("f");
	return 0;
}
