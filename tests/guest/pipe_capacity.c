/*
 * A pipe holds 64 KiB; F_SETPIPE_SZ rounds up to a power of two of pages and refuses to drop what
 * is inside.
 */
#include "guest.h"

static long fill(int fd)
{
	static char buf[4096];
	long total = 0;
	for (ssize_t n; (n = write(fd, buf, sizeof(buf))) > 0;)
		total += n;
	printf("full: %s\n", ename(errno));
	return total;
}

int main(void)
{
	static char buf[1 << 20];
	int p[2];
	SHOW(pipe2(p, O_NONBLOCK));
	SHOW(fcntl(p[0], F_GETPIPE_SZ));
	SHOW(fill(p[1]));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 4096));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 4096));
	SHOW(fill(p[1]));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 10000));
	SHOW(fcntl(p[0], F_GETPIPE_SZ));
	SHOW(fill(p[1]));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 1));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 1));
	SHOW(fcntl(p[1], F_SETPIPE_SZ, 1 << 20));
	SHOW(fill(p[1]));
	SHOW(fcntl(open("/dev/null", O_RDONLY), F_GETPIPE_SZ));
	SHOW(fcntl(open(".", O_RDONLY), F_SETPIPE_SZ, 4096));
	SHOW(fcntl(-1, F_GETPIPE_SZ));
	return 0;
}
