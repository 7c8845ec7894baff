/*
 * The low byte of clone's flags is the signal the parent gets when the child ends; after exec it is
 * SIGCHLD.
 */
#include "guest.h"
#include <sys/syscall.h>

int main(void)
{
	sigset_t set;
	siginfo_t si;
	int status;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 2; i++) {
		fflush(stdout);
		pid_t pid = syscall(SYS_clone, SIGUSR1, NULL, NULL, NULL, NULL);
		if (pid == 0) {
			if (i)
				execl("/bin/true", "true", (char *)NULL);
			_exit(4);
		}
		int sig = sigwaitinfo(&set, &si);
		printf("%s: got %s, code exited %d, pid %d, status %d\n",
		       i ? "after exec" : "plain", signame(sig), si.si_code == CLD_EXITED,
		       si.si_pid == pid, si.si_status);
		CHECK(waitpid(pid, &status, __WALL) == pid);
		show_status("child", status);
	}
	return 0;
}
