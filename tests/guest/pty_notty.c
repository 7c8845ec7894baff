/* TIOCNOTTY: a member gives the terminal up for itself and its children, a leader for all. */
#include "pty.h"

static volatile sig_atomic_t hup;
static void handler(int sig)
{
	(void)sig;
	hup++;
}

static void look(const char *what)
{
	int fd = open("/dev/tty", O_RDWR);
	printf("%s: %s\n", what, fd < 0 ? ename(errno) : "has it");
	close(fd);
}

static void grandchild(void)
{
	look("grandchild");
}

static void member(void)
{
	look("member");
	SHOW(ioctl(s, TIOCNOTTY));
	look("member after");
	SHOW(ioctl(s, TIOCNOTTY));
	SHOW(tcgetpgrp(s));
	in_child(grandchild);
}

static void session(void)
{
	signal(SIGHUP, handler);
	SHOW(ioctl(s, TIOCNOTTY));
	session_begin();
	SHOW(ioctl(m, TIOCNOTTY));
	show_status("member", in_child(member));
	look("leader");
	SHOW(hup);
	SHOW(ioctl(s, TIOCNOTTY));
	UNTIL(hup);
	SHOW(hup);
	look("leader after");
	SHOW(tcgetsid(m));
}

int main(void)
{
	pair_open();
	show_status("session", in_child(session));
	return 0;
}
