/* Sockets that carry each other and are closed: thousands of such cycles leave nothing behind that
 * counts against anybody. */
#include "net.h"

static int give(int s, int fd)
{
	union {
		char raw[CMSG_SPACE(sizeof(int))];
		struct cmsghdr h;
	} c = { .h = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof(c) };
	memcpy(CMSG_DATA(&c.h), &fd, sizeof(fd));
	return (int)sendmsg(s, &m, 0);
}

int main(void)
{
	int a[2], b[2], bad = 0, p[2];

	SHOW(pipe(p));
	for (int i = 0; i < 3000; i++) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, a) || socketpair(AF_UNIX, SOCK_DGRAM, 0, b)) {
			printf("round %d: %s\n", i, ename(errno));
			return 1;
		}
		bad += give(a[0], b[0]) != 1;
		bad += give(b[0], a[0]) != 1;
		bad += give(a[1], a[0]) != 1;
		bad += give(b[1], a[1]) != 1;
		bad += give(b[1], p[1]) != 1;
		close(a[0]);
		close(a[1]);
		close(b[0]);
		close(b[1]);
	}
	SHOW(bad);
	/* The pipe's writing end was in all of them. Linux collects a moment later. */
	close(p[1]);
	socketpair(AF_UNIX, SOCK_STREAM, 0, a);
	close(a[0]);
	close(a[1]);
	struct pollfd pf = { .fd = p[0], .events = POLLIN };
	SHOW(poll(&pf, 1, 5000));
	SHOW(read(p[0], &bad, 1));
	return 0;
}
