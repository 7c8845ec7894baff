/* What a program sees of UDP to another machine; the server is outside.py. As outside_tcp.c. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_storage server;
static socklen_t server_len;
static int family;
static char big[70000], back[70000];

#define SHOW(what, value)                                            \
	do {                                                         \
		errno = 0;                                           \
		long v_ = (long)(value);                             \
		printf("%s: %ld%s%s\n", what, v_, v_ < 0 ? " " : "", \
		       v_ < 0 ? strerrorname_np(errno) : "");        \
	} while (0)

static const struct sockaddr *at(int port)
{
	if (family == AF_INET)
		((struct sockaddr_in *)&server)->sin_port = htons((uint16_t)port);
	else
		((struct sockaddr_in6 *)&server)->sin6_port = htons((uint16_t)port);
	return (struct sockaddr *)&server;
}

static int fresh(void)
{
	struct timeval tv = { .tv_sec = 5 };
	int fd = socket(family, SOCK_DGRAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return fd;
}

static void from(int fd, const char *what, int port)
{
	struct sockaddr_storage a = { 0 };
	socklen_t n = sizeof(a);

	at(port);
	SHOW(what, recvfrom(fd, back, sizeof(back), 0, (struct sockaddr *)&a, &n));
	printf("it is from there: %d\n", n == server_len && !memcmp(&a, &server, n));
}

static void connected(void)
{
	int fd = fresh(), n = 0, e = 0;
	socklen_t len = sizeof(e);

	SHOW("connect", connect(fd, at(4000), server_len));
	SHOW("send", send(fd, "hello", 5, 0));
	SHOW("peek", recv(fd, back, 2, MSG_PEEK | MSG_TRUNC));
	ioctl(fd, FIONREAD, &n);
	printf("FIONREAD %d\n", n);
	SHOW("a part", recv(fd, back, 2, MSG_TRUNC));
	SHOW("no more", recv(fd, back, 2, MSG_DONTWAIT));
	SHOW("nothing", send(fd, "", 0, 0));
	SHOW("nothing comes back", recv(fd, back, 2, 0));
	for (int size = 1000; size <= 61000; size += 20000) {
		memset(big, size / 1000, (size_t)size);
		SHOW("large", send(fd, big, (size_t)size, 0));
		from(fd, "large", 4000);
		printf("it is the same: %d\n", !memcmp(big, back, (size_t)size));
	}
	n = family == AF_INET ? 65507 : 65527;
	SHOW("the largest", send(fd, big, (size_t)n, 0));
	from(fd, "the largest", 4000);
	SHOW("too large", send(fd, big, (size_t)n + 1, 0));
	SHOW("somewhere else", connect(fd, at(4002), server_len));
	SHOW("send", send(fd, "three", 5, 0));
	for (int i = 0; i < 3; i++)
		from(fd, "one of three", 4002);
	SHOW("a closed port", connect(fd, at(4009), server_len));
	SHOW("send", send(fd, "x", 1, 0));
	SHOW("refused", recv(fd, back, 1, 0));
	SHOW("send", send(fd, "x", 1, 0));
	struct pollfd p = { .fd = fd, .events = POLLIN };
	SHOW("poll", poll(&p, 1, 5000));
	printf("events %x\n", p.revents);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &e, &len);
	printf("SO_ERROR %s\n", strerrorname_np(e));
	SHOW("disconnect", connect(fd, &(struct sockaddr){ .sa_family = AF_UNSPEC }, 16));
	SHOW("send", send(fd, "x", 1, 0));
	close(fd);
}

static void unconnected(void)
{
	int fd = fresh();

	SHOW("sendto", sendto(fd, "a", 1, 0, at(4000), server_len));
	from(fd, "back", 4000);
	SHOW("sendto another", sendto(fd, "bb", 2, 0, at(4001), server_len));
	from(fd, "back", 4001);
	printf("%.*s\n", 40, back);
	SHOW("sendto a closed port", sendto(fd, "a", 1, 0, at(4009), server_len));
	usleep(100000);
	SHOW("nobody hears of it", recv(fd, back, 1, MSG_DONTWAIT));
	SHOW("more", sendto(fd, "part", 4, MSG_MORE, at(4000), server_len));
	SHOW("all", sendto(fd, "ial", 3, 0, at(4000), server_len));
	from(fd, "back", 4000);
	SHOW("the largest", sendto(fd, big, 65507, 0, at(4000), server_len));
	from(fd, "the largest", 4000);
	/* in order, and none is lost */
	for (int i = 0; i < 20; i++)
		(void)!sendto(fd, &i, sizeof(i), 0, at(4000), server_len);
	for (int i = 0, got; i < 20; i++)
		if (recv(fd, &got, sizeof(got), 0) != sizeof(got) || got != i)
			printf("not %d\n", i);
	shutdown(fd, SHUT_RDWR);
	close(fd);
	fd = fresh();
	SHOW("connect to one", connect(fd, at(4000), server_len));
	SHOW("sendto another", sendto(fd, "x", 1, 0, at(4001), server_len));
	usleep(100000);
	SHOW("it is not heard", recv(fd, back, 1, MSG_DONTWAIT));
	close(fd);
}

int main(int argc, char **argv)
{
	struct sockaddr_in *a4 = (void *)&server;
	struct sockaddr_in6 *a6 = (void *)&server;

	(void)argc;
	setlinebuf(stdout);
	family = strchr(argv[1], ':') ? AF_INET6 : AF_INET;
	server.ss_family = (sa_family_t)family;
	inet_pton(family, argv[1], family == AF_INET ? (void *)&a4->sin_addr : (void *)&a6->sin6_addr);
	server_len = family == AF_INET ? sizeof(*a4) : sizeof(*a6);
	connected();
	unconnected();
	return 0;
}
