/*
 * pwritev2: -1 is the file's own offset, RWF_APPEND goes to the end whatever the offset, RWF_DSYNC
 * writes.
 */
#include "guest.h"
#include <sys/uio.h>

int main(void)
{
	char text[] = "XY";
	struct iovec iov = { text, 2 };
	put_file("f", "0123456789");
	int fd = open("f", O_RDWR);
	SHOW(pwritev2(fd, &iov, 1, 4, 0));
	SHOW(pwritev2(fd, &iov, 1, -1, 0));
	SHOW(lseek(fd, 0, SEEK_CUR));
	printf("%s\n", get_file("f"));
	SHOW(pwritev2(fd, &iov, 1, 0, RWF_APPEND));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(pwritev2(fd, &iov, 1, -1, RWF_APPEND));
	SHOW(lseek(fd, 0, SEEK_CUR));
	printf("%s\n", get_file("f"));
	SHOW(pwritev2(fd, &iov, 1, 0, RWF_DSYNC));
	SHOW(pwritev2(fd, &iov, 1, 0, RWF_SYNC));
	SHOW(pwritev2(fd, &iov, 1, 0, 1 << 30));
	SHOW(pwritev2(fd, &iov, 1, -7, 0));
	printf("%s\n", get_file("f"));
	unlink("f");
	return 0;
}
