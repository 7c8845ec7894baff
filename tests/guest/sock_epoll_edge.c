/* epoll on TCP sockets, level and edge: data, room, half close, end. */
#include "net.h"
#include <sys/epoll.h>

static int ep;

static void events(const char *what)
{
	struct epoll_event e[4];
	int n = epoll_wait(ep, e, 4, 50);
	printf("%s:", what);
	for (int i = 0; i < n; i++)
		printf(" %d=%x", (int)e[i].data.fd, e[i].events);
	printf("\n");
}

int main(void)
{
	int s[2];
	char buf[65536] = "";
	struct epoll_event ev = { .events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.fd = 1 };

	tcp_pair(s);
	ep = epoll_create1(0);
	SHOW(epoll_ctl(ep, EPOLL_CTL_ADD, s[0], &ev));
	events("added");
	events("again");
	SHOW(write(s[1], "hello", 5));
	events("data");
	events("data still there");
	SHOW(write(s[1], "more", 4));
	events("more data");
	SHOW(read(s[0], buf, 3));
	events("partly read");
	SHOW(read(s[0], buf, 100));
	SHOW(fcntl(s[0], F_SETFL, O_NONBLOCK));
	while (write(s[0], buf, sizeof(buf)) > 0)
		;
	SHOW(errno == EAGAIN);
	events("full");
	SHOW(fcntl(s[1], F_SETFL, O_NONBLOCK));
	while (read(s[1], buf, sizeof(buf)) > 0)
		usleep(100);
	usleep(50000);
	while (read(s[1], buf, sizeof(buf)) > 0)
		usleep(100);
	events("room");
	SHOW(shutdown(s[1], SHUT_WR));
	events("half close");
	close(s[1]);
	usleep(20000);
	ev.events = EPOLLIN | EPOLLRDHUP;
	SHOW(epoll_ctl(ep, EPOLL_CTL_MOD, s[0], &ev));
	events("level");
	events("level again");
	close(s[0]);
	events("closed");
	return 0;
}
