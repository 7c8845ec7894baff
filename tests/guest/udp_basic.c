/* UDP: datagrams keep their borders, sources, connected sockets, truncation, sizes. */
#include "net.h"

int main(void)
{
	int a = bound4(SOCK_DGRAM), b = bound4(SOCK_DGRAM), c = socket(AF_INET, SOCK_DGRAM, 0), n;
	struct sockaddr_in to = loop4(port_of(b)), from;
	socklen_t len = sizeof(from);
	static char big[70000];
	char buf[16];

	SHOW(send(a, "x", 1, 0));
	SHOW(sendto(a, "one", 3, 0, SA(&to), sizeof(to)));
	SHOW(sendto(a, "", 0, 0, SA(&to), sizeof(to)));
	SHOW(sendto(c, "three", 5, 0, SA(&to), sizeof(to)));
	ready("b", b);
	SHOW(ioctl(b, FIONREAD, &n));
	SHOW(n);
	SHOW(recvfrom(b, buf, 2, MSG_TRUNC, SA(&from), &len));
	SHOW(from.sin_port == htons((uint16_t)port_of(a)));
	SHOW(recv(b, buf, 16, 0));
	SHOW(recv(b, buf, 2, MSG_PEEK));
	SHOW(recv(b, buf, 2, 0));
	SHOW(recv(b, buf, 2, MSG_DONTWAIT));
	SHOW(port_of(c) > 0);
	SHOW(sendto(a, big, 65507, 0, SA(&to), sizeof(to)));
	SHOW(recv(b, big, sizeof(big), 0));
	SHOW(sendto(a, big, 65508, 0, SA(&to), sizeof(to)));
	SHOW(sendto(a, big, sizeof(big), 0, SA(&to), sizeof(to)));
	SHOW(sendto(a, big, 1, 0, SA(&to), 4));
	to.sin_port = 0;
	SHOW(sendto(a, big, 1, 0, SA(&to), sizeof(to)));
	to.sin_port = htons((uint16_t)port_of(b));
	SHOW(connect(a, SA(&to), sizeof(to)));
	SHOW(getpeername(a, SA(&from), &len));
	SHOW(send(a, "con", 3, 0));
	SHOW(recv(b, buf, 16, 0));
	to.sin_port = htons((uint16_t)port_of(a));
	SHOW(sendto(c, "not from the peer", 17, 0, SA(&to), sizeof(to)));
	SHOW(recv(a, buf, 16, MSG_DONTWAIT));
	SHOW(sendto(b, "from the peer", 13, 0, SA(&to), sizeof(to)));
	SHOW(recv(a, buf, 16, 0));
	to.sin_family = AF_UNSPEC;
	SHOW(connect(a, SA(&to), sizeof(to)));
	SHOW(send(a, "x", 1, 0));
	SHOW(shutdown(a, SHUT_RD));
	SHOW(send(a, "x", 1, MSG_OOB));
	to = loop4(1);
	to.sin_addr.s_addr = htonl(INADDR_BROADCAST);
	SHOW(sendto(b, "x", 1, 0, SA(&to), sizeof(to)));
	return 0;
}
