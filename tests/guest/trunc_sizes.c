/*
 * truncate and ftruncate cut and extend; what comes back after a cut is zeros, not the old bytes.
 */
#include "guest.h"

static void show(void)
{
	char buf[32];
	int fd = open("f", O_RDONLY);
	ssize_t n = read(fd, buf, sizeof(buf));
	printf("%zd:", n);
	for (ssize_t i = 0; i < n; i++)
		printf("%c", buf[i] ? buf[i] : '.');
	printf("\n");
	close(fd);
}

int main(void)
{
	struct stat st;
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	SHOW(ftruncate(fd, 4));
	show();
	SHOW(ftruncate(fd, 12));
	show();
	SHOW(truncate("f", 2));
	SHOW(truncate("f", 6));
	show();
	SHOW(lseek(fd, 10, SEEK_SET));
	SHOW(ftruncate(fd, 3));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(write(fd, "zz", 2));
	show();
	SHOW(ftruncate(fd, 0));
	show();
	/* Large and sparse. */
	SHOW(ftruncate(fd, 10ll << 30));
	SHOW(fstat(fd, &st));
	CHECK(st.st_size == 10ll << 30 && st.st_blocks < 1000);
	char buf[4] = "xxx";
	SHOW(pread(fd, buf, 3, (10ll << 30) - 2));
	CHECK(buf[0] == 0 && buf[1] == 0 && buf[2] == 'x');
	SHOW(pwrite(fd, "end", 3, (10ll << 30) - 3));
	SHOW(ftruncate(fd, 1));
	SHOW(fstat(fd, &st));
	SHOW(st.st_size);
	unlink("f");
	return 0;
}
