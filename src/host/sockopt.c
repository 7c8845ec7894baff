/* Options of connections to the outside, which the gate made and handed over. The kernel's filter
 * lets only these through (tools/gen-kernel-filter.c). */
#include "host/sockopt.h"

#include <errno.h>
#include <sys/socket.h>

/* #syscalls: setsockopt */
int host_setsockopt(int fd, int level, int opt, const void *v, uint32_t n)
{
	return setsockopt(fd, level, opt, v, n) < 0 ? -errno : 0;
}

/* #syscalls: getsockopt */
int64_t host_getsockopt(int fd, int level, int opt, void *v, uint32_t n)
{
	socklen_t len = n;

	return getsockopt(fd, level, opt, v, &len) < 0 ? -errno : (int64_t)len;
}
