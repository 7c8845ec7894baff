/*
 * siglongjmp out of a handler restores the saved mask, so the signal can come again; plain longjmp
 * leaves it blocked.
 */
#include "guest.h"
#include <setjmp.h>

static sigjmp_buf env;
static volatile int jumps;

static void handler(int sig)
{
	(void)sig;
	jumps++;
	siglongjmp(env, 1);
}

static int blocked(void)
{
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	return sigismember(&set, SIGUSR1);
}

int main(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	signal(SIGUSR1, handler);
	for (volatile int i = 0; i < 500; i++)
		if (sigsetjmp(env, 1) == 0)
			raise(SIGUSR1);
	printf("jumps %d, blocked %d\n", jumps, blocked());
	if (sigsetjmp(env, 0) == 0)
		raise(SIGUSR1);
	printf("jumps %d, blocked %d\n", jumps, blocked());
	sigprocmask(SIG_SETMASK, &set, NULL);
	/* Out of a blocking call, again and again; the mask saved keeps the signal out
	 * elsewhere. */
	signal(SIGCHLD, SIG_DFL);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_SETMASK, &set, NULL);
	volatile pid_t pid = xfork();
	if (pid == 0)
		for (;;) {
			usleep(2000);
			kill_parent(SIGUSR1);
		}
	jumps = 0;
	for (volatile int i = 0; i < 20; i++)
		if (sigsetjmp(env, 1) == 0) {
			sigprocmask(SIG_UNBLOCK, &set, NULL);
			for (;;)
				pause();
		}
	printf("jumps %d, blocked %d\n", jumps, blocked());
	kill(pid, SIGKILL);
	show_status("sender", xwait(pid));
	signal(SIGUSR1, SIG_IGN);
	return 0;
}
