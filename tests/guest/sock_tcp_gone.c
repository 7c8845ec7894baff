/* A large send on TCP to a peer that is gone ends early, with the error at the next one. */
#include "net.h"

#define BIG (10u << 20)
#define MUCH (2u << 20)

static char *buf, *volatile nowhere = (char *)16;

static const char *size_of(ssize_t n)
{
	return n < 0		    ? ename(errno)
	       : n == 0		    ? "0"
	       : n < 1024	    ? "all of it"
	       : n <= (ssize_t)MUCH ? "some"
				    : "too much";
}

static void after(int fd)
{
	struct pollfd p = { fd, POLLIN | POLLOUT | POLLRDHUP, 0 };
	int err = 0;
	socklen_t len = sizeof(err);

	poll(&p, 1, 0);
	printf("  poll %x\n", p.revents);
	SHOW(write(fd, buf, 100));
	SHOW(write(fd, buf, 100));
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	printf("  error %s\n", ename(err));
	SHOW(read(fd, buf, 100));
	close(fd);
}

static void sends(const char *what, bool nonblock, bool half, int how)
{
	struct iovec iov[3] = { { buf, 1000 }, { buf, BIG - 2000 }, { buf, 1000 } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 3 };
	ssize_t n = 0;
	int pair[2], c, a;

	tcp_pair(pair);
	c = pair[0], a = pair[1];
	if (nonblock)
		fcntl(a, F_SETFL, O_NONBLOCK);
	if (half) {
		shutdown(c, SHUT_RDWR);
	} else {
		close(c);
	}
	errno = 0;
	if (how == 0)
		n = write(a, buf, BIG);
	else if (how == 1)
		n = writev(a, iov, 3);
	else if (how == 2)
		n = sendmsg(a, &m, MSG_NOSIGNAL);
	else if (how == 3)
		n = write(a, buf, 10);
	else if (how == 4)
		n = write(a, nowhere, BIG);
	printf("%s %s%s: %s\n", what, nonblock ? "nonblocking" : "blocking",
	       half ? ", peer shut down" : "", size_of(n));
	after(a);
	if (half)
		close(c);
}

/* The peer goes away while the sender waits for room. */
static void blocked(void)
{
	int pair[2];
	ssize_t n;

	tcp_pair(pair);
	pid_t pid = xfork();
	if (pid == 0) {
		close(pair[1]);
		poll(NULL, 0, 200);
		_exit(0);
	}
	close(pair[0]);
	n = write(pair[1], buf, 64 << 20);
	printf("blocked: %s\n", n > 0 && n < 64 << 20 ? "some" : ename(errno));
	xwait(pid);
	after(pair[1]);
}

int main(void)
{
	static const char *const what[] = { "write", "writev", "sendmsg", "short write",
					    "bad address" };

	signal(SIGPIPE, SIG_IGN);
	buf = calloc(1, 64 << 20);
	for (int half = 0; half < 2; half++)
		for (int nonblock = 0; nonblock < 2; nonblock++)
			for (int how = 0; how < 5; how++)
				sends(what[how], nonblock, half, how);
	blocked();
	return 0;
}
