/* A reader that VSUSP stopped takes nothing that is typed for another, and reads on when it is back
 * in front. */
#include "pty.h"

static void session(void)
{
	session_begin();
	signal(SIGTTOU, SIG_IGN);
	pid_t p = xfork();
	if (p == 0) {
		signal(SIGTTOU, SIG_DFL);
		setpgid(0, 0);
		while (tcgetpgrp(s) != getpgrp())
			usleep(1000);
		put(s, "ready");
		show_one("reader", s, 100);
		show_one("reader", s, 100);
		fflush(stdout);
		_exit(0);
	}
	setpgid(p, p);
	tcsetpgrp(s, p);
	show_change("reader", p); /* the parent types VSUSP */
	tcsetpgrp(s, getpgrp());
	put(s, "shell");
	show_one("shell", s, 100);
	tcsetpgrp(s, p);
	kill(-p, SIGCONT);
	show_change("reader", p);
	put(s, "again");
	show_change("reader", p);
}

int main(void)
{
	pair_open();
	set_lflag(0, ECHO);
	pid_t p = xfork();
	if (p == 0) {
		session();
		fflush(stdout);
		_exit(0);
	}
	show_read("master", m, 5);
	usleep(50000);
	put(m, "\032");
	show_read("master", m, 5);
	put(m, "for the shell\n");
	show_read("master", m, 5);
	put(m, "one\n");
	usleep(50000);
	put(m, "two\n");
	show_status("session", xwait(p));
	return 0;
}
