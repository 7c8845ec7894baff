/* setpgid: who may move whom, and the errors. */
#include "guest.h"

static void all(void)
{
	char c;
	int gate[2], up[2];

	setsid();
	SHOW(setpgid(0, 0));
	SHOW(setpgid(0, -1));
	SHOW(setpgid(0x3fffffff, 0));
	SHOW(setpgid(getpid(), 0));
	SHOW(setpgid(1, 0));
	CHECK(getpgid(0) == getpid() && getpgrp() == getpid());
	SHOW(getpgid(0x3fffffff));
	SHOW(getpgid(-1));
	(void)!pipe(gate);
	pid_t a = xfork();
	if (a == 0) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1));
	}
	CHECK(getpgid(a) == getpid());
	SHOW(setpgid(a, 0x3fffffff));
	SHOW(setpgid(a, 0));
	CHECK(getpgid(a) == a);
	SHOW(setpgid(a, getpid()));
	CHECK(getpgid(a) == getpid());
	/* A child that has executed a program is out of reach. */
	(void)!pipe2(up, O_CLOEXEC);
	pid_t b = xfork();
	if (b == 0) {
		close(gate[1]);
		execl("/bin/cat", "cat", (char *)NULL);
		_exit(127);
	}
	close(up[1]);
	(void)!read(up[0], &c, 1);
	SHOW(setpgid(b, b));
	kill(b, SIGKILL);
	xwait(b);
	/* So is a child in another session. */
	(void)!pipe(up);
	b = xfork();
	if (b == 0) {
		setsid();
		(void)!write(up[1], "x", 1);
		for (;;)
			pause();
	}
	(void)!read(up[0], &c, 1);
	CHECK(getpgid(b) == b && getsid(b) == b);
	SHOW(setpgid(b, getpid()));
	SHOW(setpgid(0, b));
	kill(b, SIGKILL);
	xwait(b);
	close(gate[1]);
	xwait(a);
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	show_status("all", in_child(all));
	return 0;
}
