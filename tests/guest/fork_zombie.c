/*
 * A dead child that was not waited for still exists: kill(pid, 0) works, its state is Z. Then it is
 * gone.
 */
#include "guest.h"

static char state_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	const char *text = get_file(path);
	const char *paren = strrchr(text, ')');
	return paren ? paren[2] : '?';
}

int main(void)
{
	siginfo_t si;

	signal(SIGCHLD, SIG_DFL);
	pid_t pid = xfork();
	if (pid == 0)
		_exit(5);
	SHOW(waitid(P_PID, pid, &si, WEXITED | WNOWAIT));
	SHOW(kill(pid, 0));
	SHOW(kill(pid, SIGKILL));
	CHECK(getpgid(pid) == getpgrp());
	printf("state %c\n", state_of(pid));
	show_status("zombie", xwait(pid));
	SHOW(kill(pid, 0));
	SHOW(getpgid(pid));
	SHOW(waitpid(pid, NULL, 0));
	return 0;
}
