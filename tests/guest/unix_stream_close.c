/* The ends of a unix stream: half closes, unread bytes, what poll and recv tell. */
#include "net.h"

static void pair(int s[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		printf("socketpair: %s\n", ename(errno));
}

int main(void)
{
	int s[2];
	char b[8];

	signal(SIGPIPE, SIG_IGN);
	int u = socket(AF_UNIX, SOCK_STREAM, 0);
	ready("unconnected", u);
	SHOW(recv(u, b, 1, MSG_DONTWAIT));
	SHOW(send(u, "x", 1, 0));
	SHOW(shutdown(u, SHUT_RDWR));
	pair(s);
	SHOW(write(s[0], "abc", 3));
	close(s[0]);
	ready("closed with data", s[1]);
	SHOW(read(s[1], b, 2));
	SHOW(read(s[1], b, 2));
	SHOW(read(s[1], b, 2));
	SHOW(write(s[1], "x", 1));
	pair(s);
	SHOW(write(s[0], "abc", 3));
	close(s[1]);
	ready("peer had unread", s[0]);
	SHOW(read(s[0], b, 2));
	SHOW(read(s[0], b, 2));
	pair(s);
	SHOW(shutdown(s[0], SHUT_RD));
	SHOW(write(s[1], "x", 1));
	ready("shut rd", s[0]);
	ready("its peer", s[1]);
	pair(s);
	SHOW(shutdown(s[0], SHUT_RDWR));
	ready("shut both", s[0]);
	ready("its peer", s[1]);
	SHOW(recv(s[1], b, 1, MSG_DONTWAIT));
	return 0;
}
