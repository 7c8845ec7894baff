/* The errors of the wait family: no children, not our child, unknown options, bad pointers. */
#include "guest.h"
#include <limits.h>
#include <sys/resource.h>

int main(void)
{
	int status;
	char *volatile bad = (char *)8;

	signal(SIGCHLD, SIG_DFL);
	SHOW(wait(&status));
	SHOW(waitpid(-1, &status, 0));
	SHOW(waitpid(0, &status, 0));
	SHOW(waitpid(1, &status, 0));
	SHOW(waitpid(getpid(), &status, 0));
	SHOW(waitpid(getppid(), &status, WNOHANG));
	SHOW(waitpid(0x3fffffff, &status, 0));
	SHOW(waitpid(-0x3fffffff, &status, 0));
	SHOW(waitpid(INT_MIN, &status, 0));
	SHOW(waitpid(-1, &status, 0x100));
	SHOW(waitpid(-1, &status, WEXITED));
	pid_t pid = xfork();
	if (pid == 0)
		_exit(0);
	/* The status cannot be written, but the child is gone all the same. */
	SHOW(waitpid(pid, (int *)bad, 0));
	SHOW(waitpid(pid, &status, 0));
	pid = xfork();
	if (pid == 0)
		_exit(0);
	CHECK(wait4(pid, NULL, 0, NULL) == pid);
	/* A grandchild is not a child. */
	int p[2], q[2];
	(void)!pipe(p);
	(void)!pipe(q);
	pid = xfork();
	if (pid == 0) {
		char c;
		pid_t grand = fork();
		if (grand == 0) {
			close(q[1]);
			_exit(read(q[0], &c, 1));
		}
		(void)!write(p[1], &grand, sizeof(grand));
		close(q[1]);
		xwait(grand);
		_exit(0);
	}
	pid_t grand = 0;
	(void)!read(p[0], &grand, sizeof(grand));
	SHOW(kill(grand, 0));
	SHOW(waitpid(grand, &status, 0));
	close(q[1]);
	show_status("child", xwait(pid));
	return 0;
}
