/* Asking the keeper of a cell about it, without waiting for the answer in the loop: a keeper that
 * is stopped, or slow, holds up nobody but those who ask for its cell, and those not for long. */
#ifndef VIV_DAEMON_CELLS_PROBE_H
#define VIV_DAEMON_CELLS_PROBE_H

#include "daemon/state/daemon.h"
#include "keeper/client.h"

enum probe {
	PROBE_NONE, /* nobody listens */
	PROBE_BUSY, /* it takes no more connections: it does not run, but it is there */
	PROBE_ASKED, /* fn is called later; or it was asked before, and still has to answer */
};

/* h NULL: its keeper has ended meanwhile, or its cell has. */
typedef void (*probe_fn)(struct daemon *d, const char *id, struct keep_hello *h);

enum probe probe_begin(struct daemon *d, const char *id, probe_fn fn);
/* How many milliseconds are left until the keeper of this cell (NULL: each one) was given ms to
 * answer; 0: it has answered, or had them. */
uint64_t probe_left(struct daemon *d, const char *id, uint64_t ms);

#endif
