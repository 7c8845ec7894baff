/*
 * CLONE_VM | CLONE_SIGHAND without CLONE_THREAD: signal actions are shared between the processes,
 * masks are not.
 */
#include "guest.h"
#include <sched.h>

static volatile int ready;

static void handler(int sig)
{
	(void)sig;
}

static int child(void *arg)
{
	sigset_t set;

	(void)arg;
	signal(SIGUSR1, handler);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return 2;
}

int main(void)
{
	static char stack[65536] __attribute__((aligned(64)));
	struct sigaction sa;
	sigset_t set;

	signal(SIGCHLD, SIG_DFL);
	signal(SIGUSR1, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	for (int i = 0; i < 2; i++) {
		pid_t pid = clone(child, stack + sizeof(stack),
				  (i ? CLONE_VM | CLONE_SIGHAND : 0) | SIGCHLD, NULL);
		show_status(i ? "shared" : "not shared", xwait(pid));
		sigaction(SIGUSR1, NULL, &sa);
		printf("USR1 handler %d, ", sa.sa_handler == handler);
		sigaction(SIGUSR2, NULL, &sa);
		printf("USR2 ignored %d, ", sa.sa_handler == SIG_IGN);
		sigprocmask(SIG_BLOCK, NULL, &set);
		printf("HUP blocked %d\n", sigismember(&set, SIGHUP));
	}
	return 0;
}
