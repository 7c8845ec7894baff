/* connect to a port without a listener, waiting and not; the socket can be used again. */
#include "net.h"

int main(void)
{
	int l = bound4(SOCK_STREAM);
	struct sockaddr_in a = loop4(port_of(l));
	int c = socket(AF_INET, SOCK_STREAM, 0), n = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

	close(l);
	ready("fresh", c);
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(opt_get(c, SOL_SOCKET, SO_ERROR));
	ready("refused", c);
	SHOW(connect(n, SA(&a), sizeof(a)));
	ready("refused later", n);
	SHOW(opt_get(n, SOL_SOCKET, SO_ERROR) == ECONNREFUSED);
	SHOW(opt_get(n, SOL_SOCKET, SO_ERROR));
	int n2 = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	SHOW(connect(n2, SA(&a), sizeof(a)));
	usleep(20000);
	SHOW(connect(n2, SA(&a), sizeof(a)));
	l = bound4(SOCK_STREAM);
	a = loop4(port_of(l));
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(write(c, "x", 1));
	return 0;
}
