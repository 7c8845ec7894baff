/* Output stops at VSTOP and TCOOFF and goes on at VSTART, TCOON, or any key with IXANY. */
#include "pty.h"

static bool writable(void)
{
	struct pollfd f = { s, POLLOUT, 0 };
	return poll(&f, 1, 0) == 1;
}

int main(void)
{
	pair_open();
	set_lflag(0, ECHO);
	SHOW(fcntl(s, F_SETFL, O_RDWR | O_NONBLOCK));
	CHECK(writable());
	put(m, "\023");
	UNTIL(!writable());
	CHECK(!writable());
	SHOW(write(s, "x", 1));
	put(m, "in\n");
	show_read("input goes on", s, 3);
	put(m, "\021");
	UNTIL(writable());
	SHOW(write(s, "y", 1));
	show_read("out", m, 1);
	set_iflag(IXANY, 0);
	put(m, "\023");
	UNTIL(!writable());
	put(m, "k\n");
	UNTIL(writable());
	CHECK(writable());
	show_read("the key counts", s, 2);
	SHOW(tcflow(s, TCOOFF));
	SHOW(write(s, "z", 1));
	put(m, "\021");
	usleep(50000);
	CHECK(!writable());
	SHOW(tcflow(s, TCOON));
	SHOW(write(s, "z", 1));
	show_read("out", m, 1);
	SHOW(tcflow(s, TCIOFF));
	SHOW(tcflow(s, TCION));
	show_read("characters", m, 2);
	SHOW(ioctl(s, TCXONC, 7));
	set_lflag(ECHO, 0);
	set_iflag(0, IXANY);
	put(m, "\023");
	UNTIL(!writable());
	put(m, "e\n");
	CHECK(!ready(m, 100));
	/* IXON off starts it again. */
	set_iflag(0, IXON);
	CHECK(writable());
	show_read("late echo", m, 3);
	return 0;
}
