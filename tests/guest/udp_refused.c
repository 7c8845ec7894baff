/* A connected UDP socket learns that nobody is there; an unconnected one does not. */
#include "net.h"

int main(void)
{
	int gone = bound4(SOCK_DGRAM), a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in to = loop4(port_of(gone));
	char c;

	close(gone);
	SHOW(sendto(b, "x", 1, 0, SA(&to), sizeof(to)));
	ready("unconnected", b);
	SHOW(sendto(b, "x", 1, 0, SA(&to), sizeof(to)));
	SHOW(connect(a, SA(&to), sizeof(to)));
	SHOW(send(a, "x", 1, 0));
	ready("connected", a);
	SHOW(recv(a, &c, 1, 0));
	SHOW(recv(a, &c, 1, MSG_DONTWAIT));
	SHOW(send(a, "x", 1, 0));
	usleep(10000);
	SHOW(send(a, "x", 1, 0));
	SHOW(send(a, "x", 1, 0));
	usleep(10000);
	SHOW(opt_get(a, SOL_SOCKET, SO_ERROR) == ECONNREFUSED);
	SHOW(opt_get(a, SOL_SOCKET, SO_ERROR));
	return 0;
}
