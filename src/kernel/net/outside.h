/* A connection to the outside of the cell (outside.c). */
#ifndef VIV_KERNEL_NET_OUTSIDE_H
#define VIV_KERNEL_NET_OUTSIDE_H

#include "kernel/net/gate.h"
#include "kernel/platform/loop.h"

struct inet_sock;

enum outside_state {
	OUT_ASKED, /* the gate was asked */
	OUT_HELD, /* connected, and the gate has to see what is said first */
	OUT_OPEN, /* fd is the connection */
	OUT_FAILED, /* there was none, or the gate broke it off */
};

struct outside {
	struct gate_call call;
	struct inet_sock *i; /* whose it is */
	uint32_t number; /* of the call, also when that is over; 0: it came from outside */
	enum outside_state state;
	bool said; /* held: the gate has not yet answered what was said last */
	uint32_t first; /* bytes that were said while it was held */
	int fd; /* -1: not yet, or no longer */
	bool was_open; /* fd was the connection once */
	bool tcp; /* fd is the host's TCP, not one end of a pair */
	bool full; /* the host took no more: the next time that it does is told */
	struct hostwatch watch;
	struct list slow; /* waits until the rate lets bytes through; empty: it does not */
};

/* ---- outside_opt.c ---- */

/* Tells the host's TCP an option that the guest has set; others are ignored. */
void outside_pass(struct outside *o, int level, int opt);
/* All that were set. */
void outside_pass_all(struct outside *o);

#endif
