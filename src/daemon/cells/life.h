/* The life of a cell: starting it through a keeper, stopping it, taking what the keeper tells,
 * starting it again by its policy, and adopting the keepers that run when vivd starts. */
#ifndef VIV_DAEMON_CELLS_LIFE_H
#define VIV_DAEMON_CELLS_LIFE_H

#include "daemon/cells/cells.h"
#include "daemon/keepers/link.h"

/* -1: an error; else it is starting. */
int cell_start(struct cell *c, struct err *f);
/* It failed when it was started: text, with what is known as its cause. */
void cell_start_error(const struct cell *c, const char *text, struct err *e);
/* Asks it to stop: SIGTERM, and after grace SIGKILL. grace 0: at once. A restart that waits is
 * off. */
int cell_stop(struct cell *c, int64_t grace_ns, struct err *f);
/* It is unhealthy: ended if its policy will start it again. */
void cell_stop_sick(struct cell *c);
/* Removes it and its files: a cell that has ended. The store's work is done by a thread; done is
 * called later with NULL or a error. On success the cell is gone before. */
void cell_remove(struct cell *c, void (*done)(void *arg, const struct err *f), void *arg);
/* Its idle time-out or the time after which it sleeps was changed: what runs in it is counted again
 * (rest.c). */
void cell_idle_reset(struct cell *c);
/* Something of ours begins (1) or ends (-1) in a cell, which is not idle meanwhile and does not
 * fall asleep. Each begin has one end, whatever becomes of the cell in between. */
void cell_hold(struct cell *c, int n);
/* Of a cell that was asked to stop or start just now: where the time for that comes from. */
int64_t cell_grace(const struct cell *c);

#endif
