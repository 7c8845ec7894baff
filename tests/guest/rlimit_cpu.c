/* RLIMIT_CPU: SIGXCPU at the soft limit, SIGKILL at the hard one. */
#include "guest.h"
#include <sys/resource.h>

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static void child(void)
{
	struct rlimit lim = { .rlim_cur = 1, .rlim_max = 50 };

	signal(SIGXCPU, handler);
	setrlimit(RLIMIT_CPU, &lim);
	usleep(100000);
	while (!hits)
		;
	printf("SIGXCPU handled\n");
	fflush(stdout);
	/* Both limits are behind us now. */
	lim.rlim_max = 1;
	setrlimit(RLIMIT_CPU, &lim);
	for (;;)
		;
}

int main(void)
{
	sigprocmask(SIG_SETMASK, &(sigset_t){ 0 }, NULL);
	signal(SIGCHLD, SIG_DFL);
	show_status("child", in_child(child));
	return 0;
}
