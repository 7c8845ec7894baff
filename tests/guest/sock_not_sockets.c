/* Socket calls on what is no socket, on bad descriptors and with bad pointers. */
#include "net.h"

int main(void)
{
	int p[2], s = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = loop4(0);
	socklen_t len = sizeof(a);
	char c;

	SHOW(pipe(p));
	SHOW(bind(p[0], SA(&a), sizeof(a)));
	SHOW(connect(p[0], SA(&a), sizeof(a)));
	SHOW(listen(p[0], 1));
	SHOW(accept(p[0], NULL, NULL));
	SHOW(getsockname(p[0], SA(&a), &len));
	SHOW(getpeername(p[0], SA(&a), &len));
	SHOW(send(p[1], "x", 1, 0));
	SHOW(recv(p[0], &c, 1, 0));
	SHOW(shutdown(p[0], SHUT_RD));
	SHOW(setsockopt(p[0], SOL_SOCKET, SO_REUSEADDR, &len, sizeof(len)));
	SHOW(bind(-1, SA(&a), sizeof(a)));
	SHOW(listen(1000, 1));
	SHOW(accept(-1, NULL, NULL));
	SHOW(bind(s, (void *)8, sizeof(a)));
	SHOW(bind(s, SA(&a), 1));
	SHOW(bind(s, SA(&a), 200));
	SHOW(bind(s, SA(&a), -1));
	SHOW(connect(s, (void *)8, sizeof(a)));
	SHOW(connect(s, SA(&a), 1));
	SHOW(getsockname(s, SA(&a), (void *)8));
	len = (socklen_t)-1;
	SHOW(getsockname(s, SA(&a), &len));
	SHOW(shutdown(s, 3));
	SHOW(shutdown(s, SHUT_WR));
	SHOW(getpeername(s, SA(&a), &len));
	SHOW(accept4(s, NULL, NULL, 0x100));
	SHOW(accept(s, NULL, NULL));
	SHOW(listen(socket(AF_INET, SOCK_DGRAM, 0), 1));
	SHOW(accept(socket(AF_INET, SOCK_DGRAM, 0), NULL, NULL));
	return 0;
}
