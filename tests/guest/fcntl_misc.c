/* fcntl: descriptor flags, owners of asynchronous input, and errors. */
#include "guest.h"

int main(void)
{
	int p[2];
	SHOW(pipe(p));
	SHOW(fcntl(p[0], F_GETFD));
	SHOW(fcntl(p[0], F_SETFD, FD_CLOEXEC));
	SHOW(fcntl(p[0], F_GETFD));
	/* Only the lowest bit is a flag. */
	SHOW(fcntl(p[0], F_SETFD, 0xfe));
	SHOW(fcntl(p[0], F_GETFD));
	SHOW(fcntl(p[0], F_GETOWN));
	SHOW(fcntl(p[0], F_SETOWN, getpid()));
	CHECK(fcntl(p[0], F_GETOWN) == getpid());
	SHOW(fcntl(p[0], F_SETOWN, 0));
	SHOW(fcntl(p[0], F_GETOWN));
	SHOW(fcntl(p[0], F_GETSIG));
	SHOW(fcntl(p[0], F_SETSIG, SIGUSR1));
	CHECK(fcntl(p[0], F_GETSIG) == SIGUSR1);
	SHOW(fcntl(p[0], F_SETSIG, 1000));
	SHOW(fcntl(p[0], 9999));
	SHOW(fcntl(-1, F_GETFD));
	SHOW(fcntl(9999, F_SETFD, 0));
	put_file("f", "x");
	int path = open("f", O_PATH);
	SHOW(fcntl(path, F_SETFL, O_NONBLOCK));
	SHOW(fcntl(path, F_GETFD));
	unlink("f");
	return 0;
}
