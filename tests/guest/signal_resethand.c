/*
 * SA_RESETHAND: the disposition is default again when the handler is entered, so the second one
 * kills.
 */
#include "guest.h"

static volatile int hits, was_default;

static void handler(int sig)
{
	struct sigaction sa;

	sigaction(sig, NULL, &sa);
	was_default = sa.sa_handler == SIG_DFL;
	hits++;
}

static void child(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	printf("hits %d, default inside the handler %d\n", hits, was_default);
	fflush(stdout);
	raise(SIGUSR1);
	printf("not reached\n");
}

int main(void)
{
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	show_status("child", in_child(child));
	return 0;
}
