/* An urgent byte: apart and inline, POLLPRI, SIOCATMARK, SIGURG. */
#include "net.h"

static volatile int urg;

static void on(int sig)
{
	urg = sig;
}

static int atmark(int fd)
{
	int v = -1;
	ioctl(fd, SIOCATMARK, &v);
	return v;
}

int main(void)
{
	int s[2];
	char b[16];

	signal(SIGURG, on);
	tcp_pair(s);
	SHOW(recv(s[1], b, 1, MSG_OOB));
	SHOW(fcntl(s[1], F_SETOWN, getpid()));
	SHOW(send(s[0], "abc", 3, MSG_OOB));
	SHOW(send(s[0], "def", 3, 0));
	ready("urgent", s[1]);
	SHOW(urg == SIGURG);
	SHOW(recv(s[1], b, 1, MSG_OOB | MSG_PEEK));
	SHOW(recv(s[1], b, 1, MSG_OOB));
	printf("%c\n", b[0]);
	SHOW(recv(s[1], b, 1, MSG_OOB));
	SHOW(atmark(s[1]));
	SHOW(recv(s[1], b, 16, 0));
	SHOW(atmark(s[1]));
	SHOW(recv(s[1], b, 16, 0));
	SHOW(atmark(s[1]));
	ready("after", s[1]);
	SHOW(opt_set(s[1], SOL_SOCKET, SO_OOBINLINE, 1));
	SHOW(send(s[0], "xy", 2, MSG_OOB));
	usleep(10000);
	SHOW(recv(s[1], b, 1, MSG_OOB));
	SHOW(recv(s[1], b, 16, 0));
	SHOW(recv(s[1], b, 16, 0));
	printf("%c\n", b[0]);
	return 0;
}
