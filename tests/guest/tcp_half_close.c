/* shutdown and close in every order: what the ends see. */
#include "net.h"

int main(void)
{
	int s[2];
	char b[8];
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	signal(SIGPIPE, SIG_IGN);
	tcp_pair(s);
	SHOW(write(s[0], "last", 4));
	SHOW(shutdown(s[0], SHUT_WR));
	SHOW(write(s[0], "x", 1));
	ready("shut wr", s[0]);
	ready("its peer", s[1]);
	SHOW(read(s[1], b, 8));
	SHOW(read(s[1], b, 8));
	SHOW(write(s[1], "answer", 6));
	SHOW(read(s[0], b, 8));
	SHOW(shutdown(s[0], SHUT_WR));
	SHOW(shutdown(s[1], SHUT_WR));
	ready("both", s[0]);
	ready("both", s[1]);
	SHOW(read(s[0], b, 8));
	SHOW(getpeername(s[0], SA(&a), &len));
	SHOW(shutdown(s[0], SHUT_RDWR));
	tcp_pair(s);
	SHOW(shutdown(s[0], SHUT_RD));
	ready("shut rd", s[0]);
	SHOW(read(s[0], b, 8));
	SHOW(write(s[1], "late", 4));
	usleep(10000);
	SHOW(read(s[0], b, 8));
	tcp_pair(s);
	close(s[0]);
	usleep(20000);
	ready("closed", s[1]);
	SHOW(read(s[1], b, 8));
	SHOW(write(s[1], "x", 1));
	usleep(20000);
	ready("after a write", s[1]);
	SHOW(write(s[1], "x", 1));
	SHOW(read(s[1], b, 8));
	return 0;
}
