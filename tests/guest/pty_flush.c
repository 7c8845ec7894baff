/* tcflush from either end, TIOCOUTQ, FIONREAD, and the flushing form of tcsetattr. */
#include "pty.h"

int main(void)
{
	struct termios t;
	int n = -1;
	pair_open();
	set_lflag(0, ECHO);
	put(m, "gone\n");
	ready(s, 3000);
	SHOW(tcflush(s, TCIFLUSH));
	CHECK(!ready(s, 20));
	put(m, "unfin");
	usleep(50000);
	SHOW(tcflush(s, TCIOFLUSH));
	put(m, "ished\n");
	show_read("after the flush", s, 6);
	put(s, "out");
	ready(m, 3000);
	SHOW(ioctl(s, TIOCOUTQ, &n));
	SHOW(n);
	SHOW(ioctl(m, FIONREAD, &n));
	SHOW(n);
	SHOW(tcflush(m, TCIFLUSH));
	CHECK(!ready(m, 20));
	put(m, "in\n");
	ready(s, 3000);
	SHOW(tcflush(m, TCOFLUSH));
	show_read("has arrived", s, 3);
	put(m, "gone\n");
	ready(s, 3000);
	SHOW(tcgetattr(s, &t));
	SHOW(tcsetattr(s, TCSAFLUSH, &t));
	CHECK(!ready(s, 20));
	put(m, "stays\n");
	ready(s, 3000);
	SHOW(tcsetattr(s, TCSADRAIN, &t));
	show_read("stays", s, 6);
	SHOW(tcdrain(s));
	SHOW(tcsendbreak(s, 0));
	SHOW(ioctl(s, TCFLSH, 9));
	SHOW(ioctl(m, TCFLSH, 9));
	return 0;
}
