/*
 * ppoll swaps the signal mask for the time of the wait: a blocked signal that is pending ends it
 * with EINTR.
 */
#include "guest.h"
#include <poll.h>
#include <time.h>

static int hits;

static void on_usr1(int sig)
{
	hits += sig == SIGUSR1;
}

int main(void)
{
	sigset_t block, empty;
	int p[2];
	pipe(p);
	struct pollfd f = { p[0], POLLIN, 0 };
	struct sigaction sa = { .sa_handler = on_usr1, .sa_flags = SA_RESTART };
	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&empty);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	raise(SIGUSR1);
	SHOW(hits);
	struct timespec ts = { 0, 50000000 };
	SHOW(ppoll(&f, 1, &ts, NULL));
	SHOW(hits);
	SHOW(ppoll(&f, 1, NULL, &empty));
	SHOW(hits);
	/* The old mask is back. */
	raise(SIGUSR1);
	SHOW(hits);
	SHOW(ppoll(&f, 1, NULL, &empty));
	SHOW(hits);
	/* A signal that comes during the wait. */
	pid_t me = getpid(), pid = xfork();
	if (pid == 0) {
		usleep(100000);
		kill(me, SIGUSR1);
		_exit(0);
	}
	SHOW(ppoll(&f, 1, NULL, &empty));
	SHOW(hits);
	xwait(pid);
	SHOW(ppoll(&f, 1, &ts, &empty));
	write(p[1], "x", 1);
	SHOW(ppoll(&f, 1, NULL, &empty));
	ts.tv_nsec = 1000000000;
	SHOW(ppoll(&f, 1, &ts, NULL));
	ts.tv_nsec = 0;
	ts.tv_sec = -1;
	SHOW(ppoll(&f, 1, &ts, NULL));
	return 0;
}
