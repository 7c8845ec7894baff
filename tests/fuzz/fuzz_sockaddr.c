/* Addresses: a socket of a family and type that the first byte chooses; then records of a length,
 * an operation and an address. Another socket of the same kind listens, so that connecting can
 * succeed. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "kernel/sys/handlers.h"

const char fuzz_name[] = "sockaddr";
const size_t fuzz_max = 1024;

void fuzz_init(void)
{
	(void)world_task();
	FUZZ_CHECK(world_call(sys_mkdirat, (uint64_t)AT_FDCWD, (uint64_t) "/d", 0755, 0, 0, 0) == 0);
	world_mark();
}

static void operate(int64_t fd, int op, const uint8_t *addr, size_t len)
{
	struct sockaddr_storage back[2];
	uint32_t n = sizeof(back);
	/* Bytes that are not the input's own follow in the same buffer: a length must be believed
	 * as given. */
	int64_t r;

	switch (op & 3) {
	case 0:
		(void)world_call(sys_bind, (uint64_t)fd, (uint64_t)addr, len, 0, 0, 0);
		break;
	case 1:
		(void)world_call(sys_connect, (uint64_t)fd, (uint64_t)addr, len, 0, 0, 0);
		break;
	case 2:
		(void)world_call(sys_sendto, (uint64_t)fd, (uint64_t) "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT, (uint64_t)addr, len);
		break;
	case 3:
		(void)world_call(sys_listen, (uint64_t)fd, 1, 0, 0, 0, 0);
		break;
	}
	for (int which = 0; which < 2; which++) {
		n = sizeof(back[0]);
		memset(back, 0x55, sizeof(back));
		r = world_call(which ? sys_getpeername : sys_getsockname, (uint64_t)fd, (uint64_t)back, (uint64_t)&n, 0, 0, 0);
		FUZZ_CHECK(r < 0 || n <= sizeof(back[0]));
		FUZZ_CHECK(((uint8_t *)back)[sizeof(back[0])] == 0x55);
	}
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static const uint16_t families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK };
	static const uint8_t types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET, SOCK_RAW };
	int64_t fd[2];

	if (size < 1)
		return;
	for (int i = 0; i < 2; i++) {
		fd[i] = world_call(sys_socket, families[data[0] & 3], types[data[0] >> 2 & 3] | SOCK_NONBLOCK, 0, 0, 0, 0);
		if (fd[i] < 0)
			return;
	}
	for (size_t at = 1; at + 2 <= size;) {
		size_t len = MIN((size_t)data[at], size - at - 2);

		operate(fd[data[at + 1] >> 2 & 1], data[at + 1], data + at + 2, len);
		at += 2 + len;
	}
	for (int i = 0; i < 2; i++)
		FUZZ_CHECK(world_call(sys_close, (uint64_t)fd[i], 0, 0, 0, 0, 0) == 0);
	/* A path that was bound stays as a file; there is only so much room. */
	(void)world_call(sys_unlinkat, (uint64_t)AT_FDCWD, (uint64_t) "/d/s", 0, 0, 0, 0);
	world_check();
}
