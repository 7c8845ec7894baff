/* Control messages of sendmsg, and what recvmsg makes of them. The first three bytes: kind of
 * socket, room for the answer's control messages, flags; the rest is the control buffer. A socket
 * of each kind has the numbers 0 to 3, so that SCM_RIGHTS finds files. */
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "kernel/net/unix.h"
#include "kernel/sys/handlers.h"
#include "kernel/sys/sockcall.h"

const char fuzz_name[] = "cmsg";
const size_t fuzz_max = 4096;

void fuzz_init(void)
{
	(void)world_task();
	for (int i = 0; i < 4; i++)
		FUZZ_CHECK(world_call(sys_socket, i & 1 ? AF_INET : AF_UNIX, i & 2 ? SOCK_STREAM : SOCK_DGRAM, 0, 0, 0, 0) == i);
	world_mark();
}

static void pair_make(int kind, int fds[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	uint32_t len = sizeof(at);

	if (kind < 3) {
		FUZZ_CHECK(world_call(sys_socketpair, AF_UNIX, (kind == 0 ? SOCK_STREAM : kind == 1 ? SOCK_DGRAM : SOCK_SEQPACKET) | SOCK_NONBLOCK, 0,
				      (uint64_t)fds, 0, 0) == 0);
		return;
	}
	for (int i = 0; i < 2; i++) {
		fds[i] = (int)world_call(sys_socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0, 0, 0, 0);
		at.sin_port = 0;
		at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		FUZZ_CHECK(world_call(sys_bind, (uint64_t)fds[i], (uint64_t)&at, sizeof(at), 0, 0, 0) == 0);
	}
	FUZZ_CHECK(world_call(sys_getsockname, (uint64_t)fds[1], (uint64_t)&at, (uint64_t)&len, 0, 0, 0) == 0);
	FUZZ_CHECK(world_call(sys_connect, (uint64_t)fds[0], (uint64_t)&at, sizeof(at), 0, 0, 0) == 0);
}

static void option_on(int fd, int level, int opt)
{
	int on = 1;

	(void)world_call(sys_setsockopt, (uint64_t)fd, (uint64_t)level, (uint64_t)opt, (uint64_t)&on, sizeof(on), 0);
}

void fuzz_one(const uint8_t *data, size_t size)
{
	static char body[16], control[256 * 16];
	struct iovec iov = { body, 4 };
	struct msghdr out = { .msg_iov = &iov, .msg_iovlen = 1 }, in = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control };
	int fds[2];

	if (size < 3)
		return;
	pair_make(data[0] & 3, fds);
	if (data[2] & 1) {
		option_on(fds[1], SOL_SOCKET, SO_PASSCRED);
		option_on(fds[1], SOL_SOCKET, data[2] & 2 ? SO_TIMESTAMP : SO_TIMESTAMPNS);
		option_on(fds[1], IPPROTO_IP, IP_PKTINFO);
		option_on(fds[1], IPPROTO_IP, IP_RECVTTL);
		option_on(fds[1], IPPROTO_IP, IP_RECVTOS);
	}
	in.msg_controllen = data[1] * (data[2] & 4 ? 16u : 1u);
	memset(control, 0x55, sizeof(control));
	out.msg_control = (void *)(uintptr_t)(data + 3);
	out.msg_controllen = size - 3;
	if (world_call(sys_sendmsg, (uint64_t)fds[0], (uint64_t)&out, 0, 0, 0, 0) >= 0) {
		size_t room = in.msg_controllen;

		FUZZ_CHECK(world_call(sys_recvmsg, (uint64_t)fds[1], (uint64_t)&in, data[2] & 8 ? MSG_PEEK : 0, 0, 0, 0) == 4);
		FUZZ_CHECK(in.msg_controllen <= room);
		for (size_t i = room; i < sizeof(control); i++)
			FUZZ_CHECK(control[i] == 0x55);
	}
	/* Whatever came along has the numbers from 4 on. */
	for (uint64_t fd = 4; fd < 4 + 2 + 2 * SOCK_MAX_FILES; fd++)
		if (world_call(sys_close, fd, 0, 0, 0, 0, 0) == -EBADF)
			break;
	unix_gc(true); /* else sockets that carry each other wait for the next close */
	world_check();
}
