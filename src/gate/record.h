/* What a gate writes into its cell's journal (wire/journal.tbl.h): names that are asked for,
 * connections, requests and their ends, and denials of what was let through before.
 *
 * A record is in the ring before its cell hears of what it says; without a journal nothing here
 * does anything. If the ring is full, the gate waits for the keeper, which never waits for the
 * gate. Values of secrets are in no record: a URL has their names (secret_conceal). */
#ifndef VIV_GATE_RECORD_H
#define VIV_GATE_RECORD_H

#include "gate/open.h"

/* Maps the ring of descriptor GATE_FD_RING, if there is one, and closes that. */
int must_check record_open(struct err *e);
bool record_is_on(void);
/* The process that a kernel's message names; 0: none. */
int32_t record_pid(const struct gate_msg *m);

/* What was decided, as records have it: of a rule that allows, "audit" if it only does that. */
const char *record_verdict(enum verdict v, const struct rule *rule);

/* why: instead of a rule; may be NULL. type: as the DNS has it. */
void record_name(int32_t pid, const char *name, uint16_t type, const char *decision,
		 const struct rule *rule, const char *why);

struct record_connection {
	uint32_t number; /* the kernel's id of it: not used again while this one is there */
	int32_t pid;
	const char *program;
	bool udp;
	const char *name; /* "": none */
	const struct ip *addr; /* NULL: not known */
	uint16_t port;
};
void record_connect(const struct record_connection *c, const char *decision,
		    const struct rule *rule, const char *why);

/* Something that had been let through, or cannot be said in another way. */
void record_denial(int32_t pid, const struct net_question *q, const struct rule *rule,
		   const char *why);

/* ---- requests ---- */

/* Of an exchange whose request h has been read, before anything is put into it: notes what it is.
 */
void record_request_begin(struct exchange *x, const struct opened *o, const struct head *h);
/* What was decided. r: it is answered by the gate, NULL: it is sent on, or waits. */
void record_request(struct exchange *x, const char *decision, const struct rule *rule,
		    const struct refusal *r);
/* It has ended, or its response is complete: once for each that was sent on. */
void record_response(struct exchange *x);
void record_request_fini(struct exchange *x);

#endif
