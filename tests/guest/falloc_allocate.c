/* fallocate: mode 0 extends the file with zeros, FALLOC_FL_KEEP_SIZE does not; errors. */
#include "guest.h"

static long long size_of(int fd)
{
	struct stat st;
	return fstat(fd, &st) ? -1 : (long long)st.st_size;
}

int main(void)
{
	char buf[8] = "xxxxxxx";
	int p[2];
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	SHOW(fallocate(fd, 0, 0, 5));
	SHOW(size_of(fd));
	SHOW(fallocate(fd, 0, 100, 50));
	SHOW(size_of(fd));
	SHOW(pread(fd, buf, 3, 8));
	CHECK(buf[0] == '8' && buf[1] == '9' && buf[2] == 0);
	SHOW(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 1 << 20));
	SHOW(size_of(fd));
	struct stat st;
	fstat(fd, &st);
	CHECK(st.st_blocks * 512 >= 1 << 20);
	printf("posix_fallocate %s\n", ename(posix_fallocate(fd, 200, 100)));
	SHOW(size_of(fd));
	SHOW(fallocate(fd, 0, 0, 0));
	SHOW(fallocate(fd, 0, -1, 10));
	SHOW(fallocate(fd, 0, 0, -1));
	SHOW(fallocate(fd, 0x4000, 0, 10));
	SHOW(fallocate(open("f", O_RDONLY), 0, 0, 10));
	SHOW(fallocate(-1, 0, 0, 10));
	SHOW(fallocate(open(".", O_RDONLY), 0, 0, 10));
	SHOW(pipe(p));
	SHOW(fallocate(p[1], 0, 0, 10));
	SHOW(fallocate(open("/dev/null", O_WRONLY), 0, 0, 10));
	SHOW(fallocate(fd, 0, INT64_MAX - 5, 10));
	unlink("f");
	return 0;
}
