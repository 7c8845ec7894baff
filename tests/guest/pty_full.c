/* Nobody reads: writers of both ends fill what there is and then wait; nothing is lost. */
#include "pty.h"

static long fill(int fd)
{
	char buf[500];
	long n = 0, r;
	memset(buf, 'x', sizeof(buf));
	for (int still = 0; still < 5;) {
		r = write(fd, buf, sizeof(buf));
		if (r > 0) {
			n += r;
			still = 0;
		} else {
			still++;
			usleep(20000);
		}
	}
	return n;
}

static long drain(int fd)
{
	char buf[5000];
	long n = 0, r;
	while (ready(fd, 300) && (r = read(fd, buf, sizeof(buf))) > 0)
		n += r;
	return n;
}

static bool writable(int fd)
{
	struct pollfd f = { fd, POLLOUT, 0 };
	return poll(&f, 1, 500) == 1;
}

int main(void)
{
	struct termios t;
	pair_open();
	tcgetattr(s, &t);
	cfmakeraw(&t);
	tcsetattr(s, TCSANOW, &t);
	fcntl(m, F_SETFL, O_RDWR | O_NONBLOCK);
	fcntl(s, F_SETFL, O_RDWR | O_NONBLOCK);
	long n = fill(s);
	CHECK(n >= 4096 && n < 1000000);
	SHOW(write(s, "x", 1));
	CHECK(!writable(s));
	CHECK(drain(m) == n);
	CHECK(writable(s));
	n = fill(m);
	CHECK(n >= 4096 && n < 1000000);
	CHECK(drain(s) == n);
	CHECK(writable(m));
	/* A blocking writer is let go. */
	fcntl(s, F_SETFL, O_RDWR);
	pid_t p = xfork();
	if (p == 0) {
		static char big[100000];
		_exit(write(s, big, sizeof(big)) == sizeof(big) ? 0 : 1);
	}
	CHECK(drain(m) == 100000);
	show_status("writer", xwait(p));
	return 0;
}
