/* A line is cut at 4095 bytes, its end gets in; raw bytes wait. */
#include "pty.h"

int main(void)
{
	static char buf[8192];
	int n = -1;
	pair_open();
	set_lflag(0, ECHO);
	memset(buf, 'a', 5000);
	buf[4999] = 'z';
	SHOW(write(m, buf, 5000));
	put(m, "\n");
	UNTIL(ioctl(s, FIONREAD, &n) == 0 && n > 0);
	SHOW(n);
	ssize_t r = read(s, buf, sizeof(buf));
	SHOW(r);
	printf("ends with %c %02x\n", buf[r - 2], buf[r - 1]);
	put(m, "next\n");
	show_read("next", s, 5);
	set_lflag(0, ICANON);
	memset(buf, 'b', 6000);
	SHOW(write(m, buf, 6000));
	int total = 0;
	while (total < 6000 && ready(s, 1000) && (r = read(s, buf, sizeof(buf))) > 0)
		total += r;
	SHOW(total);
	return 0;
}
