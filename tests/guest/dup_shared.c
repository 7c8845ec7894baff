/*
 * dup, dup2 and dup3 name one open file: offset and status flags are shared, close-on-exec is not.
 */
#include "guest.h"

int main(void)
{
	char buf[8] = "";
	put_file("f", "0123456789");
	int fd = open("f", O_RDONLY | O_CLOEXEC);
	int d = dup(fd);
	SHOW(fcntl(fd, F_GETFD));
	SHOW(fcntl(d, F_GETFD));
	SHOW(lseek(fd, 5, SEEK_SET));
	SHOW(read(d, buf, 2));
	SHOW(lseek(fd, 0, SEEK_CUR));
	SHOW(fcntl(d, F_SETFL, O_NONBLOCK));
	CHECK(fcntl(fd, F_GETFL) & O_NONBLOCK);
	SHOW(close(fd));
	SHOW(read(d, buf, 1));
	SHOW(dup2(d, 100));
	SHOW(dup2(d, 100));
	CHECK(dup2(d, d) == d);
	SHOW(dup2(999, 999));
	SHOW(dup2(999, 100));
	SHOW(read(100, buf, 1));
	SHOW(dup2(d, -1));
	SHOW(dup2(d, 1 << 30));
	SHOW(dup3(d, 101, O_CLOEXEC));
	SHOW(fcntl(101, F_GETFD));
	SHOW(dup3(d, 102, 0));
	SHOW(fcntl(102, F_GETFD));
	SHOW(dup3(d, d, 0));
	SHOW(dup3(d, 102, O_NONBLOCK));
	SHOW(dup(-1));
	SHOW(dup(999));
	/* dup2 closes what was there: the pipe's reader sees the end. */
	int p[2];
	SHOW(pipe(p));
	SHOW(dup2(p[1], 103));
	SHOW(close(p[1]));
	SHOW(dup2(d, 103));
	SHOW(read(p[0], buf, 1));
	SHOW(fcntl(d, F_DUPFD, 200));
	SHOW(fcntl(d, F_DUPFD, 200));
	SHOW(fcntl(d, F_DUPFD_CLOEXEC, 200));
	SHOW(fcntl(202, F_GETFD));
	unlink("f");
	return 0;
}
