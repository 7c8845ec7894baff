/* The default action of each signal: terminate, ignore, stop or continue. */
#include "guest.h"

int main(void)
{
	sigset_t none;

	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_DUMPABLE, 0);
	sigemptyset(&none);
	for (int sig = 1; sig <= 64; sig++) {
		if (sig == 32 || sig == 33)
			continue;
		fflush(stdout);
		pid_t pid = fork();
		if (pid == 0) {
			setpgid(0, 0);
			alarm(0);
			sigprocmask(SIG_SETMASK, &none, NULL);
			signal(sig, SIG_DFL);
			kill(getpid(), sig);
			_exit(0);
		}
		int status = 0;
		setpgid(pid, pid);
		waitpid(pid, &status, WUNTRACED);
		if (WIFSTOPPED(status)) {
			printf("%d: stops by %d, ", sig, WSTOPSIG(status));
			kill(pid, SIGCONT);
			waitpid(pid, &status, 0);
		} else {
			printf("%d: ", sig);
		}
		printf(WIFEXITED(status) ? "ignored, exit %d\n" : "kills by %d\n",
		       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	}
	return 0;
}
