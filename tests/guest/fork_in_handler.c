/*
 * fork inside a signal handler: both return from the handler, the child with its own copy of all.
 */
#include "guest.h"

static volatile pid_t made = -1;

static void handler(int sig)
{
	(void)sig;
	made = fork();
}

int main(void)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, handler);
	fflush(stdout);
	raise(SIGUSR1);
	sigprocmask(SIG_BLOCK, NULL, &set);
	if (made == 0) {
		printf("child: back from the handler, USR1 blocked %d\n",
		       sigismember(&set, SIGUSR1));
		fflush(stdout);
		_exit(4);
	}
	show_status("child", xwait(made));
	printf("parent: back from the handler, USR1 blocked %d\n", sigismember(&set, SIGUSR1));
	return 0;
}
