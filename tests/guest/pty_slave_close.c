/* The slave closes: the master reads what is left, then EIO, until it is opened again. */
#include "pty.h"

static void show_poll(const char *what)
{
	struct pollfd f = { m, POLLIN | POLLOUT, 0 };
	poll(&f, 1, 0);
	printf("%s: poll %x\n", what, f.revents);
}

int main(void)
{
	m = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	unlockpt(m);
	show_one("never opened", m, 10);
	show_poll("never opened");
	SHOW(write(m, "early\n", 6));
	show_read("echo", m, 7);
	s = open(ptsname(m), O_RDWR | O_NOCTTY);
	show_read("typed before", s, 6);
	int s2 = dup(s);
	put(s, "left");
	close(s);
	ready(m, 1000);
	show_poll("one of two");
	close(s2);
	show_read("left", m, 4);
	show_one("closed", m, 10);
	show_poll("closed");
	SHOW(write(m, "late\n", 5));
	UNTIL(ready(m, 10));
	show_read("echo", m, 6);
	s = open(ptsname(m), O_RDWR | O_NOCTTY);
	show_one("open again", m, 10);
	show_poll("open again");
	show_read("kept", s, 5);
	return 0;
}
