/* nice and setpriority: only upwards for a user, clamped at 19, inherited by fork; errors. */
#include "guest.h"
#include <sys/resource.h>

static void as_user(void)
{
	struct rlimit lim = { 0 };

	drop_to_user();
	setrlimit(RLIMIT_NICE, &lim);
	SHOW(setpriority(PRIO_PROCESS, 0, 3));
	SHOW(getpriority(PRIO_PROCESS, 0));
	SHOW(nice(4));
	SHOW(getpriority(PRIO_PROCESS, getpid()));
	SHOW(setpriority(PRIO_PROCESS, 0, 6));
	SHOW(nice(-1));
	SHOW(setpriority(PRIO_PROCESS, 0, 100));
	SHOW(getpriority(PRIO_PROCESS, 0));
	pid_t pid = xfork();
	if (pid == 0)
		_exit(getpriority(PRIO_PROCESS, 0));
	show_status("child", xwait(pid));
	SHOW(getpriority(PRIO_PROCESS, 0x3fffffff));
	SHOW(getpriority(9, 0));
	SHOW(setpriority(PRIO_PROCESS, 0x3fffffff, 5));
	SHOW(setpriority(PRIO_PROCESS, 1, 5));
	CHECK(setpgid(0, 0) == 0);
	SHOW(getpriority(PRIO_PGRP, 0));
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	if (getpriority(PRIO_PROCESS, 0) > 3)
		return 1;
	show_status("user", in_child(as_user));
	return 0;
}
