/* Resets: a close with unread bytes, SO_LINGER 0, a listener that closes with connections
 * waiting. */
#include "net.h"

static void both(const char *what, int fd)
{
	char b[8];
	printf("%s\n", what);
	usleep(20000);
	ready("reset", fd);
	SHOW(read(fd, b, 8));
	SHOW(read(fd, b, 8));
	SHOW(write(fd, "x", 1));
	SHOW(opt_get(fd, SOL_SOCKET, SO_ERROR));
}

int main(void)
{
	struct linger lg = { 1, 0 };
	int s[2];

	signal(SIGPIPE, SIG_IGN);
	tcp_pair(s);
	SHOW(write(s[0], "unread", 6));
	usleep(20000);
	close(s[1]);
	both("unread", s[0]);
	tcp_pair(s);
	SHOW(setsockopt(s[1], SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	SHOW(write(s[1], "data", 4));
	usleep(20000);
	close(s[1]);
	both("linger", s[0]);
	int l = bound4(SOCK_STREAM), c = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = loop4(port_of(l));
	SHOW(connect(c, SA(&a), sizeof(a)));
	close(l);
	both("listener", c);
	tcp_pair(s);
	SHOW(setsockopt(s[1], SOL_SOCKET, SO_LINGER, &lg, sizeof(lg)));
	close(s[1]);
	usleep(20000);
	SHOW(opt_get(s[0], SOL_SOCKET, SO_ERROR) == ECONNRESET);
	SHOW(write(s[0], "x", 1));
	return 0;
}
