/* Asking what is in a disk. Nobody but a kernel reads a log, so one is started without guests, locked in like every
 * other, and what it writes to a pipe is read as the word of a stranger. */
#ifndef VIV_CLI_TELL_H
#define VIV_CLI_TELL_H

#include <sys/types.h>

#include "cli/cells.h"
#include "keeper/place.h"

/* The tree of a cell as it is now, or at a snapshot. DISK_PEEK is enough for what is sealed, and for a log that only grows; with
 * DISK_SHARED nobody changes it meanwhile. */
struct view {
	struct place place;
	uint32_t layer;
};

int view_open(struct view *v, const struct store *s, const struct cell_ref *ref,
	      enum disk_lock lock, struct err *e);
void view_close(struct view *v);

struct teller {
	pid_t pid;
	int fd; /* to read from */
};

int must_check teller_start(struct view *v, const struct run_tell *what, struct teller *ret,
			    struct err *e);
/* Waits for its end; its exit status. Closes the descriptor, if it is open. */
int teller_end(struct teller *t);

#endif
