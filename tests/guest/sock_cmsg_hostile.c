/* sendmsg and recvmsg with headers and control messages that lie. */
#include "net.h"

int main(void)
{
	int s[2];
	union {
		char raw[64];
		struct cmsghdr h;
	} c;
	char buf[16];
	struct iovec iov = { buf, 4 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };

	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	memset(&c, 0, sizeof(c));
	c.h.cmsg_level = SOL_SOCKET;
	c.h.cmsg_type = SCM_RIGHTS;
	static const size_t lens[] = { 0, 1, 15, 16, 17, 64, 65, 1000, (size_t)-1, (size_t)-16, 1ul << 63 };
	for (unsigned i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		c.h.cmsg_len = lens[i];
		m.msg_controllen = sizeof(c);
		printf("len %zu ", lens[i]);
		SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	}
	c.h.cmsg_len = CMSG_LEN(4);
	c.h.cmsg_type = 77;
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	c.h.cmsg_level = 4711;
	m.msg_controllen = CMSG_LEN(4);
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	m.msg_controllen = 5;
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	m.msg_control = (void *)8;
	m.msg_controllen = 32;
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	m.msg_controllen = 1ul << 40;
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	m.msg_control = NULL;
	m.msg_controllen = 0;
	m.msg_iovlen = 1025;
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	m.msg_iovlen = 1;
	iov.iov_base = (void *)8;
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	iov.iov_len = (size_t)-1;
	SHOW(sendmsg(s[0], &m, MSG_DONTWAIT));
	SHOW(sendmsg(s[0], (void *)8, MSG_DONTWAIT));
	SHOW(recvmsg(s[0], (void *)8, MSG_DONTWAIT));
	return 0;
}
