/* SOCK_SEQPACKET: listen, connect, message boundaries, the end. */
#include "net.h"

int main(void)
{
	struct sockaddr_un a = un_path("seq");
	int l = socket(AF_UNIX, SOCK_SEQPACKET, 0), c = socket(AF_UNIX, SOCK_SEQPACKET, 0), st = socket(AF_UNIX, SOCK_STREAM, 0);
	char buf[16];

	SHOW(send(c, "x", 1, 0));
	SHOW(recv(c, buf, 1, 0));
	SHOW(bind(l, SA(&a), sizeof(a)));
	SHOW(listen(l, 1));
	SHOW(connect(st, SA(&a), sizeof(a)));
	ready("fresh", c);
	SHOW(connect(c, SA(&a), sizeof(a)));
	int s = accept(l, NULL, NULL);
	SHOW(send(c, "first", 5, 0));
	SHOW(send(c, "second", 6, MSG_EOR));
	SHOW(recv(s, buf, 3, 0));
	SHOW(recv(s, buf, 16, 0));
	ready("connected", s);
	close(c);
	ready("peer gone", s);
	SHOW(recv(s, buf, 16, 0));
	SHOW(send(s, "x", 1, MSG_NOSIGNAL));
	SHOW(unlink("seq"));
	return 0;
}
