/*
 * ppoll, pselect and epoll_pwait with a mask, while signals arrive that nobody handles: they
 * neither end the wait nor make it miss what it waits for.
 */
#include "guest.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/wait.h>

static sigset_t empty;
static int ep;

static int wait_masked(int how, int fd, int ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };
	struct pollfd p = { fd, POLLIN, 0 };
	struct epoll_event e;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (how == 0)
		return ppoll(&p, 1, ms < 0 ? NULL : &ts, &empty);
	if (how == 1)
		return pselect(fd + 1, &set, NULL, NULL, ms < 0 ? NULL : &ts, &empty);
	return epoll_pwait(ep, &e, 1, ms, &empty);
}

/* A child's end both makes the pipe ready and sends SIGCHLD. */
static int child_ends(int how, int rounds)
{
	int good = 0;

	for (int i = 0; i < rounds; i++) {
		struct epoll_event e = { .events = EPOLLIN };
		int p[2];
		pipe(p);
		ep = epoll_create1(0);
		epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e);
		if (fork() == 0) {
			if (i & 1)
				usleep(300);
			_exit(0);
		}
		close(p[1]);
		good += wait_masked(how, p[0], -1) == 1;
		wait(NULL);
		close(p[0]);
		close(ep);
	}
	return good;
}

int main(void)
{
	sigset_t block;
	int p[2];

	alarm(50);
	sigemptyset(&empty);
	sigemptyset(&block);
	sigaddset(&block, SIGWINCH);
	sigprocmask(SIG_BLOCK, &block, NULL);
	pipe(p);
	ep = epoll_create1(0);
	struct epoll_event e = { .events = EPOLLIN };
	epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &e);
	for (int how = 0; how < 3; how++) {
		raise(SIGWINCH);
		SHOW(wait_masked(how, p[0], 0));
		raise(SIGWINCH);
		if (how < 2)
			SHOW(wait_masked(how, p[0], 20));
	}
	for (int how = 0; how < 3; how++)
		SHOW(child_ends(how, 150));
	return 0;
}
