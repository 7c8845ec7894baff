/*
 * A standard signal sent many times while blocked arrives once; a real-time signal as often as it
 * was sent.
 */
#include "guest.h"

static volatile int usr, rt;

static void handler(int sig)
{
	if (sig == SIGUSR1)
		usr++;
	else
		rt++;
}

int main(void)
{
	sigset_t set, old;
	pid_t self = getpid();

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, handler);
	signal(SIGRTMIN + 3, handler);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, &old);
	pid_t pid = xfork();
	if (pid == 0) {
		for (int i = 0; i < 50; i++) {
			kill(self, SIGUSR1);
			kill(self, SIGRTMIN + 3);
		}
		_exit(0);
	}
	xwait(pid);
	for (int i = 0; i < 10; i++) {
		kill(self, SIGUSR1);
		kill(self, SIGRTMIN + 3);
	}
	printf("while blocked: %d %d\n", usr, rt);
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("unblocked: %d %d\n", usr, rt);
	return 0;
}
