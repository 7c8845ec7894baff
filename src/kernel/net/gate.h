/* The channel to viv-gate, which opens connections for the cell (wire/gate.h).
 *
 * Whoever asks has a gate_call embedded, from gate_ask() until gate_forget() or until its ops say
 * that it has ended. The gate is started by the keeper when something is first asked, and another
 * one when it has died. */
#ifndef VIV_KERNEL_NET_GATE_H
#define VIV_KERNEL_NET_GATE_H

#include "base/list.h"
#include "wire/gate.h"

struct gate_call;
struct ipaddr;
struct task;

struct gate_ops {
	/* An answer. fd: -1, or a descriptor that is the callee's from now on. */
	void (*answer)(struct gate_call *c, const struct gate_msg *m, int fd);
	/* The gate is gone: there will be no answer, and the call is forgotten. */
	void (*lost)(struct gate_call *c);
	/* It goes on after GATE_OPEN, until gate_forget(): the gate may revoke what it gave. */
	bool stays;
};

struct gate_call {
	struct list link; /* by its id */
	uint32_t id; /* 0: nothing is asked */
	const struct gate_ops *ops;
};

void gate_init(void);
/* Is the cell granted any network? */
bool gate_is_granted(void);
/* The cell has a network from now on, if it had none. */
void gate_grant(void);

/* A request to connect; t: whose program it is for, NULL: not known. */
void gate_connect_fill(struct gate_msg *m, struct task *t, const struct ipaddr *dst, uint16_t port,
		       uint16_t protocol);
/* Sends m, whose id it sets, for a call that asks nothing else. 0, -ENOBUFS. */
int must_check gate_ask(struct gate_call *c, const struct gate_ops *ops, struct gate_msg *m);
/* More for a call that has been asked. 0, -ENOBUFS. */
int must_check gate_more(struct gate_call *c, struct gate_msg *m);
/* No answer is wanted any more. */
void gate_forget(struct gate_call *c);

#endif
