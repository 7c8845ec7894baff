/* A kernel without guests, that tells what is in a disk. Nobody but a kernel reads a log, so one is
 * started, locked in like every other, and what it writes to a pipe is read as the word of a
 * stranger. */
#ifndef VIV_KEEPER_DISK_KERNEL_H
#define VIV_KEEPER_DISK_KERNEL_H

#include <sys/types.h>

#include "keeper/rootfs.h"

struct disk_kernel {
	pid_t pid;
	int fd; /* to read from */
	struct err *failure; /* shared with it */
};

int must_check disk_kernel_start(struct rootfs *p, const struct run_tell *what,
				 struct disk_kernel *ret, struct err *e);
/* Waits for its end; its exit status. Closes the descriptor, if it is open. e: why it failed, when
 * the status is not 0; may be NULL. */
int disk_kernel_end(struct disk_kernel *t, struct err *e);
/* The same before its end: it is not trusted to stop by itself. */
int disk_kernel_stop(struct disk_kernel *t);

#endif
