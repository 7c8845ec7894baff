/*
 * PR_SET_PDEATHSIG: the signal comes when the parent ends; fork clears it; wrong numbers are
 * EINVAL.
 */
#include "guest.h"

int main(void)
{
	int out[2], up[2], sig = -1;
	char text[64] = "", c;

	signal(SIGCHLD, SIG_DFL);
	SHOW(prctl(PR_SET_PDEATHSIG, SIGUSR1));
	SHOW(prctl(PR_GET_PDEATHSIG, &sig));
	printf("got %s\n", signame(sig));
	SHOW(prctl(PR_SET_PDEATHSIG, 65));
	(void)!pipe(out);
	(void)!pipe(up);
	pid_t pid = xfork();
	if (pid == 0) {
		prctl(PR_GET_PDEATHSIG, &sig);
		pid_t parent = getpid();
		if (fork() == 0) {
			sigset_t set;
			siginfo_t si;
			alarm(20);
			sigemptyset(&set);
			sigaddset(&set, SIGUSR2);
			sigprocmask(SIG_BLOCK, &set, NULL);
			prctl(PR_SET_PDEATHSIG, SIGUSR2);
			(void)!write(up[1], "r", 1);
			int got = sigwaitinfo(&set, &si);
			dprintf(out[1], "right signal %d, parent gone %d", got == SIGUSR2,
				getppid() != parent);
			_exit(0);
		}
		(void)!read(up[0], &c, 1);
		_exit(sig);
	}
	show_status("parent; inherited signal", xwait(pid));
	close(out[1]);
	(void)!read(out[0], text, sizeof(text) - 1);
	printf("orphan: %s\n", text);
	return 0;
}
