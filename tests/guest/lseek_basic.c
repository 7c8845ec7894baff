/* lseek: the three origins, offsets past the end and before the start, and what cannot seek. */
#include "guest.h"

int main(void)
{
	int p[2];
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	SHOW(lseek(fd, 4, SEEK_SET));
	SHOW(lseek(fd, 3, SEEK_CUR));
	SHOW(lseek(fd, -5, SEEK_CUR));
	SHOW(lseek(fd, -4, SEEK_END));
	SHOW(lseek(fd, 1000, SEEK_END));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, -1, SEEK_SET));
	SHOW(lseek(fd, -11, SEEK_END));
	SHOW(lseek(fd, -2000, SEEK_CUR));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(lseek(fd, 0, 99));
	SHOW(lseek(fd, 0, -1));
	SHOW(lseek(fd, INT64_MAX, SEEK_CUR));
	SHOW(lseek(fd, 6ll << 30, SEEK_SET));
	SHOW(lseek(fd, 0, SEEK_END));
	SHOW(lseek(9999, 0, SEEK_SET));
	SHOW(pipe(p));
	SHOW(lseek(p[0], 0, SEEK_CUR));
	SHOW(lseek(p[1], 0, SEEK_SET));
	SHOW(lseek(p[1], 0, 99));
	SHOW(lseek(open("/dev/null", O_RDONLY), 5, SEEK_SET));
	SHOW(lseek(open("/dev/zero", O_RDONLY), 5, SEEK_SET));
	SHOWOK(lseek(open(".", O_RDONLY), 0, SEEK_SET));
	unlink("f");
	return 0;
}
