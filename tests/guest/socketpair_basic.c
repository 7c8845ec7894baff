/* socketpair: stream, datagram and packet pairs, their ends, readiness, options, passed
 * descriptors. */
#include "guest.h"
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

static void ready(const char *what, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLRDHUP };
	poll(&p, 1, 0);
	printf("%s ready %x\n", what, p.revents);
}

static void pass(int *s)
{
	char c = 'x', control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int p[2], got[2];

	SHOW(pipe(p));
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(p));
	memcpy(CMSG_DATA(h), p, sizeof(p));
	SHOW(sendmsg(s[0], &m, 0));
	close(p[0]);
	close(p[1]);
	memset(control, 0, sizeof(control));
	SHOW(recvmsg(s[1], &m, MSG_CMSG_CLOEXEC));
	SHOW((long)m.msg_controllen == (long)CMSG_SPACE(sizeof(p)) && h->cmsg_type == SCM_RIGHTS);
	memcpy(got, CMSG_DATA(h), sizeof(got));
	SHOW(write(got[1], "hello", 5));
	SHOW(read(got[0], control, 5));
	SHOW(fcntl(got[0], F_GETFD));
	/* Too little room: the rest is dropped and told. */
	memset(control, 0, sizeof(control));
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(p));
	memcpy(CMSG_DATA(h), got, sizeof(got));
	m.msg_controllen = sizeof(control);
	SHOW(sendmsg(s[0], &m, 0));
	m.msg_controllen = CMSG_LEN(sizeof(int));
	SHOW(recvmsg(s[1], &m, 0));
	SHOW(m.msg_flags & MSG_CTRUNC ? 1 : 0);
	int bad = 999;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &bad, sizeof(bad));
	m.msg_controllen = CMSG_LEN(sizeof(int));
	SHOW(sendmsg(s[0], &m, 0));
}

static void messages(int type)
{
	int s[2];
	char buf[16];

	printf("type %d\n", type);
	SHOW(socketpair(AF_UNIX, type, 0, s));
	SHOW(send(s[0], "one", 3, 0));
	SHOW(send(s[0], "three", 5, 0));
	SHOW(send(s[0], "", 0, 0));
	SHOW(recv(s[1], buf, 2, MSG_PEEK));
	SHOW(recv(s[1], buf, 2, MSG_TRUNC));
	SHOW(recv(s[1], buf, sizeof(buf), 0));
	SHOW(recv(s[1], buf, sizeof(buf), 0));
	SHOW(recv(s[1], buf, sizeof(buf), MSG_DONTWAIT));
	SHOW(send(s[0], buf, 4000000, MSG_DONTWAIT));
	SHOW(shutdown(s[0], SHUT_WR));
	SHOW(send(s[0], "x", 1, MSG_NOSIGNAL));
	ready("after shutdown", s[1]);
	close(s[0]);
	ready("after close", s[1]);
	SHOW(send(s[1], "x", 1, MSG_NOSIGNAL));
}

int main(void)
{
	int s[2], v;
	socklen_t len = sizeof(v);
	char buf[64];

	SHOW(socketpair(AF_UNIX, SOCK_STREAM, 0, s));
	ready("fresh", s[0]);
	SHOW(write(s[0], "hello ", 6));
	SHOW(write(s[0], "world", 5));
	SHOW(ioctl(s[1], FIONREAD, &v));
	SHOW(v);
	SHOW(recv(s[1], buf, 3, MSG_PEEK));
	SHOW(read(s[1], buf, sizeof(buf)));
	SHOW(recv(s[1], buf, 1, MSG_DONTWAIT));
	SHOW(getsockopt(s[0], SOL_SOCKET, SO_TYPE, &v, &len));
	SHOW(v);
	SHOW(getsockopt(s[0], SOL_SOCKET, SO_SNDBUF, &v, &len));
	SHOW(v);
	SHOW(getsockopt(s[0], SOL_SOCKET, SO_DOMAIN, &v, &len));
	SHOW(v);
	SHOW(getsockopt(s[0], SOL_SOCKET, 9999, &v, &len));
	SHOW(send(s[0], "x", 1, MSG_DONTWAIT));
	SHOW(sendto(s[0], "x", 1, 0, (struct sockaddr *)&(struct sockaddr){ AF_UNIX, "" }, 2));
	pass(s);
	SHOW(shutdown(s[0], SHUT_WR));
	ready("peer of shut", s[1]);
	SHOW(read(s[1], buf, 64));
	SHOW(read(s[1], buf, 64));
	SHOW(write(s[1], "back", 4));
	SHOW(read(s[0], buf, 64));
	SHOW(write(s[1], "lost", 4));
	close(s[0]);
	ready("peer closed", s[1]);
	SHOW(send(s[1], "x", 1, MSG_NOSIGNAL));
	messages(SOCK_DGRAM);
	messages(SOCK_SEQPACKET);
	SHOW(socketpair(AF_UNIX, 9, 0, s));
	SHOW(socketpair(AF_INET, SOCK_STREAM, 0, s));
	SHOW(send(open("/dev/null", O_RDWR), "x", 1, 0));
	return 0;
}
