/* How a session gets its controlling terminal: by open, by TIOCSCTTY, and by what it does not. */
#include "pty.h"

static int tty_dev(void)
{
	int fd = open("/dev/tty", O_RDWR);
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static void by_open(void)
{
	SHOW(setsid() == getpid());
	SHOW(tty_dev());
	SHOW(tcgetpgrp(s));
	int fd = open(ptsname(m), O_RDWR | O_NOCTTY);
	SHOW(tty_dev());
	close(fd);
	fd = open(ptsname(m), O_WRONLY);
	SHOW(tty_dev());
	close(fd);
	fd = open(ptsname(m), O_RDWR);
	SHOW(tty_dev());
	CHECK(tcgetpgrp(fd) == getpgrp() && tcgetsid(fd) == getsid(0));
	CHECK(tcgetpgrp(m) == getpgrp() && tcgetsid(m) == getsid(0));
	int t = open("/dev/tty", O_RDWR);
	CHECK(t >= 0 && isatty(t));
	put(t, "by tty");
	CHECK(strcmp(ttyname(t) ? ttyname(t) : "none", ptsname(m)) != 0);
	/* A second terminal does not become it. */
	int m2 = posix_openpt(O_RDWR);
	unlockpt(m2);
	int s2 = open(ptsname(m2), O_RDWR);
	SHOW(tcgetpgrp(s2));
	SHOW(ioctl(s2, TIOCSCTTY, 0));
	SHOW(tcgetsid(m2));
	SHOW(ioctl(fd, TIOCSCTTY, 0));
}

static void not_leader(void)
{
	SHOW(ioctl(s, TIOCSCTTY, 0));
	SHOW(tty_dev());
}

static void by_call(void)
{
	setsid();
	SHOW(ioctl(s, TIOCSCTTY, 0));
	SHOW(tty_dev());
	show_status("not a leader", in_child(not_leader));
	/* Another session cannot have it. */
	pid_t p = xfork();
	if (p == 0) {
		drop_to_user();
		setsid();
		SHOW(tcgetpgrp(s));
		SHOW(ioctl(s, TIOCSCTTY, 0));
		SHOW(ioctl(s, TIOCSCTTY, 1));
		SHOW(tty_dev());
		fflush(stdout);
		_exit(0);
	}
	show_status("another", xwait(p));
}

int main(void)
{
	signal(SIGHUP, SIG_IGN);
	pair_open();
	show_status("by open", in_child(by_open));
	show_read("master", m, 6);
	SHOW(tcgetsid(m));
	show_status("by call", in_child(by_call));
	SHOW(tcgetpgrp(m));
	return 0;
}
