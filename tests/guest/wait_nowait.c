/* WNOWAIT reports a state and leaves it, as often as asked, for an exit, a stop and a continue. */
#include "guest.h"

int main(void)
{
	siginfo_t si;
	int status;

	signal(SIGCHLD, SIG_DFL);
	pid_t pid = xfork();
	if (pid == 0)
		for (;;)
			pause();
	kill(pid, SIGSTOP);
	for (int i = 0; i < 2; i++) {
		waitid(P_PID, pid, &si, WSTOPPED | WNOWAIT);
		printf("stopped %d by STOP %d\n", si.si_code == CLD_STOPPED,
		       si.si_status == SIGSTOP);
	}
	CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
	      WSTOPSIG(status) == SIGSTOP);
	SHOW(waitpid(pid, &status, WUNTRACED | WNOHANG));
	kill(pid, SIGCONT);
	for (int i = 0; i < 2; i++) {
		waitid(P_PID, pid, &si, WCONTINUED | WNOWAIT);
		printf("continued %d by CONT %d\n", si.si_code == CLD_CONTINUED,
		       si.si_status == SIGCONT);
	}
	CHECK(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
	SHOW(waitpid(pid, &status, WCONTINUED | WNOHANG));
	kill(pid, SIGKILL);
	for (int i = 0; i < 3; i++) {
		waitid(P_PID, pid, &si, WEXITED | WNOWAIT);
		printf("killed %d by KILL %d\n", si.si_code == CLD_KILLED, si.si_status == SIGKILL);
	}
	show_status("child", xwait(pid));
	SHOW(waitid(P_PID, pid, &si, WEXITED | WNOWAIT));
	return 0;
}
