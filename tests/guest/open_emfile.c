/*
 * RLIMIT_NOFILE is one more than the highest descriptor: EMFILE above it, while open ones beyond
 * stay usable.
 */
#include "guest.h"
#include <sys/resource.h>

int main(void)
{
	struct rlimit rl;
	SHOW(getrlimit(RLIMIT_NOFILE, &rl));
	CHECK(rl.rlim_cur >= 64 && rl.rlim_cur <= rl.rlim_max);
	SHOW(fcntl(0, F_DUPFD, 50));
	rl.rlim_cur = 40;
	SHOW(setrlimit(RLIMIT_NOFILE, &rl));
	int last = -1, fd;
	while ((fd = open("/dev/null", O_RDONLY)) >= 0)
		last = fd;
	printf("open: %s\n", ename(errno));
	SHOW(last);
	SHOW(dup(0));
	int p[2];
	SHOW(pipe(p));
	SHOW(fcntl(0, F_DUPFD, 10));
	SHOW(fcntl(0, F_DUPFD, 40));
	SHOW(fcntl(0, F_DUPFD, -1));
	SHOW(dup2(0, 40));
	SHOW(dup2(0, 39));
	SHOW(fcntl(50, F_GETFD));
	/* One free: a pipe needs two, and leaves the one alone. */
	SHOW(close(30));
	SHOW(pipe(p));
	SHOW(open("/dev/null", O_RDONLY));
	/* A name that cannot be opened is not looked at when there is no descriptor. */
	SHOW(open("missing", O_RDONLY));
	rl.rlim_cur = 60;
	SHOW(setrlimit(RLIMIT_NOFILE, &rl));
	SHOW(open("/dev/null", O_RDONLY));
	return 0;
}
