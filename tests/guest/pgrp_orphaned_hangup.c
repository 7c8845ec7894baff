/*
 * When a group becomes orphaned and a member is stopped, all its members get SIGHUP, then SIGCONT.
 */
/* differs: a caught SIGCONT is the host's own and overtakes signals inside the reserved one */
#include "guest.h"

static int out[2];

static void note(int sig)
{
	(void)!write(out[1], sig == SIGHUP ? "H" : "C", 1);
}

int main(void)
{
	char buf[8] = "";
	int n = 0, status;

	signal(SIGCHLD, SIG_DFL);
	(void)!pipe(out);
	pid_t pid = xfork();
	if (pid == 0) {
		setsid();
		pid_t a = fork();
		if (a == 0) {
			sigset_t set;
			struct sigaction sa = { .sa_handler = note };
			alarm(20);
			/*
			 * HUP is sent first; with each in the other's mask they run in that order.
			 */
			sigaddset(&sa.sa_mask, SIGCONT);
			sigaddset(&sa.sa_mask, SIGHUP);
			sigaction(SIGHUP, &sa, NULL);
			sigaction(SIGCONT, &sa, NULL);
			sigemptyset(&set);
			sigprocmask(SIG_SETMASK, &set, NULL);
			setpgid(0, 0);
			raise(SIGSTOP);
			_exit(0);
		}
		waitpid(a, &status, WUNTRACED);
		/* Its parent was the only tie to the session. */
		_exit(WIFSTOPPED(status) ? 5 : 6);
	}
	close(out[1]);
	show_status("parent", xwait(pid));
	while (n < 7) {
		ssize_t got = read(out[0], buf + n, 7 - n);
		if (got <= 0)
			break;
		n += got;
	}
	printf("received %s\n", buf);
	return 0;
}
