/* tcsetpgrp: which groups it takes, and from whom. */
#include "pty.h"

static void session(void)
{
	pid_t dead, other;
	session_begin();
	dead = xfork();
	if (dead == 0)
		_exit(0);
	xwait(dead);
	CHECK(tcgetpgrp(s) == getpgrp());
	SHOW(tcsetpgrp(s, dead));
	SHOW(tcsetpgrp(s, -5));
	SHOW(ioctl(s, TIOCSPGRP, (void *)8));
	SHOW(tcsetpgrp(s, getppid()));
	int fds[2];
	if (pipe(fds))
		return;
	other = xfork();
	if (other == 0) {
		char c;
		close(fds[1]);
		_exit(read(fds[0], &c, 1) == 1);
	}
	/* A number of a process that leads no group will do. */
	SHOW(tcsetpgrp(s, other));
	CHECK(tcgetpgrp(s) == other);
	signal(SIGTTOU, SIG_IGN);
	SHOW(tcsetpgrp(s, getpgrp()));
	setpgid(other, other);
	SHOW(tcsetpgrp(s, other));
	CHECK(tcgetpgrp(m) == other);
	/* The master may be asked by anybody; setting needs the terminal. */
	SHOW(ioctl(m, TIOCSPGRP, &(pid_t){ getpgrp() }));
	CHECK(tcgetpgrp(s) == getpgrp());
	close(fds[1]);
	show_status("other", xwait(other));
}

int main(void)
{
	pair_open();
	SHOW(tcsetpgrp(s, getpgrp()));
	SHOW(tcsetpgrp(m, getpgrp()));
	SHOW(tcgetpgrp(s));
	SHOW(tcgetpgrp(m));
	signal(SIGHUP, SIG_IGN);
	show_status("session", in_child(session));
	return 0;
}
