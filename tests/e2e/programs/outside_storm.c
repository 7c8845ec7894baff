/* Odd uses of sockets that lead out of a cell, at random from a seed: by several processes with
 * several threads each, on descriptors that they share. What the calls say does not matter. At the
 * end everything must still work. The server is outside.py. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FDS 24
#define THREADS 3
#define PROCESSES 4

static const char *address;
static double until;
static int fds[FDS]; /* shared by threads, and with children */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct sockaddr_in at(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	inet_pton(AF_INET, address, &a.sin_addr);
	return a;
}

static unsigned pick(uint64_t *x, unsigned n)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (unsigned)(*x >> 20) % n;
}

static void child(uint64_t *x)
{
	if (fork() == 0) {
		struct sockaddr_in a = at(pick(x, 2) ? 4000 : 4001);
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		/* It ends while it connects, or while others use what it has. */
		alarm(1);
		if (pick(x, 2))
			(void)!connect(fd, (void *)&a, sizeof(a));
		else
			(void)!write(fds[pick(x, FDS)], "0 echo\nxyz", 10);
		_exit(0);
	}
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void step(uint64_t *x)
{
	static const char *const lines[] = { "0 echo\n", "0 say 5000\n", "0 reset\n", "0 bye 10\n",
					     "\x16\x03\x01", "GET / HTTP/1.1\r\n", "" };
	static const int ports[] = { 4000, 4000, 4001, 4009, 4002 };
	char b[4096];
	int *slot = &fds[pick(x, FDS)], fd = *slot, ep;
	struct sockaddr_in a = at(ports[pick(x, 5)]);
	struct sockaddr none = { .sa_family = AF_UNSPEC };
	struct linger l = { 1, (int)pick(x, 2) };
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };
	struct epoll_event e = { .events = EPOLLIN | EPOLLOUT | (pick(x, 2) ? EPOLLET : 0) };
	const char *line = lines[pick(x, 7)];

	switch (pick(x, 20)) {
	case 0:
	case 1:
		*slot = socket(AF_INET, (pick(x, 4) ? SOCK_STREAM : SOCK_DGRAM) | (pick(x, 2) ? SOCK_NONBLOCK : 0), 0);
		close(fd);
		break;
	case 2:
	case 3:
	case 4:
		(void)!fcntl(fd, F_SETFL, O_NONBLOCK);
		(void)!connect(fd, (void *)&a, sizeof(a));
		break;
	case 5:
		(void)!connect(fd, &none, sizeof(none));
		break;
	case 6:
	case 7:
		(void)!send(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT);
		break;
	case 8:
		(void)!recv(fd, b, pick(x, sizeof(b)), MSG_DONTWAIT | (pick(x, 2) ? MSG_PEEK : 0) | (pick(x, 4) ? 0 : MSG_TRUNC));
		break;
	case 9:
		(void)!shutdown(fd, (int)pick(x, 3));
		break;
	case 10:
		(void)!setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		break;
	case 11:
		(void)!poll(&p, 1, (int)pick(x, 5));
		break;
	case 12:
		ep = epoll_create1(0);
		(void)!epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
		(void)!epoll_wait(ep, &e, 1, (int)pick(x, 5));
		close(ep);
		break;
	case 13:
		(void)!dup2(fd, fds[pick(x, FDS)]);
		break;
	case 14:
		(void)!sendto(fd, b, pick(x, sizeof(b)), MSG_DONTWAIT | MSG_NOSIGNAL | (pick(x, 4) ? 0 : MSG_MORE), (void *)&a, sizeof(a));
		break;
	case 15:
		(void)!setsockopt(fd, IPPROTO_TCP, pick(x, 2) ? TCP_NODELAY : TCP_CORK, &(int){ 1 }, sizeof(int));
		(void)!getsockopt(fd, IPPROTO_TCP, TCP_INFO, b, &(socklen_t){ 200 });
		(void)!getsockopt(fd, SOL_SOCKET, SO_ERROR, b, &(socklen_t){ 4 });
		break;
	case 16:
		(void)!listen(fd, 5);
		(void)!getpeername(fd, (void *)b, &(socklen_t){ 100 });
		(void)!ioctl(fd, FIONREAD, b);
		break;
	case 17:
		if (!pick(x, 8))
			child(x);
		break;
	case 18: /* waits, until another thread does something about it */
		(void)!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){ 0, 20000 }, sizeof(struct timeval));
		(void)!fcntl(fd, F_SETFL, 0);
		(void)!recv(fd, b, sizeof(b), pick(x, 2) ? MSG_WAITALL : 0);
		break;
	case 19:
		close(fd);
		break;
	}
}

static void *worker(void *arg)
{
	uint64_t x = (uint64_t)(uintptr_t)arg * 0x9e3779b97f4a7c15u + 1;

	while (now() < until)
		step(&x);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned seed = (unsigned)atoi(argv[3]);
	struct sockaddr_in a;
	pthread_t th[THREADS];
	char b[10] = "";
	int fd, tried = 0;

	(void)argc;
	address = argv[1];
	until = now() + atof(argv[2]);
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < FDS; i++)
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	for (unsigned p = 0; p < PROCESSES; p++)
		if (fork() == 0) {
			alarm((unsigned)atoi(argv[2]) + 2); /* one may wait for ever */
			for (unsigned i = 0; i < THREADS; i++)
				pthread_create(&th[i], NULL, worker, (void *)(uintptr_t)(seed + p * 100 + i));
			for (unsigned i = 0; i < THREADS; i++)
				pthread_join(th[i], NULL);
			_exit(0);
		}
	while (wait(NULL) > 0)
		;
	/* Thousands that nobody answers, and that are dropped at once. */
	a = at(4001);
	for (int i = 0; i < 3000; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fd, (void *)&a, sizeof(a));
		close(fd);
	}
	a = at(4000);
	do {
		fd = socket(AF_INET, SOCK_STREAM, 0);
	} while (connect(fd, (void *)&a, sizeof(a)) < 0 && ++tried < 5);
	(void)!write(fd, "0 echo\nstill", 12);
	(void)!recv(fd, b, 5, MSG_WAITALL);
	puts(b);
	return 0;
}
