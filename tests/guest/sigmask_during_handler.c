/*
 * sa_mask and the signal itself are blocked in the handler, and the mask before is restored;
 * sigreturn may be given another.
 */
#include "guest.h"
#include <ucontext.h>

static volatile int in_usr1, nested, order;

static void second(int sig)
{
	(void)sig;
	nested += in_usr1;
	order = order * 10 + 2;
}

static void first(int sig, siginfo_t *si, void *ctx)
{
	sigset_t set;
	ucontext_t *uc = ctx;

	(void)sig;
	(void)si;
	in_usr1 = 1;
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("in handler: USR1 %d, USR2 %d, HUP %d\n", sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGUSR2), sigismember(&set, SIGHUP));
	printf("saved mask: USR1 %d, USR2 %d\n", sigismember(&uc->uc_sigmask, SIGUSR1),
	       sigismember(&uc->uc_sigmask, SIGUSR2));
	raise(SIGUSR2);
	raise(SIGHUP);
	sigaddset(&uc->uc_sigmask, SIGTERM);
	order = order * 10 + 1;
	in_usr1 = 0;
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = first, .sa_flags = SA_SIGINFO };
	sigset_t set;

	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigaddset(&sa.sa_mask, SIGUSR2);
	sigaction(SIGUSR1, &sa, NULL);
	signal(SIGUSR2, second);
	signal(SIGHUP, second);
	raise(SIGUSR1);
	printf("ran while the first was running: %d, order %d\n", nested, order);
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("after: USR1 %d, USR2 %d, TERM (put into the saved mask) %d\n",
	       sigismember(&set, SIGUSR1), sigismember(&set, SIGUSR2), sigismember(&set, SIGTERM));
	return 0;
}
