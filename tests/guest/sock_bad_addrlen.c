/* Lengths of addresses that are negative or too large. */
#include "guest.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

static void try(int family, int type)
{
	int s = socket(family, type, 0), pair[2];
	char addr[256] = { 0 };
	socklen_t len;
	struct iovec v = { addr, 1 };
	struct msghdr m = {
		.msg_name = addr, .msg_namelen = (socklen_t)-1, .msg_iov = &v, .msg_iovlen = 1
	};

	((struct sockaddr *)addr)->sa_family = (sa_family_t)family;
	printf("-- %d %d\n", family, type);
	SHOW(bind(s, (void *)addr, (socklen_t)-1));
	SHOW(bind(s, (void *)addr, 0));
	SHOW(bind(s, (void *)addr, 1));
	SHOW(bind(s, (void *)addr, 129));
	SHOW(connect(s, (void *)addr, (socklen_t)-1));
	SHOW(connect(s, (void *)addr, 1000));
	SHOW(connect(s, (void *)addr, 0));
	SHOW(sendto(s, addr, 1, MSG_NOSIGNAL, (void *)addr, (socklen_t)-5));
	SHOW(sendto(s, addr, 1, MSG_NOSIGNAL, (void *)addr, 500));
	SHOW(sendmsg(s, &m, MSG_NOSIGNAL));
	len = (socklen_t)-1;
	SHOW(getsockname(s, (void *)addr, &len));
	len = (socklen_t)-1;
	SHOW(getpeername(s, (void *)addr, &len));
	len = 0;
	SHOW(getsockname(s, (void *)addr, &len));
	len = (socklen_t)-1;
	SHOW(getsockopt(s, SOL_SOCKET, SO_TYPE, addr, &len));
	SHOW(setsockopt(s, SOL_SOCKET, SO_REUSEADDR, addr, (socklen_t)-1));
	if (type == SOCK_DGRAM && socketpair(AF_UNIX, type, 0, pair) == 0) {
		SHOW(send(pair[0], "x", 1, 0));
		len = (socklen_t)-1;
		SHOW(recvfrom(pair[1], addr, 1, MSG_DONTWAIT, (void *)addr, &len));
		m.msg_namelen = (socklen_t)-1;
		SHOW(recvmsg(pair[1], &m, MSG_DONTWAIT));
	}
	close(s);
}

int main(void)
{
	try(AF_INET, SOCK_STREAM);
	try(AF_INET, SOCK_DGRAM);
	try(AF_UNIX, SOCK_STREAM);
	try(AF_UNIX, SOCK_DGRAM);
	return 0;
}
