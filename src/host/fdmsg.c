/* See fdmsg.h. */
#include "host/fdmsg.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SPACE CMSG_SPACE(FDMSG_MAX * sizeof(int))

/* #syscalls: sendmsg */
int fdmsg_send(int fd, const void *buf, size_t n, const int *fds, unsigned nfds, int flags)
{
	char space[SPACE] __attribute__((aligned(8))) = { 0 };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)buf, .iov_len = n };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t sent;

	if (nfds > FDMSG_MAX)
		return -EINVAL;
	if (nfds) {
		struct cmsghdr *c;

		m.msg_control = space;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	}
	do
		sent = sendmsg(fd, &m, MSG_NOSIGNAL | flags);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : sent == (ssize_t)n ? 0 : -EPIPE;
}

/* The kernel's filter lets recvmsg through for its control channel only
 * (tools/gen-kernel-filter.c). #syscalls: recvmsg close */
int64_t fdmsg_recv(int fd, void *buf, size_t n, int *fds, unsigned max, unsigned *ret_nfds,
		   int flags)
{
	char space[SPACE] __attribute__((aligned(8)));
	struct iovec iov = { .iov_base = buf, .iov_len = n };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = space,
			    .msg_controllen = sizeof(space) };
	unsigned nfds = 0;
	bool whole, reset = false;
	ssize_t got;

	*ret_nfds = 0;
	/* Of a peer that closed with something of ours unread, the host tells that first, once;
	 * then what it had said comes. */
	for (;;) {
		got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC | flags);
		if (got >= 0 || (errno != EINTR && (errno != ECONNRESET || reset)))
			break;
		reset |= errno == ECONNRESET;
	}
	if (got < 0)
		return -errno;
	whole = !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		nfds = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		for (unsigned i = 0; i < nfds; i++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (whole && i < max)
				fds[i] = one;
			else
				close(one);
		}
	}
	*ret_nfds = whole ? MIN(nfds, max) : 0;
	if (whole)
		return got;
	return m.msg_flags & MSG_TRUNC || got != (ssize_t)n ? -EMSGSIZE : -EMFILE;
}
