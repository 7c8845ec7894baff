/* Published ports of a cell that sleeps: vivd listens there instead of its keeper. The sockets are
 * the keeper's, handed over when the cell falls asleep and handed back to the next one when it
 * wakes. vivd accepts nothing: whoever connects waits in the host's queue, which wakes the cell and
 * goes on to its keeper with the socket, so nobody is lost and any number of connections is one
 * wake. Only after vivd was started anew, or for a cell that never ran, are they opened here. */
#ifndef VIV_DAEMON_CELLS_SLEEPPORTS_H
#define VIV_DAEMON_CELLS_SLEEPPORTS_H

#include "daemon/cells/cells.h"
#include "spec/ports.h"

/* Its keeper hands over further ones, in the order of its ports. Takes them. */
void sleep_ports_take(struct cell *c, int *fds, unsigned nfds);
/* Its state changed: a sleeping cell is listened for, one that is about to sleep or to run keeps
 * its sockets, others have none here. */
void sleep_ports_follow(struct cell *c);
/* They are for its next keeper, and the caller's from now on. How many they are. */
unsigned sleep_ports_give(struct cell *c, int fds[PORTS_MAX]);
/* It is to have other ports. */
void sleep_ports_change(struct cell *c);
void sleep_ports_free(struct cell *c);

#endif
