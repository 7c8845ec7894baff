/* A session without a terminal: /dev/tty is ENXIO, and nothing is a terminal. */
#include "guest.h"
#include <sys/ioctl.h>
#include <termios.h>

static void body(void)
{
	CHECK(setsid() == getpid());
	SHOW(setsid());
	SHOW(open("/dev/tty", O_RDWR));
	SHOW(open("/dev/tty", O_RDONLY | O_NONBLOCK));
	int fd = open("/dev/null", O_RDWR), p;
	SHOW(isatty(fd));
	SHOW(tcgetpgrp(fd));
	SHOW(ioctl(fd, TIOCSCTTY, 0));
	SHOW(ioctl(fd, TIOCNOTTY));
	SHOW(ioctl(fd, TIOCGPGRP, &p));
	char buf[64];
	CHECK(ttyname_r(fd, buf, sizeof(buf)) == ENOTTY);
}

int main(void)
{
	show_status("child", in_child(body));
	return 0;
}
