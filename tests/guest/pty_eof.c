/* Ends of lines: VEOF alone, within a line and between; VEOL and VEOL2; reads shorter than a
 * line. */
#include "pty.h"

int main(void)
{
	int n = -1;
	pair_open();
	set_lflag(0, ECHO);
	put(m, "\004");
	ready(s, 3000);
	SHOW(ioctl(s, FIONREAD, &n));
	SHOW(n);
	show_one("alone", s, 10);
	put(m, "part\004rest\n");
	ready(s, 3000);
	UNTIL(ioctl(s, FIONREAD, &n) == 0 && n == 9);
	SHOW(n);
	show_one("part", s, 10);
	show_one("rest", s, 10);
	put(m, "long line\nnext\n");
	UNTIL(ioctl(s, FIONREAD, &n) == 0 && n == 15);
	show_one("4 of it", s, 4);
	show_one("3 of it", s, 3);
	show_one("the rest", s, 10);
	show_one("nothing asked", s, 0);
	show_one("next", s, 10);
	put(m, "abc\004\n");
	UNTIL(ioctl(s, FIONREAD, &n) == 0 && n == 4);
	show_one("exactly the part", s, 3);
	show_one("then the line", s, 3);
	set_cc(VEOL, ';');
	set_cc(VEOL2, '.');
	put(m, "a;b.c\n");
	UNTIL(ioctl(s, FIONREAD, &n) == 0 && n == 6);
	show_one("VEOL", s, 10);
	show_one("VEOL2", s, 10);
	show_one("newline", s, 10);
	set_cc(VEOF, 0);
	put(m, "x\004y\n");
	show_read("no VEOF", s, 4);
	return 0;
}
