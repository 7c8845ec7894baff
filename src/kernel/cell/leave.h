/* Processes that the host has ended and that have much to close. */
#ifndef VIV_KERNEL_CELL_LEAVE_H
#define VIV_KERNEL_CELL_LEAVE_H

#include <sys/resource.h>

struct proc;

/* proc_exit(), at once or after its files were closed in several turns of the loop: nobody learns
 * of its end before that. */
void proc_leave(struct proc *p, int wait_status, const struct rusage *usage);

#endif
