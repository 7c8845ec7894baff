/* What a kernel and its viv-gate say to each other, over a SOCK_SEQPACKET pair.
 *
 * The kernel cannot open a socket. It asks the gate, which has the policy, and gets a connected
 * descriptor: a TCP socket of the host, or one end of a pair behind which the gate speaks for the
 * other side. Each message has the id of the kernel's request, which is not used again before the
 * gate has ended it. Neither side trusts the other.
 *
 *   GATE_CONNECT   addr, port, protocol, pid; bytes: the path of the program
 *     GATE_OPEN    descriptor: the connection is the kernel's. The id stays in use until the kernel
 *                  says GATE_CANCEL, which it does when it has closed it
 *     GATE_REVOKE  after GATE_OPEN: the policy has changed, and the kernel ends the connection. The
 *                  id is free
 *     GATE_HELD    connected, but the gate has to see what the client says first. The kernel sends
 *                  that as GATE_FIRST, and no more of it before the gate's answer
 *     GATE_FAIL    err. Of a connection that is held, 0: the other side has closed it
 *                  Port 53 of the resolver: a pair behind which the gate answers questions.
 *                  IPPROTO_UDP: a SOCK_SEQPACKET pair; each message is a struct gate_datagram
 *   GATE_FIRST     bytes of a connection that is held, in order, GATE_FIRST_MAX in all at most. The
 *                  answer is GATE_HELD (the gate has to see more), GATE_OPEN or GATE_FAIL
 *   GATE_DNS       pid; bytes: a question that came as a datagram
 *     GATE_ANSWER  bytes: the answer
 *     GATE_FAIL    there is none: it was not a question
 *   GATE_CANCEL    nobody waits for id any more; no answer. What was under way is dropped
 *
 * The keeper starts a gate when there is something to read for it, and another one when it has
 * died; before that it says GATE_LOST, and what was asked until then is not answered any more.
 *
 * GATE_FAIL's bytes are a reason for people, in a line of UTF-8. So are those of GATE_NOTE, which
 * has no id: something was refused that is answered in another way (a name, a request). Both are
 * for the cell's own list of refusals, GATE_FAIL with EACCES. */
#ifndef VIV_WIRE_GATE_H
#define VIV_WIRE_GATE_H

#include "base/base.h"

/* The gate's descriptors. Its standard error is a pipe to the keeper, for messages. */
#define GATE_FD_CHANNEL 3 /* this */
#define GATE_FD_SETTINGS 4 /* read at the start, then closed */
#define GATE_FD_CONTROL 5 /* to the keeper */
#define GATE_FD_NAMES 6 /* which address stands for which name, from one gate to the next */
#define GATE_FD_RING 7 /* of the cell's journal, mapped and closed at the start; may be missing */
#define GATE_FD_BELL 8 /* wakes its reader */
#define GATE_NAMES_MAX (24u << 20) /* bytes of that */

#define GATE_BYTES 16384
#define GATE_FIRST_MAX 65536
#define GATE_CONNS_MAX 16384 /* requests under way, those that are held among them */
#define GATE_PROGRAM_MAX 1024
#define GATE_TEXT_MAX 1024 /* of a reason */

enum gate_type {
	GATE_CONNECT = 1,
	GATE_FIRST,
	GATE_DNS,
	GATE_CANCEL,
	/* the gate's */
	GATE_OPEN,
	GATE_HELD,
	GATE_FAIL,
	GATE_ANSWER,
	GATE_LOST,
	GATE_NOTE,
	GATE_REVOKE,
};

struct gate_msg {
	uint32_t type, id;
	int32_t err; /* GATE_FAIL: an errno, positive */
	uint32_t flags;
	int32_t pid; /* the process in the cell that asks, as its kernel says; 0: none */
	uint8_t addr[16]; /* IPv6, or IPv4 in its mapped form */
	uint16_t port; /* in the order of the host */
	uint16_t protocol; /* IPPROTO_TCP, IPPROTO_UDP */
	uint32_t nbytes;
	char bytes[GATE_BYTES];
};
#define GATE_HEAD offsetof(struct gate_msg, bytes)

/* A datagram, or what the network said about one. */
struct gate_datagram {
	uint32_t err; /* to the kernel: an errno, and no bytes; else 0 */
	char bytes[65535];
};
#define GATE_DATAGRAM_HEAD offsetof(struct gate_datagram, bytes)

#endif
