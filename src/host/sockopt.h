/* Options of connections to the outside: the pairs of level and option that the kernel's filter
 * lets through. */
#ifndef VIV_HOST_SOCKOPT_H
#define VIV_HOST_SOCKOPT_H

#include "base/base.h"

/* X(level, option) for what the kernel sets. None of them reaches another destination, attaches a
 * program or keeps more memory than the host's limits for a socket allow. */
#define SOCKOPTS_SET(X)                  \
	X(SOL_SOCKET, SO_LINGER)         \
	X(SOL_SOCKET, SO_KEEPALIVE)      \
	X(SOL_SOCKET, SO_SNDBUF)         \
	X(SOL_SOCKET, SO_RCVBUF)         \
	X(IPPROTO_TCP, TCP_NODELAY)      \
	X(IPPROTO_TCP, TCP_CORK)         \
	X(IPPROTO_TCP, TCP_KEEPIDLE)     \
	X(IPPROTO_TCP, TCP_KEEPINTVL)    \
	X(IPPROTO_TCP, TCP_KEEPCNT)      \
	X(IPPROTO_TCP, TCP_QUICKACK)     \
	X(IPPROTO_TCP, TCP_USER_TIMEOUT) \
	X(IPPROTO_TCP, TCP_NOTSENT_LOWAT)
/* ... and for what it reads. */
#define SOCKOPTS_GET(X)         \
	X(SOL_SOCKET, SO_ERROR) \
	X(IPPROTO_TCP, TCP_INFO)

int host_setsockopt(int fd, int level, int opt, const void *v, uint32_t n);
/* The length of the value, or -errno. */
int64_t host_getsockopt(int fd, int level, int opt, void *v, uint32_t n);

#endif
