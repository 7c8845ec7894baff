/* A blocked signal is pending until unblocked, and is handled before sigprocmask returns. */
#include "guest.h"

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static int pending(int sig)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, sig);
}

int main(void)
{
	sigset_t set, old;

	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGUSR1, handler);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	SHOW(sigprocmask(SIG_BLOCK, &set, &old));
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR2);
	/* Even an ignored signal is kept while it is blocked. */
	printf("hits %d, pending USR1 %d, USR2 %d\n", hits, pending(SIGUSR1), pending(SIGUSR2));
	sigprocmask(SIG_BLOCK, NULL, &set);
	printf("blocked USR1 %d, TERM %d\n", sigismember(&set, SIGUSR1),
	       sigismember(&set, SIGTERM));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	printf("hits %d, pending USR1 %d\n", hits, pending(SIGUSR1));
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("pending USR2 %d\n", pending(SIGUSR2));
	/* Setting SIG_IGN throws away what is pending. */
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	signal(SIGUSR1, SIG_IGN);
	printf("after SIG_IGN pending %d\n", pending(SIGUSR1));
	signal(SIGUSR1, handler);
	sigprocmask(SIG_SETMASK, &old, NULL);
	printf("hits %d\n", hits);
	return 0;
}
