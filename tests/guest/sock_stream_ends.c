/* needs: root */
/* A TCP socket can connect to itself, gives no sender address, and can be shut down while nobody
 * has accepted it. */
#include "guest.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

int main(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) },
			   p;
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM, 0), l, c, v;
	char buf[8] = "";
	struct linger li = { 1, 0 };

	close(s);
	l = socket(AF_INET, SOCK_STREAM, 0);
	a.sin_port = 0;
	len = sizeof(a);
	CHECK(bind(l, (void *)&a, sizeof(a)) == 0 && getsockname(l, (void *)&a, &len) == 0);
	CHECK(listen(l, 5) == 0);
	s = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(shutdown(s, SHUT_RDWR));
	SHOW(connect(s, (void *)&a, sizeof(a)));
	c = accept(l, NULL, NULL);
	SHOW(send(c, "abc", 3, 0));
	len = sizeof(p);
	SHOW(recvfrom(s, buf, sizeof(buf), 0, (void *)&p, &len));
	printf("address of %u bytes\n", len);
	SHOW(setsockopt(s, SOL_SOCKET, SO_LINGER, &li, sizeof(li)));
	close(s);
	SHOW(recv(c, buf, sizeof(buf), 0));
	len = sizeof(v);
	SHOW(getsockopt(c, SOL_SOCKET, SO_ERROR, &v, &len));
	printf("error %s\n", ename(v));
	close(c);
	v = 1 << 20;
	s = socket(AF_INET, SOCK_DGRAM, 0);
	if (geteuid() == 0) {
		SHOW(setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &v, sizeof(v)));
		SHOW(setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &v, sizeof(v)));
		len = sizeof(v);
		getsockopt(s, SOL_SOCKET, SO_RCVBUF, &v, &len);
		printf("receive buffer %d\n", v);
		getsockopt(s, SOL_SOCKET, SO_SNDBUF, &v, &len);
		printf("send buffer %d\n", v);
	}
	return 0;
}
