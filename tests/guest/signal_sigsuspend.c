/*
 * sigsuspend swaps the mask and sleeps as one step, and the mask before is back afterwards: no
 * signal is lost.
 */
#include "guest.h"

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	sigset_t block, none, now;
	pid_t parent = getpid();

	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_SETMASK, &block, NULL);
	raise(SIGUSR1);
	SHOW(sigsuspend(&none));
	printf("hits %d\n", hits);
	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("blocked again %d\n", sigismember(&now, SIGUSR1));
	/* Ping-pong: a lost wake-up would hang. */
	pid_t pid = xfork();
	if (pid == 0) {
		for (int i = 0; i < 200; i++) {
			kill(parent, SIGUSR1);
			sigsuspend(&none);
		}
		_exit(hits > 100 ? 5 : 6);
	}
	for (int i = 0; i < 200; i++) {
		sigsuspend(&none);
		kill(pid, SIGUSR1);
	}
	show_status("child", xwait(pid));
	printf("hits %d\n", hits);
	return 0;
}
