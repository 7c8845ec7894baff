/* waitpid(-pgid), waitpid(0) and waitid(P_PGID) take children of that group only. */
#include "guest.h"

static pid_t start(pid_t pgid, int code)
{
	pid_t pid = xfork();
	if (pid == 0) {
		setpgid(0, pgid);
		_exit(code);
	}
	setpgid(pid, pgid);
	return pid;
}

int main(void)
{
	int gate[2], status;
	char c;
	siginfo_t si;

	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(gate);
	pid_t leader = xfork();
	if (leader == 0) {
		setpgid(0, 0);
		close(gate[1]);
		_exit(read(gate[0], &c, 1) == 0 ? 1 : 9);
	}
	setpgid(leader, leader);
	pid_t own = start(getpgrp(), 2);
	pid_t in = start(leader, 3);
	CHECK(waitpid(-leader, &status, 0) == in);
	show_status("in the group", status);
	SHOW(waitpid(-leader, &status, WNOHANG));
	CHECK(waitpid(0, &status, 0) == own);
	show_status("in our group", status);
	SHOW(waitpid(0, &status, WNOHANG));
	close(gate[1]);
	memset(&si, 0, sizeof(si));
	SHOW(waitid(P_PGID, leader, &si, WEXITED));
	printf("leader %d, status %d\n", si.si_pid == leader, si.si_status);
	SHOW(waitid(P_PGID, leader, &si, WEXITED));
	SHOW(waitpid(-leader, &status, 0));
	return 0;
}
