/* sendmmsg and recvmmsg. */
#include "net.h"

int main(void)
{
	int a = bound4(SOCK_DGRAM), b = bound4(SOCK_DGRAM);
	struct sockaddr_in to = loop4(port_of(b));
	struct mmsghdr m[4] = { 0 };
	struct iovec iov[4];
	char text[4][8] = { "one", "three", "", "seventh" }, in[4][8];
	struct sockaddr_in from[4];

	SHOW(connect(a, SA(&to), sizeof(to)));
	for (int i = 0; i < 4; i++) {
		iov[i] = (struct iovec){ text[i], strlen(text[i]) };
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1 };
	}
	SHOW(sendmmsg(a, m, 4, 0));
	for (int i = 0; i < 4; i++)
		printf("sent %u\n", m[i].msg_len);
	for (int i = 0; i < 4; i++) {
		iov[i] = (struct iovec){ in[i], 5 };
		m[i].msg_hdr = (struct msghdr){ .msg_iov = &iov[i], .msg_iovlen = 1, .msg_name = &from[i],
						.msg_namelen = sizeof(from[i]) };
	}
	SHOW(recvmmsg(b, m, 2, 0, NULL));
	SHOW(recvmmsg(b, m + 2, 2, MSG_WAITFORONE, NULL));
	for (int i = 0; i < 4; i++)
		printf("got %u %.*s flags %x from %d\n", m[i].msg_len, (int)m[i].msg_len, in[i], m[i].msg_hdr.msg_flags,
		       from[i].sin_port == htons((uint16_t)port_of(a)));
	SHOW(recvmmsg(b, m, 4, MSG_DONTWAIT, NULL));
	SHOW(recvmmsg(b, m, 0, 0, NULL));
	struct timespec bad = { 0, -1 };
	SHOW(recvmmsg(b, m, 1, 0, &bad));
	SHOW(sendmmsg(a, NULL, 1, 0));
	SHOW(send(a, "x", 1, 0));
	SHOW(recvmmsg(b, m, 4, MSG_WAITFORONE, NULL));
	return 0;
}
