/* epoll on both ends: lines, room, hang-up. */
#include "pty.h"
#include <sys/epoll.h>

static void wait_show(const char *what, int ep)
{
	struct epoll_event e[4];
	int n = epoll_wait(ep, e, 4, 1000);
	printf("%s:", what);
	for (int i = 0; i < n; i++)
		printf(" %c %x", e[i].data.fd == m ? 'm' : 's', e[i].events);
	printf("\n");
}

int main(void)
{
	pair_open();
	set_lflag(0, ECHO);
	int ep = epoll_create1(0);
	struct epoll_event e = { EPOLLIN, { .fd = m } };
	SHOW(epoll_ctl(ep, EPOLL_CTL_ADD, m, &e));
	e.data.fd = s;
	SHOW(epoll_ctl(ep, EPOLL_CTL_ADD, s, &e));
	put(m, "half");
	SHOW(epoll_wait(ep, &e, 1, 50));
	put(m, " line\n");
	wait_show("a line", ep);
	show_read("line", s, 10);
	SHOW(epoll_wait(ep, &e, 1, 50));
	put(s, "out");
	wait_show("output", ep);
	show_read("output", m, 3);
	int name = open(ptsname(m), O_RDWR | O_NOCTTY);
	close(s);
	SHOW(epoll_wait(ep, &e, 1, 50));
	close(name);
	wait_show("slave closed", ep);
	return 0;
}
