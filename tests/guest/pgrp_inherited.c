/*
 * A child is in its parent's group and session; exec changes neither; a group outlives its leader.
 */
#include "guest.h"

int main(int argc, char **argv)
{
	if (argc > 1) {
		printf("after exec: group kept %d, session kept %d\n", getpgrp() == atoi(argv[1]),
		       getsid(0) == atoi(argv[2]));
		return 0;
	}
	signal(SIGCHLD, SIG_DFL);
	int gate[2];
	char c, a[16], b[16];
	(void)!pipe(gate);
	pid_t pid = xfork();
	if (pid == 0) {
		CHECK(getpgrp() == getpgid(getppid()));
		CHECK(getsid(0) == getsid(getppid()));
		snprintf(a, sizeof(a), "%d", getpgrp());
		snprintf(b, sizeof(b), "%d", getsid(0));
		fflush(stdout);
		execl("/proc/self/exe", "self", a, b, (char *)NULL);
		_exit(127);
	}
	show_status("child", xwait(pid));
	pid_t leader = xfork();
	if (leader == 0) {
		setpgid(0, 0);
		_exit(0);
	}
	setpgid(leader, leader);
	pid_t member = xfork();
	if (member == 0) {
		close(gate[1]);
		_exit(read(gate[0], &c, 1));
	}
	SHOW(setpgid(member, leader));
	xwait(leader);
	CHECK(getpgid(member) == leader);
	SHOW(kill(-leader, 0));
	SHOW(getpgid(leader));
	close(gate[1]);
	show_status("member", xwait(member));
	SHOW(kill(-leader, 0));
	return 0;
}
