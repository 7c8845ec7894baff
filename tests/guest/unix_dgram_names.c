/* Datagrams between named sockets: sender's name, connect, EPERM for strangers, closed
 * receivers. */
#include "net.h"

int main(void)
{
	struct sockaddr_un a = un_path("a"), b = un_path("b"), from;
	int x = socket(AF_UNIX, SOCK_DGRAM, 0), y = socket(AF_UNIX, SOCK_DGRAM, 0), z = socket(AF_UNIX, SOCK_DGRAM, 0);
	socklen_t len = sizeof(from);
	char buf[16];

	SHOW(bind(x, SA(&a), sizeof(a)));
	SHOW(bind(y, SA(&b), sizeof(b)));
	SHOW(send(z, "x", 1, 0));
	SHOW(sendto(x, "to b", 4, 0, SA(&b), sizeof(b)));
	SHOW(recvfrom(y, buf, sizeof(buf), 0, SA(&from), &len));
	printf("%d %s\n", (int)len, from.sun_path);
	SHOW(sendto(z, "anon", 4, 0, SA(&b), sizeof(b)));
	len = sizeof(from);
	SHOW(recvfrom(y, buf, sizeof(buf), 0, SA(&from), &len));
	printf("%d\n", (int)len);
	SHOW(connect(y, SA(&a), sizeof(a)));
	SHOW(sendto(z, "stranger", 8, 0, SA(&b), sizeof(b)));
	SHOW(sendto(x, "friend", 6, 0, SA(&b), sizeof(b)));
	SHOW(recv(y, buf, sizeof(buf), 0));
	SHOW(send(y, "back", 4, 0));
	SHOW(recv(x, buf, sizeof(buf), 0));
	len = sizeof(from);
	SHOW(getpeername(y, SA(&from), &len));
	printf("%s\n", from.sun_path);
	SHOW(getpeername(x, SA(&from), &len));
	ready("y", y);
	close(x);
	SHOW(send(y, "gone", 4, 0));
	SHOW(send(y, "gone", 4, 0));
	SHOW(sendto(y, "gone", 4, 0, SA(&a), sizeof(a)));
	SHOW(unlink("a"));
	SHOW(sendto(y, "gone", 4, 0, SA(&a), sizeof(a)));
	struct sockaddr un = { .sa_family = AF_UNSPEC };
	SHOW(connect(y, &un, sizeof(un)));
	SHOW(shutdown(y, SHUT_RD));
	SHOW(sendto(z, "shut", 4, 0, SA(&b), sizeof(b)));
	SHOW(unlink("b"));
	return 0;
}
