/* Staying with a command in a cell until it ends, as if it were run by hand: signals are forwarded,
 * a command that is suspended suspends viv too, with the terminal as viv found it, and a deadline
 * ends it.
 *
 * What is on the other side differs, and is an ops table: the kernel that this process started
 * (watch.c), or a keeper that it talks to by messages (cli/pooled.c and cli/exec.c). The loop is
 * that of channel.h. */
#ifndef VIV_KEEPER_STAY_H
#define VIV_KEEPER_STAY_H

#include "base/err.h"
#include "host/stream.h"
#include "keeper/channel.h"
#include "wire/keeper.h"

struct stay;

struct stay_ops {
	/* Forwards a signal. Never waits: a side that does not read gets it later. Required. */
	void (*signal)(struct stay *s, int sig);
	/* The deadline has passed: asks the command to end. Required with a deadline. */
	void (*time_up)(struct stay *s);
	/* The time for that has passed, too, or the deadline of one that has a status or is
	 * stopping. Required with a deadline. */
	void (*overdue)(struct stay *s);
};

struct stay {
	const struct stay_ops *ops;
	struct source signals;
	struct terminal terminal; /* fd -1: none is touched */
	int64_t deadline; /* by the monotonic clock; 0: none */
	bool timed_out; /* the deadline has passed */
	bool stopping; /* it was asked to end for another reason */
	bool asked_to_stop; /* by SIGTSTP, and not continued since */
	bool ended; /* there is nothing left to stay for */
	int status; /* what viv exits with; -1: not known yet */
};

/* Time between being asked to end and being killed. */
#define STAY_GRACE (2 * NSEC_PER_SEC)

/* Signals that are forwarded, blocked, as a descriptor; -1 on failure. */
int stay_signals(void);
/* Takes signals. 0 or -errno. */
int must_check stay_begin(struct stay *s, int signals);
/* One round of the loop, until something happens, the deadline, or other (0: none) has passed. */
void stay_round(struct stay *s, int64_t other);
/* The command was suspended: so is viv, if it was asked to. Returns when it was continued. */
void stay_suspend(struct stay *s);
/* Puts the terminal back; EXIT_TIMEOUT if the time was up, else the status. */
int stay_end(struct stay *s, bool quiet);

/* What viv exits with for a wait status. */
int stay_status(int wait_status);
/* Whether 'viv run' prints such an event: how near a limit is, and what the host killed, is for
 * those who ask for events. */
bool stay_prints(enum keep_event_kind kind, int a, int b);
/* Prints how a cell ended that did not end by itself; e->kind 0: its reason says all. Returns the
 * status. */
int stay_print_end(enum keep_reason reason, int status, const struct err *e);

#endif
