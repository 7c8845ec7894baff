/* A connect that does not wait: EINPROGRESS, writable, SO_ERROR, then 0 and EISCONN. */
#include "net.h"

int main(void)
{
	int l = bound4(SOCK_STREAM), c = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct sockaddr_in a = loop4(port_of(l));
	struct sockaddr un = { .sa_family = AF_UNSPEC };

	SHOW(connect(c, SA(&a), sizeof(a)));
	struct pollfd p = { .fd = c, .events = POLLOUT };
	SHOW(poll(&p, 1, 5000));
	SHOW(p.revents);
	SHOW(opt_get(c, SOL_SOCKET, SO_ERROR));
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(listen(c, 1));
	SHOW(bind(c, SA(&a), sizeof(a)));
	SHOW(connect(c, &un, sizeof(un)));
	ready("disconnected", c);
	SHOW(connect(c, SA(&a), sizeof(a)));
	usleep(20000);
	SHOW(connect(c, SA(&a), sizeof(a)));
	SHOW(connect(l, SA(&a), sizeof(a)));
	SHOW(recv(l, &un, 1, 0));
	return 0;
}
