/* Sleep. A sleeping cell has no process and no memory but its row here: its disk, its sessions, its
 * previews and its ports stay, and whoever uses it wakes it (docs/sleep.md).
 *
 * It falls asleep by way of its keeper, which hands over the sockets at which it listens, stops the
 * cell as 'viv stop' would, and goes. It wakes by an ordinary start. What comes in between waits:
 * one that falls asleep is woken when it sleeps. Both are noted before they begin, so that a vivd
 * that is killed leaves a cell that runs or one that sleeps. */
#ifndef VIV_DAEMON_CELLS_SLEEP_H
#define VIV_DAEMON_CELLS_SLEEP_H

#include "daemon/cells/cells.h"

/* Asks it to sleep, whoever uses it: SIGTERM, and after grace SIGKILL. 0: it sleeps, or is about
 * to. */
int cell_sleep(struct cell *c, int64_t grace_ns, struct err *f);
/* Its keeper is about to be asked to freeze its processes, and then to let it sleep; answered: it
 * did, or it goes on. */
int cell_sleep_ask_frozen(struct cell *c, struct err *f);
void cell_sleep_answered(struct cell *c, bool agreed);
/* Of a running cell: the same unless somebody uses it, which its keeper decides. inbound_at: the
 * last connection that its keeper told of. */
void cell_sleep_unused(struct cell *c, uint64_t inbound_at);
/* It was not put to sleep because somebody came: its time begins anew (rest.c). */
void cell_used(struct cell *c);

/* It sleeps, or is about to, or is being woken: who wants to use it waits by cell_wake. */
bool cell_is_asleep(const struct cell *c);

/* Somebody who wants to use a cell. */
struct cell_waker {
	struct cell_wait wait;
	const char *why; /* a constant: "exec", "files", "prompt", "preview", "port", ... */
	unsigned tries;
	/* Once: it runs (or is paused); else e says why not. c NULL: it was removed. */
	void (*fn)(struct cell_waker *w, struct cell *c, const struct err *e);
};
/* Wakes it unless it runs, and calls fn, at once or later. However many wait, it is started once.
 * One that neither sleeps nor runs is not started: an error. w stays the caller's, and fn may free
 * it. */
void cell_wake(struct cell *c, struct cell_waker *w, const char *why,
	       void (*fn)(struct cell_waker *w, struct cell *c, const struct err *e));
/* Nobody waits any more; the cell wakes anyway. */
void cell_wake_cancel(struct cell_waker *w);
/* The same for those who hear of its states themselves. */
int cell_wake_begin(struct cell *c, const char *why, struct err *f);

#endif
