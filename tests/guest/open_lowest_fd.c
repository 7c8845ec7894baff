/* A new descriptor is the lowest free number. */
#include "guest.h"

int main(void)
{
	int base = open("/dev/null", O_RDONLY), fd[6], p[2];
	close(base);
	for (int i = 0; i < 6; i++)
		fd[i] = open("/dev/null", O_RDONLY);
	CHECK(fd[0] == base);
	CHECK(fd[5] > fd[4] && fd[4] > fd[3] && fd[3] > fd[2]);
	close(fd[1]);
	close(fd[4]);
	CHECK(dup(0) == fd[1]);
	CHECK(open("/dev/null", O_RDONLY) == fd[4]);
	close(fd[2]);
	close(fd[3]);
	SHOW(pipe(p));
	CHECK(p[0] == fd[2] && p[1] == fd[3]);
	/* A failed open takes none. */
	close(fd[0]);
	SHOW(open("missing", O_RDONLY));
	CHECK(open("/dev/null", O_RDONLY) == fd[0]);
	close(0);
	SHOW(open("/dev/null", O_RDONLY));
	CHECK(fcntl(0, F_DUPFD, fd[2]) > fd[5]);
	return 0;
}
