/* Packet mode: the master is told of flushes and flow control. */
#include "pty.h"

int main(void)
{
	int on = 1, off = 0, n = -1;
	pair_open();
	SHOW(ioctl(m, TIOCGPKT, &n));
	SHOW(n);
	SHOW(ioctl(m, TIOCPKT, &on));
	SHOW(ioctl(m, TIOCGPKT, &n));
	SHOW(n);
	put(s, "data");
	ready(m, 1000);
	show_one("data", m, 10);
	put(s, "abc");
	ready(m, 1000);
	show_one("two bytes", m, 2);
	show_one("the rest", m, 10);
	SHOW(tcflush(s, TCIFLUSH));
	show_one("flush read", m, 10);
	SHOW(tcflow(s, TCOOFF));
	struct pollfd f = { m, POLLIN | POLLPRI, 0 };
	SHOW(poll(&f, 1, 1000));
	CHECK(f.revents == (POLLIN | POLLPRI));
	show_one("stop", m, 10);
	SHOW(tcflow(s, TCOON));
	show_one("start", m, 10);
	set_iflag(0, IXON);
	show_one("no flow control", m, 10);
	set_iflag(IXON, 0);
	show_one("flow control", m, 10);
	SHOW(ioctl(s, TIOCPKT, &off));
	SHOW(ioctl(m, TIOCPKT, &off));
	put(s, "x");
	ready(m, 1000);
	show_one("plain", m, 10);
	return 0;
}
