/*
 * waitid fills si_signo, si_code, si_pid, si_uid, si_status; with WNOHANG and nothing to report
 * si_pid is 0.
 */
#include "guest.h"

static void show(const char *what, pid_t pid, int rc, siginfo_t *si)
{
	const char *code = si->si_code == CLD_EXITED	  ? "exited"
			   : si->si_code == CLD_KILLED	  ? "killed"
			   : si->si_code == CLD_DUMPED	  ? "killed"
			   : si->si_code == CLD_STOPPED	  ? "stopped"
			   : si->si_code == CLD_CONTINUED ? "continued"
							  : "none";
	printf("%s: rc %d, signo CHLD %d, %s, pid %d, uid %d, status %d\n", what, rc,
	       si->si_signo == SIGCHLD, code, si->si_pid == pid, si->si_uid == getuid(),
	       si->si_status);
}

int main(void)
{
	siginfo_t si;
	int rc;

	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	pid_t pid = xfork();
	if (pid == 0)
		for (;;)
			pause();
	memset(&si, 0xff, sizeof(si));
	rc = waitid(P_PID, pid, &si, WEXITED | WSTOPPED | WCONTINUED | WNOHANG);
	printf("nothing yet: rc %d, si_pid %d, si_signo %d\n", rc, si.si_pid, si.si_signo);
	kill(pid, SIGSTOP);
	rc = waitid(P_ALL, 0, &si, WSTOPPED);
	show("stop", pid, rc, &si);
	kill(pid, SIGCONT);
	rc = waitid(P_PID, pid, &si, WCONTINUED);
	show("continue", pid, rc, &si);
	kill(pid, SIGTERM);
	rc = waitid(P_PID, pid, &si, WEXITED);
	show("kill", pid, rc, &si);
	pid = xfork();
	if (pid == 0)
		_exit(300);
	rc = waitid(P_ALL, 0, &si, WEXITED);
	show("exit 300", pid, rc, &si);
	pid = xfork();
	if (pid == 0)
		_exit(0);
	SHOW(waitid(P_PID, pid, NULL, WEXITED));
	SHOW(waitid(P_ALL, 0, &si, WEXITED));
	SHOW(waitid(P_ALL, 0, &si, 0));
	SHOW(waitid(P_ALL, 0, &si, WNOHANG));
	SHOW(waitid(99, 0, &si, WEXITED));
	SHOW(waitid(P_PID, 0, &si, WEXITED));
	SHOW(waitid(P_ALL, 0, &si, WEXITED | 0x100));
	return 0;
}
