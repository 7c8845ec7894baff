/*
 * A chain of 40 processes, each the child of the one before; the exit codes come back up through
 * wait.
 */
#include "guest.h"

static int descend(int depth)
{
	if (depth == 40)
		return 40;
	pid_t self = getpid();
	pid_t pid = fork();
	if (pid < 0)
		return 250;
	if (pid == 0)
		_exit(getppid() == self ? descend(depth + 1) : 251);
	int status = xwait(pid);
	if (!WIFEXITED(status))
		return 252;
	return WEXITSTATUS(status) >= 250 ? WEXITSTATUS(status) : WEXITSTATUS(status) + 1;
}

int main(void)
{
	signal(SIGCHLD, SIG_DFL);
	printf("depth reached plus levels returned: %d\n", descend(0));
	return 0;
}
