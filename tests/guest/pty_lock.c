/* The slave of a new pair is locked; TIOCGPTPEER opens it without its name. */
#include "pty.h"

int main(void)
{
	int lock = -1, on = 1, off = 0, flags;
	m = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
	CHECK(m >= 0);
	SHOW(ioctl(m, TIOCGPTLCK, &lock));
	SHOW(lock);
	CHECK(open(ptsname(m), O_RDWR | O_NOCTTY) == -1 && errno == EIO);
	CHECK(ioctl(m, TIOCGPTPEER, O_RDWR | O_NOCTTY) == -1 && errno == EIO);
	SHOW(ioctl(m, TIOCSPTLCK, &off));
	SHOW(ioctl(m, TIOCGPTLCK, &lock));
	SHOW(lock);
	s = ioctl(m, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
	CHECK(s >= 0);
	flags = fcntl(s, F_GETFL);
	CHECK((flags & O_ACCMODE) == O_RDWR && !(flags & (O_NOCTTY | O_NONBLOCK)));
	SHOW(fcntl(s, F_GETFD));
	CHECK(ttyname(s) && !strcmp(ttyname(s), ptsname(m)));
	SHOW(ioctl(m, TIOCSPTLCK, &on));
	put(s, "still open");
	show_read("master", m, 10);
	SHOW(ioctl(s, TIOCGPTPEER, O_RDWR));
	SHOW(ioctl(s, TIOCSPTLCK, &off));
	SHOW(lseek(s, 0, SEEK_SET));
	char c;
	SHOW(pread(s, &c, 1, 0));
	return 0;
}
