/* writev gathers its buffers into one write; pwritev does so at an offset. */
#include "guest.h"
#include <sys/uio.h>

/* Volatile, so that the compiler does not warn of them. */
static volatile int minus_one = -1, too_many = 1025;

int main(void)
{
	char one[] = "one ", two[] = "two ", three[] = "three";
	struct iovec iov[4] = { { one, 4 }, { NULL, 0 }, { two, 4 }, { three, 5 } };
	int fd = open("f", O_RDWR | O_CREAT, 0644);
	SHOW(writev(fd, iov, 4));
	SHOW(lseek(fd, 0, SEEK_CUR));
	printf("%s\n", get_file("f"));
	SHOW(pwritev(fd, iov + 2, 1, 1));
	SHOW(lseek(fd, 0, SEEK_CUR));
	printf("%s\n", get_file("f"));
	SHOW(writev(fd, iov, 0));
	SHOW(writev(fd, iov, minus_one));
	SHOW(writev(fd, iov, too_many));
	SHOW(pwritev(fd, iov, 1, -1));
	iov[2].iov_len = (size_t)-5;
	SHOW(writev(fd, iov, 4));
	SHOW(writev(-1, iov, 1));
	SHOW(writev(open("f", O_RDONLY), iov, 1));
	static struct iovec many[1024];
	for (int i = 0; i < 1024; i++)
		many[i] = (struct iovec){ three, 2 };
	SHOW(pwritev(fd, many, 1024, 0));
	SHOW(lseek(fd, 0, SEEK_END));
	unlink("f");
	return 0;
}
