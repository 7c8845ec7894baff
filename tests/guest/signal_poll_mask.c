/*
 * ppoll, pselect and epoll_pwait apply their mask for the call only: a pending signal it lets in
 * gives EINTR at once.
 */
#include "guest.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

static volatile int hits;

static void handler(int sig)
{
	(void)sig;
	hits++;
}

static int blocked(void)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	return sigismember(&now, SIGUSR1);
}

int main(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_RESTART };
	sigset_t block, none;
	struct timespec zero = { 0 };
	struct epoll_event ev;
	pid_t parent = getpid();
	int lost = 0;

	signal(SIGCHLD, SIG_DFL);
	sigaction(SIGUSR1, &sa, NULL);
	sigemptyset(&none);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_SETMASK, &block, NULL);
	int ep = epoll_create1(0);
	raise(SIGUSR1);
	SHOW(ppoll(NULL, 0, NULL, &none));
	raise(SIGUSR1);
	SHOW(pselect(0, NULL, NULL, NULL, NULL, &none));
	raise(SIGUSR1);
	SHOW(epoll_pwait(ep, &ev, 1, -1, &none));
	printf("hits %d, blocked %d\n", hits, blocked());
	/* With a mask that keeps it out it stays pending, and the timeout decides. */
	raise(SIGUSR1);
	SHOW(ppoll(NULL, 0, &zero, &block));
	SHOW(ppoll(NULL, 0, &zero, NULL));
	printf("hits %d, blocked %d\n", hits, blocked());
	/* A ready descriptor wins, or the signal does; neither is lost. */
	int p[2];
	(void)!pipe(p);
	(void)!write(p[1], "x", 1);
	struct pollfd pf = { .fd = p[0], .events = POLLIN };
	int rc = ppoll(&pf, 1, NULL, &none);
	printf("ready or interrupted %d\n", rc == 1 || (rc < 0 && errno == EINTR));
	hits = 0;
	sigset_t pend;
	sigpending(&pend);
	if (sigismember(&pend, SIGUSR1))
		sigsuspend(&none);
	hits = 0;
	pid_t pid = xfork();
	if (pid == 0) {
		for (int i = 0; i < 100; i++) {
			kill(parent, SIGUSR1);
			sigsuspend(&none);
		}
		_exit(0);
	}
	for (int i = 0; i < 100; i++) {
		int want = hits + 1;
		while (hits < want)
			if (ppoll(NULL, 0, &(struct timespec){ .tv_sec = 10 }, &none) == 0)
				lost++;
		kill(pid, SIGUSR1);
	}
	show_status("child", xwait(pid));
	printf("hits %d, lost %d\n", hits, lost);
	return 0;
}
