/* The host's readiness, for the kernel's loop. */
#include <errno.h>
#include <sys/epoll.h>

#include "host/epoll.h"

int host_epoll_new(void)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* #syscalls: epoll_ctl */
int host_epoll_arm(int ep, int fd, uint32_t events, void *tag, bool added)
{
	struct epoll_event ev = { .events = events | EPOLLONESHOT, .data.ptr = tag };

	return epoll_ctl(ep, added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

int host_epoll_edge(int ep, int fd, uint32_t events, void *tag)
{
	struct epoll_event ev = { .events = events | EPOLLET, .data.ptr = tag };

	return epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

void host_epoll_del(int ep, int fd)
{
	(void)epoll_ctl(ep, EPOLL_CTL_DEL, fd, NULL);
}

/* #syscalls: epoll_wait epoll_pwait */
int host_epoll_take(int ep, void **tags, uint32_t *events, int n)
{
	struct epoll_event ev[16];
	int got = epoll_wait(ep, ev, MIN(n, 16), 0);

	for (int i = 0; i < got; i++) {
		tags[i] = ev[i].data.ptr;
		events[i] = ev[i].events;
	}
	return got < 0 ? 0 : got;
}
