/* epoll: level, edge and one-shot, modification, removal by close, nesting and its limits. */
#include "guest.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int ep;

static void ctl(const char *what, int op, int fd, unsigned events)
{
	struct epoll_event ev = { .events = events, .data.u64 = 0x1122334455667788 + fd };
	int r = epoll_ctl(ep, op, fd, &ev);
	printf("%s: %d %s\n", what, r, r < 0 ? strerrorname_np(errno) : "");
}

static void show(const char *what)
{
	struct epoll_event ev[8];
	int n = epoll_wait(ep, ev, 8, 0);
	printf("%s: %d", what, n);
	for (int i = 0; i < n; i++)
		printf(" %x", ev[i].events);
	printf("\n");
}

int main(void)
{
	int p[2], e, chain[7], i;
	char c;
	struct epoll_event ev = { .events = EPOLLIN };

	ep = epoll_create1(EPOLL_CLOEXEC);
	SHOW(pipe(p));
	e = eventfd(0, EFD_NONBLOCK);
	ctl("add level", EPOLL_CTL_ADD, p[0], EPOLLIN);
	ctl("add twice", EPOLL_CTL_ADD, p[0], EPOLLIN);
	show("empty");
	SHOW(write(p[1], "ab", 2));
	show("level");
	show("level again");
	ctl("edge", EPOLL_CTL_MOD, p[0], EPOLLIN | EPOLLET);
	show("edge");
	show("edge again");
	SHOW(write(p[1], "c", 1));
	show("edge after write");
	ctl("oneshot", EPOLL_CTL_MOD, p[0], EPOLLIN | EPOLLONESHOT);
	show("oneshot");
	SHOW(write(p[1], "d", 1));
	show("oneshot spent");
	ctl("rearm", EPOLL_CTL_MOD, p[0], EPOLLIN);
	show("rearmed");
	for (i = 0; i < 4; i++)
		SHOW(read(p[0], &c, 1));
	show("drained");
	ctl("writer", EPOLL_CTL_ADD, p[1], EPOLLOUT);
	show("writable");
	close(p[0]);
	show("no reader");
	close(p[1]);
	show("both closed");
	ctl("gone", EPOLL_CTL_DEL, p[0], 0);
	ctl("eventfd", EPOLL_CTL_ADD, e, EPOLLIN | EPOLLOUT | EPOLLRDNORM);
	show("eventfd");
	SHOW(eventfd_write(e, 3));
	show("eventfd set");
	ctl("exclusive mod", EPOLL_CTL_MOD, e, EPOLLIN | EPOLLEXCLUSIVE);
	ctl("del", EPOLL_CTL_DEL, e, 0);
	ctl("del twice", EPOLL_CTL_DEL, e, 0);
	ctl("mod missing", EPOLL_CTL_MOD, e, EPOLLIN);
	ctl("exclusive", EPOLL_CTL_ADD, e, EPOLLIN | EPOLLEXCLUSIVE);
	ctl("exclusive oneshot", EPOLL_CTL_ADD, e, EPOLLIN | EPOLLEXCLUSIVE | EPOLLONESHOT);
	show("exclusive");
	ctl("itself", EPOLL_CTL_ADD, ep, EPOLLIN);
	ctl("directory", EPOLL_CTL_ADD, open("/", O_RDONLY), EPOLLIN);
	ctl("bad fd", EPOLL_CTL_ADD, 999, EPOLLIN);
	ctl("bad op", 7, e, EPOLLIN);
	SHOW(epoll_ctl(e, EPOLL_CTL_ADD, ep, &ev));
	SHOW(epoll_wait(ep, &ev, 0, 0));
	SHOW(epoll_wait(e, &ev, 1, 0));
	SHOW(epoll_create(0));
	for (i = 0; i < 7; i++)
		chain[i] = epoll_create1(0);
	for (i = 1; i < 7; i++)
		SHOW(epoll_ctl(chain[i], EPOLL_CTL_ADD, chain[i - 1], &ev));
	SHOW(epoll_ctl(chain[0], EPOLL_CTL_ADD, chain[3], &ev));
	SHOW(epoll_ctl(chain[0], EPOLL_CTL_ADD, e, &ev));
	SHOW(epoll_wait(chain[2], &ev, 1, 0));
	SHOW(read(e, &(uint64_t){ 0 }, 8));
	SHOW(epoll_wait(chain[2], &ev, 1, 0));
	SHOW(epoll_wait(chain[0], &ev, 1, 20));
	return 0;
}
