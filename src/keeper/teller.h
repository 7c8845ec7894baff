/* A kernel without guests, that tells what is in a disk. Nobody but a kernel reads a log, so one is
 * started, locked in like every other, and what it writes to a pipe is read as the word of a
 * stranger. */
#ifndef VIV_KEEPER_TELLER_H
#define VIV_KEEPER_TELLER_H

#include <sys/types.h>

#include "keeper/place.h"

struct teller {
	pid_t pid;
	int fd; /* to read from */
	struct err *failure; /* shared with it */
};

int must_check teller_start(struct place *p, const struct run_tell *what, struct teller *ret,
			    struct err *e);
/* Waits for its end; its exit status. Closes the descriptor, if it is open. e: why it failed, when
 * the status is not 0; may be NULL. */
int teller_end(struct teller *t, struct err *e);
/* The same before its end: it is not trusted to stop by itself. */
int teller_stop(struct teller *t);

#endif
