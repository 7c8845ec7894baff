/* A connection over loopback: names of both ends, data both ways, peek, waitall, trunc,
 * FIONREAD. */
#include "net.h"

int main(void)
{
	int l = bound4(SOCK_STREAM), c = socket(AF_INET, SOCK_STREAM, 0), n;
	struct sockaddr_in a = loop4(port_of(l)), x, y;
	socklen_t len = sizeof(x);
	char b[32] = "";

	SHOW(connect(c, SA(&a), sizeof(a)));
	int s = accept(l, SA(&x), &len);
	SHOW(len);
	SHOW(getsockname(c, SA(&y), &len));
	SHOW(x.sin_port == y.sin_port && x.sin_addr.s_addr == y.sin_addr.s_addr);
	SHOW(getpeername(c, SA(&y), &len));
	SHOW(a.sin_port == y.sin_port);
	SHOW(getsockname(s, SA(&y), &len));
	SHOW(a.sin_port == y.sin_port);
	SHOW(port_of(c) >= 32768 && port_of(c) <= 60999);
	SHOW(connect(c, SA(&a), sizeof(a)));
	ready("client", c);
	SHOW(send(c, "hello", 5, 0));
	SHOW(send(c, " world", 6, MSG_MORE));
	usleep(10000);
	SHOW(opt_set(c, IPPROTO_TCP, TCP_NODELAY, 1));
	usleep(10000);
	SHOW(ioctl(s, FIONREAD, &n));
	SHOW(n);
	SHOW(recv(s, b, 5, MSG_PEEK));
	SHOW(recv(s, b, 3, MSG_TRUNC));
	SHOW(recv(s, b, 31, 0));
	printf("%s\n", b);
	SHOW(recv(s, b, 1, MSG_DONTWAIT));
	pid_t pid = xfork();
	if (pid == 0) {
		for (int i = 0; i < 4; i++) {
			usleep(20000);
			if (write(c, "1234", 4) != 4)
				_exit(1);
		}
		_exit(0);
	}
	SHOW(recv(s, b, 16, MSG_WAITALL));
	show_status("writer", xwait(pid));
	SHOW(read(s, b, 0));
	SHOW(write(s, b, 0));
	SHOW(sendto(s, "x", 1, 0, SA(&a), sizeof(a)));
	return 0;
}
