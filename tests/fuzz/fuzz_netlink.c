/* Requests to a netlink socket as a guest sends them, and the answers as it reads them. The first
 * byte says which protocol and how the message is sent; the rest is the message. */
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "kernel/platform/cell.h"
#include "kernel/sys/handlers.h"

const char fuzz_name[] = "netlink";
const size_t fuzz_max = 2048;

void fuzz_init(void)
{
	(void)world_task();
	world_mark();
}

/* What a program such as ip does with it: lengths must lead exactly to the end. */
static void answer_check(const char *p, size_t n)
{
	while (n) {
		struct nlmsghdr h;

		FUZZ_CHECK(n >= sizeof(h));
		memcpy(&h, p, sizeof(h));
		FUZZ_CHECK(h.nlmsg_len >= sizeof(h) && h.nlmsg_len <= n);
		p += MIN((size_t)NLMSG_ALIGN(h.nlmsg_len), n);
		n -= MIN((size_t)NLMSG_ALIGN(h.nlmsg_len), n);
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static char buf[65536];
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	int64_t fd, n;

	if (!size)
		return;
	cell.spec.network = data[0] & 8;
	fd = world_call(sys_socket, AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, data[0] & 1 ? NETLINK_KOBJECT_UEVENT : NETLINK_ROUTE, 0, 0, 0);
	FUZZ_CHECK(fd >= 0);
	if (data[0] & 2)
		(void)world_call(sys_bind, (uint64_t)fd, (uint64_t)&to, sizeof(to), 0, 0, 0);
	n = world_call(sys_sendto, (uint64_t)fd, (uint64_t)(data + 1), size - 1, 0, data[0] & 4 ? (uint64_t)&to : 0,
		       data[0] & 4 ? sizeof(to) : 0);
	FUZZ_CHECK(n == (int64_t)size - 1 || n == -ENOBUFS);
	for (int i = 0; i < 256; i++) {
		n = world_call(sys_recvfrom, (uint64_t)fd, (uint64_t)buf, sizeof(buf), 0, 0, 0);
		if (n < 0)
			break;
		answer_check(buf, (size_t)n);
	}
	FUZZ_CHECK(world_call(sys_close, (uint64_t)fd, 0, 0, 0, 0, 0) == 0);
	world_check();
}
