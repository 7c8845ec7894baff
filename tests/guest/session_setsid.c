/* setsid: a new session and group led by the caller, no terminal; EPERM for a group leader. */
#include "guest.h"

static void child(void)
{
	pid_t old = getsid(0);

	CHECK(getsid(0) == getsid(getppid()));
	CHECK(setsid() == getpid());
	CHECK(getsid(0) == getpid() && getpgrp() == getpid() && getsid(0) != old);
	SHOW(setsid());
	SHOW(setpgid(0, 0));
	SHOW(open("/dev/tty", O_RDWR));
	SHOW(getsid(0x3fffffff));
	CHECK(getsid(getppid()) == old);
	pid_t pid = xfork();
	if (pid == 0) {
		setpgid(0, 0);
		SHOW(setsid());
		CHECK(getsid(0) == getppid());
		fflush(stdout);
		_exit(0);
	}
	show_status("group leader", xwait(pid));
	pid = xfork();
	if (pid == 0) {
		CHECK(setsid() == getpid());
		fflush(stdout);
		_exit(0);
	}
	show_status("member", xwait(pid));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("child", in_child(child));
	return 0;
}
