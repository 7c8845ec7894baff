/*
 * FIONREAD counts the bytes that wait in a pipe, from either end; on a file, those up to the end.
 */
#include "guest.h"
#include <sys/ioctl.h>

static int waiting(int fd)
{
	int n = -2;
	return ioctl(fd, FIONREAD, &n) ? -1 : n;
}

int main(void)
{
	char buf[64];
	int p[2];
	SHOW(pipe(p));
	SHOW(waiting(p[0]));
	SHOW(write(p[1], "12345", 5));
	SHOW(write(p[1], "678", 3));
	SHOW(waiting(p[0]));
	SHOW(waiting(p[1]));
	SHOW(read(p[0], buf, 6));
	SHOW(waiting(p[0]));
	close(p[1]);
	SHOW(waiting(p[0]));
	put_file("f", "0123456789");
	int fd = open("f", O_RDONLY);
	SHOW(waiting(fd));
	SHOW(lseek(fd, 7, SEEK_SET));
	SHOW(waiting(fd));
	SHOW(ioctl(p[0], FIONREAD, 8));
	SHOW(waiting(open("/dev/null", O_RDONLY)));
	unlink("f");
	return 0;
}
