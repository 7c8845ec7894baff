/*
 * sigaction gives back what was set: handler, flags, mask; and discards pending signals when the
 * new action ignores them.
 */
#include "guest.h"

static void one(int sig)
{
	(void)sig;
}
static void two(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)si;
	(void)uc;
}

int main(void)
{
	struct sigaction a = { .sa_handler = one, .sa_flags = SA_RESTART | SA_NODEFER },
			 b = { .sa_sigaction = two, .sa_flags = SA_SIGINFO | SA_ONSTACK }, old;
	sigset_t set;

	signal(SIGUSR1, SIG_DFL);
	sigaddset(&a.sa_mask, SIGHUP);
	sigaddset(&a.sa_mask, SIGKILL);
	SHOW(sigaction(SIGUSR1, &a, &old));
	CHECK(old.sa_handler == SIG_DFL);
	SHOW(sigaction(SIGUSR1, &b, &old));
	CHECK(old.sa_handler == one);
	CHECK((old.sa_flags & ~0x04000000) == (SA_RESTART | SA_NODEFER));
	printf("mask: HUP %d, KILL %d, INT %d\n", sigismember(&old.sa_mask, SIGHUP),
	       sigismember(&old.sa_mask, SIGKILL), sigismember(&old.sa_mask, SIGINT));
	SHOW(sigaction(SIGUSR1, NULL, &old));
	CHECK(old.sa_sigaction == two);
	CHECK((old.sa_flags & ~0x04000000) == (SA_SIGINFO | SA_ONSTACK));
	CHECK(signal(SIGUSR1, SIG_IGN) == (void (*)(int))(void *)two);
	CHECK(signal(SIGUSR1, SIG_DFL) == SIG_IGN);
	/* A full mask comes back full, but for the two that no mask has and glibc's own. */
	sigfillset(&a.sa_mask);
	SHOW(sigaction(SIGWINCH, &a, NULL));
	SHOW(sigaction(SIGWINCH, NULL, &old));
	for (int sig = 1; sig <= 64; sig++)
		if (!sigismember(&old.sa_mask, sig))
			printf("%d not in the mask\n", sig);
	SHOW(sigaction(SIGWINCH, &b, &old));
	printf("mask: SYS %d, 64 %d\n", sigismember(&old.sa_mask, SIGSYS),
	       sigismember(&old.sa_mask, 64));
	SHOW(sigaction(SIGWINCH, NULL, &old));
	printf("mask: SYS %d, 64 %d\n", sigismember(&old.sa_mask, SIGSYS),
	       sigismember(&old.sa_mask, 64));
	/*
	 * Pending SIGCHLD is thrown away by the default action, which ignores it; pending SIGTERM
	 * is not.
	 */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, one);
	signal(SIGTERM, one);
	raise(SIGCHLD);
	raise(SIGTERM);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigpending(&set);
	printf("pending CHLD %d, TERM %d\n", sigismember(&set, SIGCHLD),
	       sigismember(&set, SIGTERM));
	signal(SIGTERM, SIG_IGN);
	sigpending(&set);
	printf("pending TERM %d\n", sigismember(&set, SIGTERM));
	return 0;
}
