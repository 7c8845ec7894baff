/* What a keeper and its viv-gate say to each other, over a SOCK_SEQPACKET pair of its own
 * (GATE_FD_CONTROL of the gate), apart from what the kernel asks (wire/gate.h).
 *
 * The gate believes its keeper. The keeper does not believe the gate, which reads hostile bytes and
 * may have been broken into: it bounds the length and the rate of what it takes, and passes nothing
 * on that it has not read and written again.
 *
 *   keeper -> gate
 *   GATECTL_SETTINGS   descriptor: new settings, as at the start (gate/settings.c). They are read
 *                      completely and then take the place of the old ones in one step
 *     GATECTL_OK       they are in force; connections that they deny are being ended
 *     GATECTL_FAIL     bytes: why they cannot be used; the old ones stay in force
 *   GATECTL_ANSWER     to an ask, with its id; bytes: JSON
 *
 *   gate -> keeper
 *   GATECTL_NOTE       bytes: a JSON object about something that happened (below). May be lost when
 *                      there are too many
 *   GATECTL_ASK        id (not 0, never used again by this gate); bytes: JSON. A connection or a
 *                      request waits for GATECTL_ANSWER
 *   GATECTL_WITHDRAW   id: nobody waits for the answer any more
 *   GATECTL_DECIDED    the same: new settings have answered it
 *
 * A note has the member "kind" and, as far as they are known, name, address, port, protocol ("web",
 * "tcp", "udp"), program, method, path, rule (as text) and reason:
 *
 *   denial       refused, for the reason
 *   use          the first time that a name or address is used in this way; "audit": true when only
 *                an audit rule lets it through; "tls": "any" when its server name is another one
 *   name         the first time that a name is looked up
 *   lost         count: so many notes were lost */
#ifndef VIV_WIRE_GATECTL_H
#define VIV_WIRE_GATECTL_H

#include "base/base.h"

#define GATECTL_BYTES 4096
#define GATECTL_ASKS_MAX 256 /* that wait at once */

enum gatectl_type {
	/* the keeper's */
	GATECTL_SETTINGS = 1,
	GATECTL_ANSWER,
	/* the gate's */
	GATECTL_OK = 64,
	GATECTL_FAIL,
	GATECTL_NOTE,
	GATECTL_ASK,
	GATECTL_WITHDRAW,
	GATECTL_DECIDED,
};

struct gatectl_msg {
	uint32_t type, id;
	uint32_t nbytes;
	char bytes[GATECTL_BYTES];
};
#define GATECTL_HEAD offsetof(struct gatectl_msg, bytes)

#endif
