/*
 * What the programs about sockets share: loopback addresses, pairs of connected sockets, readiness.
 * Ports are ephemeral and are never printed.
 */
#ifndef GUEST_NET_H
#define GUEST_NET_H

#include "guest.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

#define SA(p) ((struct sockaddr *)(p))

static inline struct sockaddr_in loop4(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				     .sin_addr = { htonl(INADDR_LOOPBACK) } };
}

static inline struct sockaddr_in6 loop6(int port)
{
	return (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port),
				      .sin6_addr = IN6ADDR_LOOPBACK_INIT };
}

static inline int port_of(int fd)
{
	struct sockaddr_in6 a;
	socklen_t len = sizeof(a);
	return getsockname(fd, SA(&a), &len) ? -1 : ntohs(a.sin6_port);
}

/* A socket of that type bound to a free port of 127.0.0.1; a stream listens. */
static inline int bound4(int type)
{
	struct sockaddr_in a = loop4(0);
	int fd = socket(AF_INET, type, 0);
	if (fd < 0 || bind(fd, SA(&a), sizeof(a)) || ((type & 0xf) == SOCK_STREAM && listen(fd, 8)))
		printf("bound4: %s\n", ename(errno));
	return fd;
}

static inline void tcp_pair(int s[2])
{
	int l = bound4(SOCK_STREAM);
	struct sockaddr_in a = loop4(port_of(l));
	s[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(s[0], SA(&a), sizeof(a)))
		printf("connect: %s\n", ename(errno));
	s[1] = accept(l, NULL, NULL);
	close(l);
}

/* Prints what poll says; waits a little for what a real network does a moment later. */
static inline void ready(const char *what, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT | POLLPRI | POLLRDHUP };
	usleep(20000);
	poll(&p, 1, 0);
	printf("%s:%s%s%s%s%s%s\n", what, p.revents & POLLIN ? " in" : "", p.revents & POLLOUT ? " out" : "",
	       p.revents & POLLPRI ? " pri" : "", p.revents & POLLRDHUP ? " rdhup" : "",
	       p.revents & POLLHUP ? " hup" : "", p.revents & POLLERR ? " err" : "");
}

static inline int opt_get(int fd, int level, int opt)
{
	int v = -7;
	socklen_t len = sizeof(v);
	return getsockopt(fd, level, opt, &v, &len) ? -1 : v;
}

static inline int opt_set(int fd, int level, int opt, int v)
{
	return setsockopt(fd, level, opt, &v, sizeof(v));
}

static inline struct sockaddr_un un_path(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	strncpy(a.sun_path, path, sizeof(a.sun_path) - 1);
	return a;
}

static inline long ms_since(const struct timespec *t0)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (t.tv_sec - t0->tv_sec) * 1000 + (t.tv_nsec - t0->tv_nsec) / 1000000;
}

#endif
