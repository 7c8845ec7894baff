/*
 * A child that was just made is sent two signals that end it: it dies of the first, however
 * late it gets to run.
 */
#include "guest.h"

int main(void)
{
	int first = 0, blocked = 0;
	sigset_t set;

	signal(SIGUSR1, SIG_DFL);
	for (int i = 0; i < 300; i++) {
		pid_t p = xfork();

		if (p == 0)
			for (;;)
				pause();
		kill(p, SIGUSR1);
		kill(p, SIGKILL);
		first += WTERMSIG(xwait(p)) == SIGUSR1;
	}
	SHOW(first);
	/* Blocked since before it was born: that one waits. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 100; i++) {
		pid_t p = xfork();

		if (p == 0)
			for (;;)
				pause();
		kill(p, SIGUSR1);
		kill(p, SIGKILL);
		blocked += WTERMSIG(xwait(p)) == SIGKILL;
	}
	SHOW(blocked);
	return 0;
}
