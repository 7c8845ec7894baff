/* What is typed already, when the mode changes from lines to raw and back. */
#include "pty.h"

int main(void)
{
	int n = -1;
	pair_open();
	set_lflag(0, ECHO);
	put(m, "unfinished");
	usleep(50000);
	CHECK(!ready(s, 20));
	set_lflag(0, ICANON);
	CHECK(ready(s, 3000));
	SHOW(ioctl(s, FIONREAD, &n));
	SHOW(n);
	show_read("raw", s, 10);
	put(m, "raw bytes");
	UNTIL(ioctl(s, FIONREAD, &n) == 0 && n == 9);
	set_lflag(ICANON, 0);
	CHECK(ready(s, 100));
	show_one("canonical", s, 100);
	put(m, "line\nmore");
	ready(s, 3000);
	usleep(50000);
	set_lflag(0, ICANON);
	show_read("raw again", s, 9);
	return 0;
}
