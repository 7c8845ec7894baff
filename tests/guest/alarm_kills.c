/* SIGALRM kills by default; an alarm survives exec but not fork. */
#include "guest.h"

int main(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	fflush(stdout);
	pid_t a = fork();
	if (a == 0) {
		alarm(1);
		for (;;)
			pause();
	}
	pid_t b = fork();
	if (b == 0) {
		alarm(1);
		execl("/bin/sleep", "sleep", "4", (char *)NULL);
		_exit(127);
	}
	pid_t c = fork();
	if (c == 0) {
		alarm(1);
		pid_t d = fork();
		if (d == 0) {
			usleep(1300000);
			_exit(5);
		}
		alarm(0);
		_exit(WEXITSTATUS(xwait(d)));
	}
	show_status("pause", xwait(a));
	show_status("exec", xwait(b));
	show_status("fork", xwait(c));
	return 0;
}
