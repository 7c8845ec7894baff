/* The ioctls that every descriptor knows, and ENOTTY for those it does not. */
#include "guest.h"
#include <sys/ioctl.h>
#include <termios.h>

int main(void)
{
	int p[2], on = 1, off = 0;
	struct winsize ws;
	struct termios t;
	put_file("f", "x");
	int fd = open("f", O_RDWR), dir = open(".", O_RDONLY);
	SHOW(pipe(p));
	SHOW(ioctl(fd, FIOCLEX));
	SHOW(fcntl(fd, F_GETFD));
	SHOW(ioctl(fd, FIONCLEX));
	SHOW(fcntl(fd, F_GETFD));
	SHOW(ioctl(p[0], FIONBIO, &on));
	CHECK(fcntl(p[0], F_GETFL) & O_NONBLOCK);
	SHOW(ioctl(p[0], FIONBIO, &off));
	CHECK(!(fcntl(p[0], F_GETFL) & O_NONBLOCK));
	SHOW(ioctl(p[0], TIOCGWINSZ, &ws));
	SHOW(ioctl(p[0], TCGETS, &t));
	SHOW(ioctl(fd, TIOCGWINSZ, &ws));
	SHOW(ioctl(fd, TCGETS, &t));
	SHOW(ioctl(dir, TCGETS, &t));
	SHOW(ioctl(open("/dev/null", O_RDWR), TCGETS, &t));
	SHOW(ioctl(fd, 0xdead, &t));
	SHOW(ioctl(p[0], 0xdead, &t));
	SHOW(ioctl(-1, FIOCLEX));
	SHOW(ioctl(open("f", O_PATH), FIOCLEX));
	SHOW(ioctl(p[0], FIONBIO, 8));
	SHOW(isatty(p[0]));
	SHOW(tcgetpgrp(p[0]));
	unlink("f");
	return 0;
}
