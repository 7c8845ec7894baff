/* Who may share a port: SO_REUSEADDR, SO_REUSEPORT, different addresses, wildcards, after a
 * close. */
#include "net.h"

static int on(int type, uint32_t addr, int port, int reuse, int reuseport)
{
	struct sockaddr_in a = loop4(port);
	int fd = socket(AF_INET, type, 0);
	a.sin_addr.s_addr = htonl(addr);
	opt_set(fd, SOL_SOCKET, SO_REUSEADDR, reuse);
	opt_set(fd, SOL_SOCKET, SO_REUSEPORT, reuseport);
	if (bind(fd, SA(&a), sizeof(a)) == 0)
		return fd;
	close(fd);
	return -1;
}

int main(void)
{
	int a = bound4(SOCK_STREAM), port = port_of(a);

	SHOW(on(SOCK_STREAM, INADDR_LOOPBACK, port, 0, 0));
	SHOW(on(SOCK_STREAM, INADDR_LOOPBACK, port, 1, 0));
	SHOW(on(SOCK_STREAM, INADDR_ANY, port, 1, 0));
	SHOWOK(on(SOCK_STREAM, 0x7f000002, port, 0, 0));
	SHOWOK(on(SOCK_DGRAM, INADDR_LOOPBACK, port, 0, 0));
	int b = on(SOCK_STREAM, INADDR_LOOPBACK, 0, 1, 0), c = on(SOCK_STREAM, INADDR_LOOPBACK, port_of(b), 1, 0);
	CHECK(c >= 0);
	SHOW(listen(b, 1));
	SHOW(listen(c, 1));
	int d = on(SOCK_STREAM, INADDR_LOOPBACK, 0, 0, 1), e = on(SOCK_STREAM, INADDR_LOOPBACK, port_of(d), 0, 1);
	CHECK(e >= 0);
	SHOW(listen(d, 1));
	SHOW(listen(e, 1));
	SHOW(on(SOCK_STREAM, INADDR_LOOPBACK, port_of(d), 0, 0));
	int u = on(SOCK_DGRAM, INADDR_LOOPBACK, 0, 1, 0);
	SHOWOK(on(SOCK_DGRAM, INADDR_LOOPBACK, port_of(u), 1, 0));
	SHOW(on(SOCK_DGRAM, INADDR_ANY, port_of(u), 0, 0));
	/* A server that ended first: its port waits for those who do not ask to share it. */
	struct sockaddr_in to = loop4(port);
	int cl = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(cl, SA(&to), sizeof(to)));
	int s = accept(a, NULL, NULL);
	close(s);
	close(a);
	usleep(10000);
	close(cl);
	usleep(10000);
	SHOW(on(SOCK_STREAM, INADDR_LOOPBACK, port, 0, 0));
	int l = on(SOCK_STREAM, INADDR_LOOPBACK, 0, 1, 0);
	listen(l, 1);
	port = port_of(l);
	to = loop4(port);
	cl = socket(AF_INET, SOCK_STREAM, 0);
	SHOW(connect(cl, SA(&to), sizeof(to)));
	s = accept(l, NULL, NULL);
	close(l);
	SHOW(on(SOCK_STREAM, INADDR_LOOPBACK, port, 0, 0));
	SHOWOK(on(SOCK_STREAM, INADDR_LOOPBACK, port, 1, 0));
	return 0;
}
