/* CLONE_PARENT: the new process is a sibling, child of the caller's parent, which waits for it. */
#include "guest.h"
#include <sched.h>
#include <sys/syscall.h>

int main(void)
{
	int up[2];
	pid_t made = 0, outer = getpid();

	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(up);
	pid_t pid = xfork();
	if (pid == 0) {
		pid_t sibling = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
		if (sibling == 0)
			_exit(getppid() == outer ? 8 : 9);
		(void)!write(up[1], &sibling, sizeof(sibling));
		int rc = waitpid(sibling, NULL, 0);
		_exit(rc < 0 && errno == ECHILD ? 3 : 4);
	}
	(void)!read(up[0], &made, sizeof(made));
	show_status("child", xwait(pid));
	show_status("sibling", xwait(made));
	return 0;
}
