/* Sockets that lead out of the cell, with a gate that says anything: each byte pair is a step of
 * the guest (calls on a few sockets) or of the gate (messages with right and wrong ids, types,
 * lengths and descriptors; bytes, ends and datagrams on what it handed over). */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "fuzz.h"
#include "host/fdmsg.h"
#include "kernel/net/budget.h"
#include "kernel/net/gate.h"
#include "kernel/platform/cell.h"
#include "kernel/platform/loop.h"
#include "kernel/sys/handlers.h"
#include "kernel/task/clock.h"
#include "wire/gate.h"

const char fuzz_name[] = "outside";
const size_t fuzz_max = 512;

#define SOCKS 4
#define ENDS 8

static int gate; /* the gate's end of the channel */
static int64_t socks[SOCKS];
static int ends[ENDS]; /* the far ends of what was handed over; -1: none */
static uint32_t ids[ENDS], nids; /* that were asked for last */
static struct gate_msg in;

void fuzz_init(void)
{
	int pair[2];

	(void)world_task();
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	gate = fcntl(pair[0], F_DUPFD_CLOEXEC, 100);
	FUZZ_CHECK(dup2(pair[1], FD_GATE) == FD_GATE);
	cell.spec.network = true;
	FUZZ_CHECK(loop_init() == 0);
	gate_init();
	for (int i = 0; i < ENDS; i++)
		ends[i] = -1;
	world_mark();
}

/* What is ready is told, until nothing is. */
static void pump(void)
{
	for (int i = 0; i < 8; i++) {
		now_update();
		(void)loop_wait(0, 0);
	}
	while (recv(gate, &in, sizeof(in), MSG_DONTWAIT) >= (ssize_t)GATE_HEAD)
		if (in.type == GATE_CONNECT || in.type == GATE_FIRST || in.type == GATE_DNS)
			ids[nids++ % ENDS] = in.id;
}

static void end_set(int slot, int fd)
{
	if (ends[slot] >= 0)
		close(ends[slot]);
	ends[slot] = fd;
}

