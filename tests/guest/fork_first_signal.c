/*
 * A child that was just made is sent two signals that end it: it dies of the first, however
 * late it gets to run.
 */
#include "guest.h"

/* How many of rounds children, each sent SIGUSR1 and then SIGKILL, died of sig. */
static int died_of(int rounds, int sig)
{
	int n = 0;

	for (int i = 0; i < rounds; i++) {
		pid_t p = xfork();

		if (p == 0)
			for (;;)
				pause();
		kill(p, SIGUSR1);
		kill(p, SIGKILL);
		n += WTERMSIG(xwait(p)) == sig;
	}
	return n;
}

int main(void)
{
	sigset_t set;

	signal(SIGUSR1, SIG_DFL);
	SHOW(died_of(300, SIGUSR1));
	/* Blocked since before it was born: that one waits. */
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	SHOW(died_of(100, SIGKILL));
	return 0;
}
