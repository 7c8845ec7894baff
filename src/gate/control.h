/* The gate's side of the channel to its keeper (wire/gatectl.h). */
#ifndef VIV_GATE_CONTROL_H
#define VIV_GATE_CONTROL_H

#include "gate/gate.h"
#include "wire/gatectl.h"

/* From now on new settings are taken. Without such a descriptor nothing is told to anybody. */
void control_open(int fd);

/* A denial: the kernel gets err and the text for its request id (0: it has none, and its client is
 * told in another way; the text is for the cell's list of denials), the keeper a note. rule NULL:
 * no rule matched. */
void gate_deny(uint32_t id, int err, const struct net_question *q, const struct rule *rule,
	       const char *fmt, ...) printf_like(5, 6);

/* Something that the policy lets through: a note, the first time. tls_any: TLS whose server name is
 * not the name. rule NULL: it is only looked up. */
void gate_used(const struct net_question *q, const struct rule *rule, bool tls_any);

/* Another note: begin, json_member_...() for what it has besides, end, which frees b. q may be
 * NULL. */
void note_begin(struct buf *b, const char *kind, const struct net_question *q);
void note_end(struct buf *b);
const char *net_protocol_name(unsigned protocol);

/* Somebody waits for an answer; embedded. */
struct ask {
	struct list link;
	uint32_t id; /* 0: nothing is asked */
	/* Called once, unless it is withdrawn before; it may free a. json is hostile to nobody but
	 * has no NUL at its end. */
	void (*answered)(struct ask *a, const char *json, size_t n);
};
/* Asks about this, because of a rule. False: there is nobody to ask, too much is asked already, or
 * the question would be too long. */
bool control_ask(struct ask *a, const struct net_question *q, const struct rule *rule);
/* Does it say yes? */
bool answer_allows(const char *json, size_t n);
/* Nobody waits any more. Nothing happens if it has been answered. */
void control_withdraw(struct ask *a);
/* The same; the policy has changed and decides it. Nobody will ask that again. */
void control_decided(struct ask *a);

#endif
