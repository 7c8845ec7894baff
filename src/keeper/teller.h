/* A kernel without guests, that tells what is in a disk. Nobody but a kernel reads a log, so one is started, locked in like every other,
 * and what it writes to a pipe is read as the word of a stranger. */
#ifndef VIV_KEEPER_TELLER_H
#define VIV_KEEPER_TELLER_H

#include <sys/types.h>

#include "keeper/place.h"

struct teller {
	pid_t pid;
	int fd; /* to read from */
};

int must_check teller_start(struct place *p, const struct run_tell *what, struct teller *ret,
			    struct err *e);
/* Waits for its end; its exit status. Closes the descriptor, if it is open. */
int teller_end(struct teller *t);
/* The same before its end: it is not trusted to stop by itself. */
int teller_stop(struct teller *t);

#endif
