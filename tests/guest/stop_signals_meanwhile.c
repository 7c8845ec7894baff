/*
 * A stopped process takes SIGKILL at once, other signals only after SIGCONT; SIGCONT continues even
 * when blocked or ignored.
 */
#include "guest.h"

static pid_t start(void)
{
	int status;
	pid_t pid = xfork();

	if (pid == 0) {
		sigset_t set;
		signal(SIGTERM, SIG_DFL);
		signal(SIGCONT, SIG_IGN);
		sigemptyset(&set);
		sigaddset(&set, SIGCONT);
		sigprocmask(SIG_SETMASK, &set, NULL);
		for (;;)
			pause();
	}
	usleep(20000);
	kill(pid, SIGSTOP);
	waitpid(pid, &status, WUNTRACED);
	return pid;
}

int main(void)
{
	int status;

	signal(SIGCHLD, SIG_DFL);
	pid_t pid = start();
	kill(pid, SIGTERM);
	usleep(50000);
	SHOW(waitpid(pid, &status, WNOHANG));
	SHOW(kill(pid, 0));
	kill(pid, SIGCONT);
	show_status("TERM while stopped", xwait(pid));
	pid = start();
	kill(pid, SIGKILL);
	show_status("KILL while stopped", xwait(pid));
	/* A stop signal takes back a pending SIGCONT and the other way round. */
	sigset_t set, pend;
	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCONT, SIG_DFL);
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigpending(&pend);
	printf("pending TSTP %d, CONT %d\n", sigismember(&pend, SIGTSTP),
	       sigismember(&pend, SIGCONT));
	raise(SIGCONT);
	sigpending(&pend);
	printf("pending TSTP %d, CONT %d\n", sigismember(&pend, SIGTSTP),
	       sigismember(&pend, SIGCONT));
	raise(SIGTSTP);
	sigpending(&pend);
	printf("pending TSTP %d, CONT %d\n", sigismember(&pend, SIGTSTP),
	       sigismember(&pend, SIGCONT));
	return 0;
}
