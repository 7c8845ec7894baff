/*
 * RLIMIT_NOFILE: the limit is a number no descriptor reaches (EMFILE, EBADF for dup2); open ones
 * above it stay.
 */
#include "guest.h"
#include <sys/resource.h>

int main(void)
{
	struct rlimit lim;
	int n = 0, fd, last = -1;

	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = 40;
	dup2(0, 90);
	SHOW(setrlimit(RLIMIT_NOFILE, &lim));
	while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
		n++;
		last = fd;
	}
	printf("open stops with %s at %d\n", ename(errno), last);
	int p[2];
	SHOW(pipe(p));
	SHOW(dup(0));
	SHOW(dup2(0, 39));
	SHOW(dup2(0, 40));
	SHOW(fcntl(0, F_DUPFD, 40));
	SHOW(fcntl(90, F_GETFD));
	close(20);
	SHOW(pipe(p));
	SHOW(dup(0));
	CHECK(sysconf(_SC_OPEN_MAX) == 40);
	return 0;
}
