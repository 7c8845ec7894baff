/* Between life.c and adopt.c. */
#ifndef VIV_DAEMON_CELLS_LIFEPRIV_H
#define VIV_DAEMON_CELLS_LIFEPRIV_H

#include "daemon/cells/life.h"

/* Its keeper runs: connects, and takes its events from number since on. */
void cell_linked(struct cell *c, const struct keep_hello *h, uint64_t since);
/* The same by a descriptor that is taken; 0: events from the next on. */
void cell_linked_by(struct cell *c, const struct keep_hello *h, int fd, uint64_t since);
/* Its keeper listens at ports of the host: asks which (published.c). */
void cell_ports_ask(struct cell *c);
/* A keeper of its own is started for it. */
void cell_start_cold(struct cell *c);
/* A cell of the pool becomes it, or cell_start_cold follows. False: no such cell fits
 * (poolstart.c). */
bool cell_start_pooled(struct cell *c);
/* A process began or ended in it, with these KEEP_X_ (rest.c). */
void cell_proc(struct cell *c, uint32_t proc, uint32_t flags, bool began);
/* It has another keeper: nothing is known to run in it. */
void cell_rest_begin(struct cell *c);
/* Its state changed, or what runs in it: its times for that begin, or are off. */
void cell_rest(struct cell *c);
/* Its keeper is told that it is to sleep (sleep.c). */
void cell_sleep_send(struct cell *c);
/* It is to stop, and its keeper is told (again). */
void cell_stop_again(struct cell *c);
/* It should have a keeper and has none. */
void cell_lost(struct cell *c);
/* Its keeper has left a record of its end. */
bool cell_has_end(const struct cell *c);
/* That keeper is not gone yet, though nobody can reach it. */
bool cell_is_ending(const struct cell *c);
/* It has ended: started again, or not. */
void cell_policy(struct cell *c);
/* It has ended and has no name: its record goes after a while. */
void cell_linger(struct cell *c);
/* Does it stay when it has ended? */
bool cell_is_kept(const struct cell *c);

#endif
