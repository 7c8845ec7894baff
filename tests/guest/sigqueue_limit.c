/*
 * RLIMIT_SIGPENDING bounds the queued real-time signals: then sigqueue is EAGAIN; kill of a
 * standard signal still works.
 */
#include "guest.h"
#include <sys/resource.h>

int main(void)
{
	struct rlimit lim = { .rlim_cur = 20, .rlim_max = 20 };
	sigset_t set;
	int n = 0, rc = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	SHOW(setrlimit(RLIMIT_SIGPENDING, &lim));
	while (n < 1000 &&
	       (rc = sigqueue(getpid(), SIGRTMIN, (union sigval){ .sival_int = n })) == 0)
		n++;
	printf("stopped by %s, at most the limit %d\n", rc ? ename(errno) : "nothing", n <= 20);
	SHOW(kill(getpid(), SIGUSR1));
	sigpending(&set);
	printf("USR1 pending %d\n", sigismember(&set, SIGUSR1));
	return 0;
}
