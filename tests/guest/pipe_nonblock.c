/*
 * O_NONBLOCK: EAGAIN when empty or full; up to PIPE_BUF all or nothing, above it as much as fits.
 */
#include "guest.h"

int main(void)
{
	static char buf[100000];
	int p[2];
	SHOW(pipe2(p, O_NONBLOCK));
	SHOW(read(p[0], buf, 10));
	SHOW(write(p[1], buf, sizeof(buf)));
	SHOW(write(p[1], buf, 1));
	SHOW(read(p[0], buf, 4096));
	SHOW(write(p[1], buf, 4096));
	SHOW(write(p[1], buf, 1));
	/* Room for one page, and two are wanted. */
	SHOW(read(p[0], buf, 4096));
	SHOW(write(p[1], buf, 8192));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(read(p[0], buf, sizeof(buf)));
	SHOW(close(p[1]));
	SHOW(read(p[0], buf, 10));

	/* The flag is of the open file: the other end may block. */
	SHOW(pipe(p));
	SHOW(fcntl(p[0], F_SETFL, O_NONBLOCK));
	SHOW(read(p[0], buf, 1));
	SHOW(fcntl(p[1], F_GETFL) & O_NONBLOCK);
	SHOW(write(p[1], buf, 65536));
	SHOW(read(p[0], buf, sizeof(buf)));
	return 0;
}