static void gate_says(uint8_t op, uint8_t arg)
{
	static const uint32_t types[] = { GATE_OPEN, GATE_OPEN, GATE_HELD,   GATE_FAIL,
					  GATE_OPEN, GATE_NOTE, GATE_REVOKE, GATE_ANSWER };
	struct gate_msg m = { .type = types[op & 7], .id = ids[arg % ENDS] };
	int pair[2] = { -1, -1 }, slot = arg % ENDS;

	if (op & 8)
		m.id = arg; /* nobody's, or another's */
	if (op == 0x1f)
		m = (struct gate_msg){ .type = GATE_LOST };
	m.err = m.type == GATE_FAIL ? (int32_t)(arg * 40) - 200 : 0;
	m.nbytes = arg & 1 ? 0 : arg;
	if (m.type == GATE_OPEN && !(op & 16)) {
		FUZZ_CHECK(socketpair(AF_UNIX, (op & 4 ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_CLOEXEC, 0, pair) == 0);
		end_set(slot, pair[0]);
	}
	(void)!fdmsg_send(gate, &m, GATE_HEAD + (op & 16 ? arg : m.nbytes), &pair[1], pair[1] >= 0, MSG_DONTWAIT);
	if (pair[1] >= 0)
		close(pair[1]);
}

static void far_end(uint8_t op, uint8_t arg)
{
	struct gate_datagram d = { .err = op & 4 ? arg : 0 };
	int fd = ends[arg % ENDS];

	switch (op & 3) {
	case 0:
		(void)!send(fd, &d, arg, MSG_DONTWAIT | MSG_NOSIGNAL);
		break;
	case 1:
		(void)!recv(fd, &d, sizeof(d), MSG_DONTWAIT);
		break;
	case 2:
		(void)!shutdown(fd, arg >> 4 & 1 ? SHUT_WR : SHUT_RDWR);
		break;
	case 3:
		end_set(arg % ENDS, -1);
		break;
	}
}

static void guest_does(uint8_t op, uint8_t arg)
{
	static char b[4096];
	struct sockaddr_in a = { .sin_family = arg & 1 ? AF_INET : AF_UNSPEC, .sin_port = htons(arg), .sin_addr.s_addr = htonl(0x5db8d824) };
	int64_t *s = &socks[arg >> 2 & 3];
	struct pollfd p = { .fd = (int)*s, .events = POLLIN | POLLOUT };
	uint32_t n = sizeof(b);
	int v = arg;

	switch (op & 15) {
	case 0:
		if (*s >= 0)
			(void)world_call(sys_close, (uint64_t)*s, 0, 0, 0, 0, 0);
		*s = world_call(sys_socket, AF_INET, (op & 16 ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK, 0, 0, 0, 0);
		break;
	case 1:
	case 2:
		(void)world_call(sys_connect, (uint64_t)*s, (uint64_t)&a, sizeof(a), 0, 0, 0);
		break;
	case 3:
	case 4:
		(void)world_call(sys_sendto, (uint64_t)*s, (uint64_t)b, arg, MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
		break;
	case 5:
		a.sin_family = AF_INET;
		(void)world_call(sys_sendto, (uint64_t)*s, (uint64_t)b, arg, MSG_NOSIGNAL | (op & 16 ? MSG_MORE : 0), (uint64_t)&a, sizeof(a));
		break;
	case 6:
	case 7:
		(void)world_call(sys_recvfrom, (uint64_t)*s, (uint64_t)b, arg, op & 16 ? MSG_PEEK : op & 1 ? MSG_TRUNC : 0, 0, 0);
		break;
	case 8:
		(void)world_call(sys_poll, (uint64_t)&p, 1, 0, 0, 0, 0);
		break;
	case 9:
		(void)world_call(sys_shutdown, (uint64_t)*s, arg & 3, 0, 0, 0, 0);
		break;
	case 10:
		(void)world_call(sys_getsockopt, (uint64_t)*s, op & 16 ? SOL_SOCKET : IPPROTO_TCP, op & 16 ? SO_ERROR : TCP_INFO, (uint64_t)b,
				 (uint64_t)&n, 0);
		break;
	case 11:
		(void)world_call(sys_setsockopt, (uint64_t)*s, IPPROTO_TCP, arg, (uint64_t)&v, sizeof(v), 0);
		break;
	case 12:
		(void)world_call(sys_setsockopt, (uint64_t)*s, SOL_SOCKET, SO_LINGER, (uint64_t)b, 8, 0);
		break;
	case 13:
		(void)world_call(sys_listen, (uint64_t)*s, 5, 0, 0, 0, 0);
		break;
	case 14:
		(void)world_call(sys_getpeername, (uint64_t)*s, (uint64_t)b, (uint64_t)&n, 0, 0, 0);
		break;
	case 15:
		(void)world_call(sys_ioctl, (uint64_t)*s, arg & 1 ? FIONREAD : TIOCOUTQ, (uint64_t)b, 0, 0, 0);
		break;
	}
}

static uint32_t count_of(const char *name)
{
	const struct obj_type *type = obj_type_find(name);

	return type ? type->count : 0; /* none was ever made */
}

void fuzz_one(const uint8_t *data, size_t size)
{
	for (int i = 0; i < SOCKS; i++)
		socks[i] = world_call(sys_socket, AF_INET, (i & 1 ? SOCK_DGRAM : SOCK_STREAM) | SOCK_NONBLOCK, 0, 0, 0, 0);
	for (size_t at = 0; at + 2 <= size; at += 2) {
		uint8_t op = data[at], arg = data[at + 1];

		if (op >> 5 < 4)
			guest_does(op & 31, arg);
		else if (op >> 5 < 7)
			gate_says(op & 31, arg);
		else
			far_end(op & 31, arg);
		if (op & 64 || op >> 7)
			pump();
	}
	for (int i = 0; i < SOCKS; i++)
		if (socks[i] >= 0)
			(void)world_call(sys_close, (uint64_t)socks[i], 0, 0, 0, 0, 0);
	for (int i = 0; i < ENDS; i++)
		end_set(i, -1);
	pump();
	FUZZ_CHECK(count_of("outside") == 0 && count_of("flow") == 0);
	FUZZ_CHECK(budget_usage()->connections == 0);
	world_check();
}
